#include "covey/session/outgoing.h"

#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace covey::session {
namespace {

using consensus::Message;
using consensus::MessageKind;
using test::MessageOf;
using test::PayloadOf;

Message Weights(std::uint64_t exchange, std::size_t floats = 4) {
  return MessageOf(MessageKind::kWeights, exchange, PayloadOf(floats));
}
Message Deltas(std::uint64_t exchange) {
  return MessageOf(MessageKind::kDeltas, exchange, PayloadOf(4));
}

TEST(ChunkCount, RoundsUp) {
  EXPECT_EQ(ChunkCount(1, 1024), 1u);
  EXPECT_EQ(ChunkCount(1024, 1024), 1u);
  EXPECT_EQ(ChunkCount(1025, 1024), 2u);
  EXPECT_EQ(ChunkCount(UINT64_MAX, 1024), 0u);
  EXPECT_EQ(ChunkCount(std::uint64_t{UINT32_MAX} * 1024, 1024), UINT32_MAX);
  EXPECT_EQ(ChunkCount(std::uint64_t{UINT32_MAX} * 1024 + 1, 1024), 0u);
}

TEST(Outgoing, ANewerWeightsTakesThePlaceOfAnUnsentOne) {
  Outgoing queue(4);
  EXPECT_FALSE(queue.Push(Weights(1)));
  EXPECT_FALSE(queue.Push(Deltas(9)));
  const std::optional<Message> replaced = queue.Push(Weights(2));
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->exchange, ExchangeId{1});
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.front().exchange, ExchangeId{2});
}

TEST(Outgoing, OneThatHasBegunStays) {
  Outgoing queue(4);
  queue.Push(Weights(1));
  queue.Begin(1024);
  EXPECT_FALSE(queue.Push(Weights(2)));
  EXPECT_TRUE(queue.Push(Weights(3)));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.front().exchange, ExchangeId{1});
}

TEST(Outgoing, ACopyAndAnExchangeDontReplaceEachOther) {
  Outgoing queue(4);
  Message copy = Weights(1);
  copy.copy = true;
  queue.Push(copy);
  EXPECT_FALSE(queue.Push(Weights(2)));
  copy.exchange = ExchangeId{3};
  EXPECT_TRUE(queue.Push(copy));
  EXPECT_EQ(queue.size(), 2u);
}

TEST(Outgoing, ADoubledMessageStandsBesideItselfAndIsReplacedAsAWhole) {
  Outgoing queue(4);
  queue.Push(Weights(1));
  EXPECT_FALSE(queue.Push(Weights(1)));
  EXPECT_EQ(queue.size(), 2u);
  const std::optional<Message> replaced = queue.Push(Weights(2));
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->exchange, ExchangeId{1});
  EXPECT_EQ(queue.size(), 1u);
}

TEST(Outgoing, DeltasBeyondTheLimitComeBack) {
  Outgoing queue(2);
  EXPECT_FALSE(queue.Push(Deltas(1)));
  EXPECT_FALSE(queue.Push(Deltas(2)));
  ASSERT_TRUE(queue.Push(Deltas(3)));
  queue.Begin(1024);
  EXPECT_TRUE(queue.Advance());
  EXPECT_FALSE(queue.Push(Deltas(4)));
  EXPECT_TRUE(queue.Cancel(MessageKind::kDeltas, ExchangeId{2}));
  EXPECT_FALSE(queue.Push(Deltas(5)));
  EXPECT_TRUE(queue.Push(Deltas(6)));
}

TEST(Outgoing, ChunksCoverThePayload) {
  Outgoing queue(1);
  queue.Push(Weights(1, 600));  // 2400 bytes
  queue.Begin(1024);
  EXPECT_EQ(queue.count(), 3u);
  std::vector<std::byte> all;
  const SharedBuffer payload = queue.front().payload;
  for (bool done = false; !done; done = queue.Advance()) {
    const ByteView chunk = queue.chunk();
    EXPECT_LE(chunk.size(), 1024u);
    all.insert(all.end(), chunk.begin(), chunk.end());
  }
  EXPECT_EQ(all, std::vector<std::byte>(payload->view().begin(), payload->view().end()));
  EXPECT_TRUE(queue.all_left());
  EXPECT_EQ(queue.front().exchange, ExchangeId{1}) << "until its receiver has all of it";
  queue.Confirm();
  EXPECT_TRUE(queue.empty());
}

TEST(Outgoing, AMessageOfOneChunkIsGoneWithIt) {
  Outgoing queue(1);
  queue.Push(Deltas(1));
  queue.Begin(1024);
  EXPECT_TRUE(queue.Advance());
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.Push(Deltas(2))) << "its place is free";
}

TEST(Outgoing, AnInterruptedMessageComesFirstAndIsNotReplaced) {
  Outgoing queue(4);
  queue.Push(Weights(1));
  queue.Push(Weights(2, 600));
  queue.PushInterrupted(Weights(3, 600));
  EXPECT_TRUE(queue.front_interrupted());
  EXPECT_EQ(queue.front().exchange, ExchangeId{3});
  EXPECT_TRUE(queue.Push(Weights(4))) << "takes the place of 2";
  EXPECT_EQ(queue.size(), 2u);
  queue.Begin(1024);
  queue.SkipTo(2);
  EXPECT_EQ(queue.next(), 2u);
  EXPECT_TRUE(queue.Advance());
  EXPECT_TRUE(queue.TakeAll().begun);
}

TEST(Outgoing, OneThatHasBegunStaysAheadOfAnInterruptedOne) {
  Outgoing queue(4);
  queue.Push(Weights(1, 600));
  queue.Begin(1024);
  queue.PushInterrupted(Weights(3, 600));
  EXPECT_EQ(queue.front().exchange, ExchangeId{1});
  EXPECT_FALSE(queue.front_interrupted());
}

TEST(Outgoing, SaysWhetherTheFirstOfWhatIsTakenHasBegunInSeveralChunks) {
  Outgoing queue(4);
  EXPECT_FALSE(queue.TakeAll().begun);
  queue.Push(Weights(1, 600));
  EXPECT_FALSE(queue.TakeAll().begun);
  queue.Push(Weights(1, 600));
  queue.Begin(2400);
  EXPECT_FALSE(queue.TakeAll().begun) << "one chunk leaves whole or not at all";
}

TEST(Outgoing, CancelOfTheMessageUnderWayStartsTheNextFromItsBegin) {
  Outgoing queue(1);
  queue.Push(Weights(1, 600));
  queue.Push(Deltas(1));
  queue.Begin(1024);
  queue.Advance();
  EXPECT_FALSE(queue.Cancel(MessageKind::kWeights, ExchangeId{2}));
  EXPECT_TRUE(queue.Cancel(MessageKind::kWeights, ExchangeId{1}));
  EXPECT_FALSE(queue.begun());
  EXPECT_EQ(queue.front().kind, MessageKind::kDeltas);
}

TEST(Outgoing, TakeAllHandsOutWhatHasNotLeftAsAWhole) {
  Outgoing queue(1);
  queue.Push(Weights(1, 600));
  queue.Push(Deltas(2));
  queue.Begin(1024);
  queue.Advance();
  EXPECT_EQ(queue.TakeAll().messages.size(), 2u);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.Push(Deltas(3)));
}

}  // namespace
}  // namespace covey::session
