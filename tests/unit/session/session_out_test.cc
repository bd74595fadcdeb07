// Sending: chunks, credit, back-pressure, order.
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
using test::SessionSettings;
using wire::FrameKind;
using wire::Reason;

constexpr std::size_t kFourChunks = 1024;  // 4 chunks of 1 KiB

Settings Small(std::uint8_t number, std::uint32_t credit) {
  Settings settings = SessionSettings(number, kFourChunks);
  settings.max_chunk = 1024;
  settings.credit = credit;
  return settings;
}

struct SmallPair : Pair {
  explicit SmallPair(std::uint32_t credit) : Pair(Small(1, credit), Small(2, credit)) {
    CarryAll(a, b);
  }
};

Message FourChunks(std::uint64_t exchange) {
  return MessageOf(MessageKind::kWeights, exchange, PayloadOf(kFourChunks));
}

TEST(SessionOut, AModelOfOneChunkTakesTwoFrames) {
  Pair pair(57000);
  pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 41, PayloadOf(57000)));
  CarryAll(pair.a, pair.b);  // now it knows that the link is fast
  pair.b.host.delivered.clear();
  Message message = MessageOf(MessageKind::kWeights, 42, PayloadOf(57000));
  message.gamma_max = 0.25f;
  message.samples = 6000;
  message.training = true;
  pair.a.session->Enqueue(Time{}, message);
  EXPECT_EQ(pair.a.host.sent.size(), 2u);
  CarryAll(pair.a, pair.b);
  ASSERT_EQ(pair.b.host.delivered.size(), 1u);
  const Message& got = pair.b.host.delivered[0];
  EXPECT_EQ(got.kind, MessageKind::kWeights);
  EXPECT_EQ(got.peer, test::KeyOf(1));
  EXPECT_EQ(got.exchange, ExchangeId{42});
  EXPECT_EQ(got.gamma_max, 0.25f);
  EXPECT_EQ(got.samples, 6000u);
  EXPECT_TRUE(got.training);
  EXPECT_FALSE(got.no_reply);
  EXPECT_FALSE(got.copy);
  EXPECT_TRUE(SameBytes(got.payload, message.payload));
  EXPECT_EQ(pair.a.counters.weights_out, 2u);
  EXPECT_EQ(pair.b.counters.weights_in, 2u);
  EXPECT_EQ(pair.a.counters.bytes_out, pair.b.counters.bytes_in);
}

TEST(SessionOut, EachFlagArrives) {
  for (bool Message::*const flag : {&Message::no_reply, &Message::copy, &Message::training}) {
    Pair pair(4);
    Message message = MessageOf(MessageKind::kWeights, 1, PayloadOf(4));
    message.*flag = true;
    pair.a.session->Enqueue(Time{}, message);
    CarryAll(pair.a, pair.b);
    ASSERT_EQ(pair.b.host.delivered.size(), 1u);
    EXPECT_TRUE(pair.b.host.delivered[0].*flag);
  }
}

TEST(SessionOut, NeverMoreChunksThanCredit) {
  SmallPair pair(3);
  pair.a.session->Enqueue(Time{}, FourChunks(1));
  EXPECT_EQ(pair.a.host.sent.size(), 1u + 3u);
  pair.a.session->Tick(1s);
  EXPECT_EQ(pair.a.host.sent.size(), 1u + 3u);
  Carry(pair.a, pair.b);  // begin
  Carry(pair.a, pair.b);  // one chunk: window of 3, reports after each
  ASSERT_TRUE(pair.b.Last(FrameKind::kCredit));
  EXPECT_EQ(pair.b.Last(FrameKind::kCredit)->index, 1u);
  Carry(pair.b, pair.a);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.b.host.delivered.size(), 1u);
}

TEST(SessionOut, CreditIsReportedInBatches) {
  SmallPair pair(8);
  pair.a.session->Enqueue(Time{}, FourChunks(9));  // the first chunk of a link is told at once
  CarryAll(pair.a, pair.b);
  pair.b.host.delivered.clear();
  const std::uint64_t before = pair.b.counters.frames_out;
  for (std::uint64_t i = 1; i <= 4; ++i) {  // 16 chunks
    pair.a.session->Enqueue(Time{}, FourChunks(i));
    CarryAll(pair.a, pair.b);
  }
  EXPECT_EQ(pair.b.host.delivered.size(), 4u);
  EXPECT_EQ(pair.b.counters.frames_out - before, 4u);
}

TEST(SessionOut, ALostReportIsMadeGoodByTheNext) {
  SmallPair pair(8);
  pair.a.session->Enqueue(Time{}, FourChunks(1));
  while (Carry(pair.a, pair.b)) {
  }
  pair.b.host.sent.clear();  // the reports of the first four
  pair.a.session->Enqueue(Time{}, FourChunks(2));
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.b.host.delivered.size(), 1u) << "one message at a time";
  pair.b.session->Tick(5s);  // with a ping
  CarryAll(pair.a, pair.b);
  pair.a.session->Enqueue(Time{}, FourChunks(3));
  pair.a.session->Enqueue(Time{}, FourChunks(4));
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.b.host.delivered.size(), 4u);
}

TEST(SessionOut, ChunksFitTheSmallerOfBothSides) {
  Settings near = SessionSettings(1, kFourChunks);
  Pair pair(near, Small(2, 8));
  CarryAll(pair.a, pair.b);
  pair.a.session->Enqueue(Time{}, FourChunks(1));
  EXPECT_EQ(pair.a.host.sent.size(), 5u);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.b.host.delivered.size(), 1u);
}

TEST(SessionOut, AFullTransportIsTriedAgain) {
  Pair pair(16);
  pair.a.host.room = 1;  // begin fits, the chunk does not
  pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 1, PayloadOf(16)));
  EXPECT_EQ(pair.a.host.sent.size(), 1u);
  EXPECT_EQ(pair.a.counters.full, 1u);
  EXPECT_EQ(pair.a.session->NextDeadline(), pair.a.settings.retry);
  Carry(pair.a, pair.b);
  pair.a.session->Tick(pair.a.settings.retry);
  EXPECT_GT(pair.a.session->NextDeadline(), 1s);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.b.host.delivered.size(), 1u);
}

TEST(SessionOut, HelloIsTriedAgainToo) {
  Pair pair(SessionSettings(1, 16), SessionSettings(2, 16));
  pair.b.host.room = 0;
  Carry(pair.a, pair.b);
  EXPECT_TRUE(pair.b.host.sent.empty());
  pair.b.host.room = 10;
  pair.b.session->Tick(5ms);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.a.session->state(), State::kReady);
}

TEST(SessionOut, AnOvertakenWeightsIsReported) {
  SmallPair pair(4);
  pair.a.session->Enqueue(Time{}, FourChunks(1));  // leaves, and takes all credit
  pair.a.session->Enqueue(Time{}, FourChunks(2));
  pair.a.session->Enqueue(Time{}, FourChunks(3));
  ASSERT_EQ(pair.a.host.nacked.size(), 1u);
  EXPECT_EQ(pair.a.host.nacked[0].exchange, ExchangeId{2});
  EXPECT_EQ(pair.a.host.nacked[0].reason, Reason::kReplaced);
  EXPECT_EQ(pair.a.counters.replaced, 1u);
  CarryAll(pair.a, pair.b);
  ASSERT_EQ(pair.b.host.delivered.size(), 2u);
  EXPECT_EQ(pair.b.host.delivered[1].exchange, ExchangeId{3});
}

TEST(SessionOut, DeltasWithoutRoomAreCounted) {
  Settings near = Small(1, 4);
  near.deltas_queue = 1;
  Pair pair(near, Small(2, 4));
  CarryAll(pair.a, pair.b);
  pair.a.session->Enqueue(Time{}, FourChunks(1));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kDeltas, i, PayloadOf(kFourChunks)));
  }
  EXPECT_EQ(pair.a.counters.deltas_refused, 2u);
}

TEST(SessionOut, ANackStopsTheTransfer) {
  SmallPair pair(2);
  pair.b.host.budget = 0;
  pair.a.session->Enqueue(Time{}, FourChunks(1));
  CarryAll(pair.a, pair.b);
  ASSERT_EQ(pair.a.host.nacked.size(), 1u);
  EXPECT_EQ(pair.a.host.nacked[0].reason, Reason::kBusy);
  EXPECT_EQ(pair.a.counters.weights_out, 0u);
  pair.b.host.budget = 1 << 20;
  pair.a.session->Enqueue(Time{}, FourChunks(2));
  CarryAll(pair.a, pair.b);
  ASSERT_EQ(pair.b.host.delivered.size(), 1u);
  EXPECT_EQ(pair.b.host.delivered[0].exchange, ExchangeId{2});
}

TEST(SessionOut, BusyAfterDeliveryReachesTheSender) {
  Pair pair(16);
  pair.b.session->Nack(Time{}, MessageKind::kWeights, ExchangeId{5}, Reason::kBusy);
  CarryAll(pair.a, pair.b);
  ASSERT_EQ(pair.a.host.nacked.size(), 1u);
  EXPECT_EQ(pair.a.host.nacked[0].exchange, ExchangeId{5});
  EXPECT_EQ(pair.a.host.nacked[0].kind, MessageKind::kWeights);
}

TEST(SessionOut, AnswersThatWaitAreBounded) {
  Pair pair(16);
  pair.b.host.room = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    pair.b.session->Nack(Time{}, MessageKind::kWeights, ExchangeId{i}, Reason::kBusy);
  }
  EXPECT_EQ(pair.b.counters.nacks_lost, 84u);
  pair.b.host.room = 1000;
  pair.b.session->Tick(1ms);
  EXPECT_EQ(pair.b.host.sent.size(), 16u);
}

TEST(SessionOut, APeerThatTakesNothingIsGivenUp) {
  SmallPair pair(2);
  pair.a.session->Enqueue(Time{}, FourChunks(1));
  wire::Envelope ping;
  ping.kind = FrameKind::kPing;
  for (Time now = 10s; now < 60s; now += 10s) {
    pair.a.now = now;
    pair.a.Frame(test::FrameOf(ping, {}));
    pair.a.session->Tick(now);
  }
  pair.a.session->Tick(60s - 1ns);
  EXPECT_EQ(pair.a.session->state(), State::kReady);
  pair.a.session->Tick(60s);
  EXPECT_EQ(pair.a.session->state(), State::kClosed);
  EXPECT_EQ(pair.a.session->TakeUnsent().messages.size(), 1u);
}

TEST(SessionOut, ThePayloadIsSharedNotCopied) {
  SmallPair pair(1);
  const SharedBuffer payload = PayloadOf(kFourChunks);
  pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 1, payload));
  EXPECT_EQ(payload.use_count(), 2);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(payload.use_count(), 1);
}

}  // namespace
}  // namespace covey::session
