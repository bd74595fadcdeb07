// A message goes on over another link where the first one broke.
#include <gtest/gtest.h>

#include "covey/session/session.h"
#include "support/session_fixture.h"

namespace covey::session {
namespace {

using namespace std::chrono_literals;
using consensus::Message;
using consensus::MessageKind;
using test::Carry;
using test::CarryAll;
using test::MessageOf;
using test::Pair;
using test::PayloadOf;
using test::SameBytes;
using test::Side;
using wire::FrameKind;
using wire::Reason;

constexpr std::size_t kSevenChunks = 1600;  // 6400 bytes: 7 chunks of 1 KiB

Settings SmallChunks(std::uint8_t number) {
  Settings settings = test::SessionSettings(number, kSevenChunks);
  settings.max_chunk = 1024;
  return settings;
}

struct Broken {
  // The link breaks after BEGIN and `chunks` chunks have arrived.
  explicit Broken(std::size_t chunks)
      : first(SmallChunks(1), SmallChunks(2)), second(SmallChunks(1), SmallChunks(2)) {
    CarryAll(first.a, first.b);
    CarryAll(second.a, second.b);
    first.b.host.keeps_parts = true;
    first.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 7, payload));
    for (std::size_t i = 0; i <= chunks; ++i) Carry(first.a, first.b);
    first.a.session->Close("lost");
    first.b.session->Close("lost");
    second.b.host.held = std::exchange(first.b.host.held, Held());
    second.b.host.reserved = second.b.host.held.part ? kSevenChunks * sizeof(float) : 0;
    unsent = first.a.session->TakeUnsent();
  }
  void GoOn() {
    second.a.session->Resume(Time{}, unsent.messages.at(0));
    CarryAll(second.a, second.b);
  }

  SharedBuffer payload = PayloadOf(kSevenChunks);
  Pair first;
  Pair second;
  Outgoing::Unsent unsent;
};

TEST(Resume, GoesOnAfterTheChunksThatArrived) {
  Broken broken(3);
  ASSERT_TRUE(broken.unsent.begun);
  ASSERT_TRUE(broken.second.b.host.held.part);
  EXPECT_EQ(broken.second.b.host.held.part->received(), 3072u);
  const std::uint64_t before = broken.second.a.counters.bytes_out;
  broken.GoOn();
  ASSERT_EQ(broken.second.b.host.delivered.size(), 1u);
  EXPECT_TRUE(SameBytes(broken.second.b.host.delivered[0].payload, broken.payload));
  EXPECT_LT(broken.second.a.counters.bytes_out - before, 3328u + 6 * 64u + 100u);
  EXPECT_EQ(broken.second.a.counters.resumed_out, 1u);
  EXPECT_EQ(broken.second.b.counters.resumed_in, 1u);
  EXPECT_EQ(broken.second.b.host.reserved, 0u);
  EXPECT_EQ(broken.second.b.AllRejected(), 0u);
}

TEST(Resume, NoChunkLeavesBeforeTheAnswer) {
  Broken broken(3);
  broken.second.a.session->Resume(Time{}, broken.unsent.messages.at(0));
  broken.second.a.session->Tick(1s);
  ASSERT_EQ(broken.second.a.host.sent.size(), 1u);
  const Result<wire::Envelope> begin = wire::Decode(broken.second.a.host.sent[0]);
  EXPECT_EQ(begin->kind, FrameKind::kBegin);
  EXPECT_EQ(begin->flags & wire::kFlagResume, wire::kFlagResume);
}

TEST(Resume, ChunksOfAnotherLengthGoOnToo) {
  Broken broken(3);
  broken.second.a.settings.max_chunk = 2048;
  broken.second.b.settings.max_chunk = 2048;
  Pair longer(broken.second.a.settings, broken.second.b.settings);
  CarryAll(longer.a, longer.b);
  longer.b.host.held = std::exchange(broken.second.b.host.held, Held());
  longer.b.host.reserved = kSevenChunks * sizeof(float);
  longer.a.session->Resume(Time{}, broken.unsent.messages.at(0));
  CarryAll(longer.a, longer.b);
  ASSERT_EQ(longer.b.host.delivered.size(), 1u);  // from 2048, the last whole one
  EXPECT_TRUE(SameBytes(longer.b.host.delivered[0].payload, broken.payload));
  EXPECT_EQ(longer.b.counters.resumed_in, 1u);
}

TEST(Resume, BeginsAnewWhereNothingIsHeld) {
  Broken broken(0);
  EXPECT_FALSE(broken.second.b.host.held.part);
  broken.GoOn();
  ASSERT_EQ(broken.second.b.host.delivered.size(), 1u);
  EXPECT_TRUE(SameBytes(broken.second.b.host.delivered[0].payload, broken.payload));
  EXPECT_EQ(broken.second.a.counters.resumed_out, 0u);
}

TEST(Resume, WhatArrivedAsAWholeIsNotSentAgain) {
  Broken broken(7);
  EXPECT_EQ(broken.first.b.host.delivered.size(), 1u);
  ASSERT_EQ(broken.unsent.messages.size(), 1u) << "the last report was lost with the link";
  broken.second.b.host.held.whole = true;
  const std::uint64_t before = broken.second.a.counters.bytes_out;
  broken.GoOn();
  EXPECT_TRUE(broken.second.b.host.delivered.empty());
  EXPECT_LT(broken.second.a.counters.bytes_out - before, 1024u) << "the length of a chunk";
  EXPECT_EQ(broken.second.b.AllRejected(), 0u);
  EXPECT_EQ(broken.second.b.host.reserved, 0u);
  // And the link is free for the next.
  broken.second.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 8, broken.payload));
  CarryAll(broken.second.a, broken.second.b);
  EXPECT_EQ(broken.second.b.host.delivered.size(), 1u);
}

TEST(Resume, APartOfAnotherSizeIsDropped) {
  Broken broken(3);
  wire::Begin begin = broken.second.b.host.held.part->begin();
  begin.encoding = tensor::Encoding::kFloat16;
  Incoming other;
  other.Start(Time{}, broken.second.b.host.held.part->envelope(), begin);
  broken.second.b.host.held.part = std::move(other);
  broken.GoOn();
  ASSERT_EQ(broken.second.b.host.delivered.size(), 1u);
  EXPECT_TRUE(SameBytes(broken.second.b.host.delivered[0].payload, broken.payload));
  EXPECT_EQ(broken.second.b.host.reserved, 0u);
}

TEST(Resume, WithoutRoomItIsRefusedAsAnyMessage) {
  Broken broken(0);
  broken.second.b.host.budget = 0;
  broken.GoOn();
  EXPECT_EQ(broken.second.b.Rejected(Reason::kBusy), 1u);
  ASSERT_EQ(broken.second.a.host.nacked.size(), 1u);
  broken.second.b.host.budget = 1 << 20;
  broken.second.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 8, broken.payload));
  CarryAll(broken.second.a, broken.second.b);
  EXPECT_EQ(broken.second.b.host.delivered.size(), 1u) << "the link is not stuck";
}

TEST(Resume, AnAnswerThatIsLostIsGivenAgain) {
  Broken broken(3);
  broken.second.a.session->Resume(Time{}, broken.unsent.messages.at(0));
  while (Carry(broken.second.a, broken.second.b)) {
  }
  broken.second.b.host.sent.clear();
  broken.second.b.session->Tick(5s);  // with a ping
  CarryAll(broken.second.a, broken.second.b);
  EXPECT_EQ(broken.second.b.host.delivered.size(), 1u);
}

TEST(Resume, AnAnswerBeyondTheMessageClosesTheLink) {
  Broken broken(3);
  broken.second.a.session->Resume(Time{}, broken.unsent.messages.at(0));
  wire::Envelope answer;
  answer.kind = FrameKind::kCredit;
  answer.fleet = test::DigestOf(100).Prefix();
  answer.model = test::DigestOf(200).Prefix();
  answer.session = SessionId{1002};
  answer.flags = wire::kFlagResume;
  answer.exchange = ExchangeId{8};
  answer.count = 8;
  broken.second.a.Frame(test::FrameOf(answer, {}));
  EXPECT_EQ(broken.second.a.session->state(), State::kReady) << "of another message: no matter";
  answer.exchange = ExchangeId{7};
  broken.second.a.Frame(test::FrameOf(answer, {}));
  EXPECT_EQ(broken.second.a.session->state(), State::kClosed);
  EXPECT_EQ(broken.second.a.Rejected(Reason::kChunks), 1u);
}

TEST(Resume, AnAnswerThatNobodyAskedForSaysNothing) {
  Pair pair(SmallChunks(1), SmallChunks(2));
  CarryAll(pair.a, pair.b);
  wire::Envelope answer;
  answer.kind = FrameKind::kCredit;
  answer.fleet = test::DigestOf(100).Prefix();
  answer.model = test::DigestOf(200).Prefix();
  answer.session = SessionId{1002};
  answer.flags = wire::kFlagResume;
  answer.exchange = ExchangeId{7};
  answer.count = 3;
  pair.a.Frame(test::FrameOf(answer, {}));
  EXPECT_EQ(pair.a.session->state(), State::kReady);
  EXPECT_EQ(pair.a.AllRejected(), 0u);
}

TEST(Resume, AnotherLinkTakesThePartOver) {
  Pair pair(SmallChunks(1), SmallChunks(2));
  CarryAll(pair.a, pair.b);
  pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 7, PayloadOf(kSevenChunks)));
  Carry(pair.a, pair.b);
  Carry(pair.a, pair.b);
  EXPECT_FALSE(pair.b.session->HandOver(MessageKind::kDeltas, ExchangeId{7}));
  EXPECT_FALSE(pair.b.session->HandOver(MessageKind::kWeights, ExchangeId{8}));
  const std::optional<Incoming> part =
      pair.b.session->HandOver(MessageKind::kWeights, ExchangeId{7});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->received(), 1024u);
  CarryAll(pair.a, pair.b);  // the rest is skipped
  EXPECT_TRUE(pair.b.host.delivered.empty());
  EXPECT_EQ(pair.b.AllRejected(), 0u);
}

TEST(Resume, ATransferThatGoesOnMayNotDripEither) {
  Broken broken(1);
  Side& b = broken.second.b;
  b.settings.slowest = ByteCount{1000};
  broken.second.a.session->Resume(Time{}, broken.unsent.messages.at(0));
  Carry(broken.second.a, b);
  Carry(b, broken.second.a);
  b.now = 50s;
  Carry(broken.second.a, b);  // a second chunk
  b.session->Tick(61s);
  EXPECT_GT(b.host.reserved, 0u);
  b.session->Tick(62s);
  EXPECT_EQ(b.host.reserved, 0u) << "what an earlier link brought is no progress";
}

}  // namespace
}  // namespace covey::session
