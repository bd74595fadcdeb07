#include "covey/session/incoming.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/session_fixture.h"

namespace covey::session {
namespace {

using wire::Reason;

struct Transfer {
  Transfer() {
    begin.total = 2400;
    begin.chunk = 1024;
    envelope.exchange = ExchangeId{7};
    envelope.flags = wire::kFlagTraining;
    envelope.count = 3;
    incoming.Start(Time{}, envelope, begin);
  }
  ByteView Chunk(std::size_t index) const {
    return payload->view().subspan(index * 1024, index < 2 ? 1024 : 352);
  }
  std::optional<Reason> Take(std::uint32_t index, ByteView body) {
    wire::Envelope chunk = envelope;
    chunk.index = index;
    return incoming.Take(Time{1}, chunk, body);
  }

  SharedBuffer payload = test::PayloadOf(600);
  wire::Begin begin;
  wire::Envelope envelope;
  Incoming incoming;
};

TEST(Incoming, PutsTheChunksTogetherAligned) {
  Transfer transfer;
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(transfer.incoming.complete());
    EXPECT_EQ(transfer.Take(i, transfer.Chunk(i)), std::nullopt);
  }
  ASSERT_TRUE(transfer.incoming.complete());
  const AlignedBuffer buffer = transfer.incoming.Finish();
  EXPECT_FALSE(transfer.incoming.active());
  ASSERT_EQ(buffer.size(), 2400u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
  EXPECT_EQ(std::memcmp(buffer.data(), transfer.payload->data(), 2400), 0);
}

TEST(Incoming, RefusesAnotherIndexLengthOrMessage) {
  Transfer transfer;
  EXPECT_EQ(transfer.Take(1, transfer.Chunk(1)), Reason::kOrder);
  EXPECT_EQ(transfer.Take(0, transfer.Chunk(0).first(1023)), Reason::kOrder);
  EXPECT_EQ(transfer.Take(0, transfer.payload->view().first(1025)), Reason::kOrder);
  wire::Envelope other = transfer.envelope;
  other.exchange = ExchangeId{8};
  EXPECT_EQ(transfer.incoming.Take(Time{}, other, transfer.Chunk(0)), Reason::kOrder);
  other = transfer.envelope;
  other.count = 4;
  EXPECT_EQ(transfer.incoming.Take(Time{}, other, transfer.Chunk(0)), Reason::kOrder);
  other = transfer.envelope;
  other.flags = 0;
  EXPECT_EQ(transfer.incoming.Take(Time{}, other, transfer.Chunk(0)), Reason::kOrder);
  EXPECT_EQ(transfer.incoming.received(), 0u);
  EXPECT_EQ(transfer.Take(0, transfer.Chunk(0)), std::nullopt);
  EXPECT_EQ(transfer.Take(0, transfer.Chunk(0)), Reason::kOrder);  // repeated
}

TEST(Incoming, ProgressIsTheTimeOfTheLastChunk) {
  Transfer transfer;
  EXPECT_EQ(transfer.incoming.progress(), Time{});
  transfer.Take(0, transfer.Chunk(0));
  EXPECT_EQ(transfer.incoming.progress(), Time{1});
  EXPECT_EQ(transfer.incoming.started(), Time{});
}

TEST(Incoming, AbortMakesRoomForTheNext) {
  Transfer transfer;
  transfer.Take(0, transfer.Chunk(0));
  transfer.incoming.Abort();
  EXPECT_FALSE(transfer.incoming.active());
  transfer.incoming.Start(Time{}, transfer.envelope, transfer.begin);
  EXPECT_EQ(transfer.Take(0, transfer.Chunk(0)), std::nullopt);
}

}  // namespace
}  // namespace covey::session
