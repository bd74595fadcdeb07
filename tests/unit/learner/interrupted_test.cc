#include "covey/learner/interrupted.h"

#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace covey::learner {
namespace {

using namespace std::chrono_literals;
using consensus::Message;
using consensus::MessageKind;
using session::Incoming;
using test::KeyOf;

constexpr SessionId kLife{1};

Incoming PartOf(std::uint64_t exchange, std::uint64_t total = 2400) {
  wire::Envelope envelope;
  envelope.exchange = ExchangeId{exchange};
  envelope.count = 3;
  wire::Begin begin;
  begin.kind = MessageKind::kWeights;
  begin.total = total;
  begin.chunk = 1024;
  Incoming part;
  part.Start(Time{}, envelope, begin);
  return part;
}

Message OwnMessage(std::uint8_t peer, std::uint64_t exchange, std::size_t floats = 4) {
  Message message = test::MessageOf(MessageKind::kWeights, exchange, test::PayloadOf(floats));
  message.peer = KeyOf(peer);
  return message;
}

TEST(KeptParts, AreFoundByPeerLifeKindAndExchange) {
  KeptParts parts(60s);
  EXPECT_EQ(parts.Keep(0s, KeyOf(1), kLife, PartOf(7)), 0u);
  EXPECT_FALSE(parts.Take(KeyOf(2), kLife, MessageKind::kWeights, ExchangeId{7}));
  EXPECT_FALSE(parts.Take(KeyOf(1), SessionId{2}, MessageKind::kWeights, ExchangeId{7}));
  EXPECT_FALSE(parts.Take(KeyOf(1), kLife, MessageKind::kDeltas, ExchangeId{7}));
  EXPECT_FALSE(parts.Take(KeyOf(1), kLife, MessageKind::kWeights, ExchangeId{8}));
  EXPECT_TRUE(parts.Take(KeyOf(1), kLife, MessageKind::kWeights, ExchangeId{7}));
  EXPECT_FALSE(parts.Take(KeyOf(1), kLife, MessageKind::kWeights, ExchangeId{7}));
}

TEST(KeptParts, OneOfEachPeerAndTheOldestGoesFirst) {
  KeptParts parts(60s);
  parts.Keep(1s, KeyOf(2), kLife, PartOf(1, 100));
  parts.Keep(2s, KeyOf(1), kLife, PartOf(2, 200));
  EXPECT_EQ(parts.Keep(3s, KeyOf(2), kLife, PartOf(3, 300)), 100u);
  EXPECT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts.DropOldest(), 200u);
  EXPECT_EQ(parts.DropOldest(), 300u);
  EXPECT_EQ(parts.DropOldest(), 0u);
}

TEST(KeptParts, AgeEndsThem) {
  KeptParts parts(60s);
  EXPECT_EQ(parts.due(), kNever);
  parts.Keep(1s, KeyOf(2), kLife, PartOf(1, 100));
  parts.Keep(2s, KeyOf(1), kLife, PartOf(2, 200));
  EXPECT_EQ(parts.due(), 61s);
  EXPECT_EQ(parts.Expire(61s - 1ns), 0u);
  EXPECT_EQ(parts.Expire(61s), 100u);
  EXPECT_EQ(parts.Expire(62s), 200u);
  EXPECT_EQ(parts.size(), 0u);
}

KeptFor For(std::vector<Message> messages) { return KeptFor{std::move(messages), true, kLife}; }

TEST(KeptMessages, AreTakenByTheirPeerInOrder) {
  KeptMessages kept(60s, 1000);
  EXPECT_TRUE(kept.Keep(0s, KeyOf(1), For({OwnMessage(1, 7), OwnMessage(1, 8)})).empty());
  EXPECT_TRUE(kept.Take(KeyOf(2)).messages.empty());
  const KeptFor taken = kept.Take(KeyOf(1));
  ASSERT_EQ(taken.messages.size(), 2u);
  EXPECT_EQ(taken.messages[0].exchange, ExchangeId{7});
  EXPECT_TRUE(taken.begun);
  EXPECT_EQ(taken.life, kLife);
  EXPECT_EQ(kept.size(), 0u);
  EXPECT_TRUE(kept.Keep(0s, KeyOf(1), For({})).empty());
  EXPECT_EQ(kept.size(), 0u);
}

TEST(KeptMessages, NewerOnesTakeThePlaceAndBytesAreBounded) {
  KeptMessages kept(60s, 40);  // ten floats
  EXPECT_TRUE(kept.Keep(0s, KeyOf(1), For({OwnMessage(1, 1, 4)})).empty());
  EXPECT_TRUE(kept.Keep(0s, KeyOf(2), For({OwnMessage(2, 2, 6)})).empty());
  std::vector<Message> lost = kept.Keep(0s, KeyOf(3), For({OwnMessage(3, 3, 1)}));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].exchange, ExchangeId{3});
  lost = kept.Keep(0s, KeyOf(1), For({OwnMessage(1, 4, 4), OwnMessage(1, 5, 1)}));
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(lost[0].exchange, ExchangeId{1});
  EXPECT_EQ(lost[1].exchange, ExchangeId{5});
  lost = kept.Keep(0s, KeyOf(1), For({OwnMessage(1, 6, 5)}));
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(kept.size(), 1u);
}

TEST(KeptMessages, AgeEndsThem) {
  KeptMessages kept(60s, 1000);
  EXPECT_EQ(kept.due(), kNever);
  kept.Keep(1s, KeyOf(2), For({OwnMessage(2, 1), OwnMessage(2, 2)}));
  kept.Keep(2s, KeyOf(1), For({OwnMessage(1, 3)}));
  EXPECT_EQ(kept.due(), 61s);
  EXPECT_TRUE(kept.Expire(61s - 1ns).empty());
  EXPECT_EQ(kept.Expire(61s).size(), 2u);
  EXPECT_EQ(kept.due(), 62s);
}

TEST(KeptMessages, MoreMayBeAddedBehindThem) {
  KeptMessages kept(60s, 40);
  EXPECT_TRUE(kept.Add(1s, kLife, OwnMessage(1, 1, 4), 2));
  EXPECT_TRUE(kept.Add(2s, kLife, OwnMessage(1, 2, 4), 2));
  EXPECT_FALSE(kept.Add(2s, kLife, OwnMessage(1, 3, 1), 2)) << "two are enough";
  EXPECT_FALSE(kept.Add(2s, SessionId{2}, OwnMessage(1, 3, 1), 3)) << "another life";
  EXPECT_FALSE(kept.Add(2s, kLife, OwnMessage(2, 3, 3), 2)) << "no room";
  EXPECT_EQ(kept.due(), 61s);
  const KeptFor taken = kept.Take(KeyOf(1));
  EXPECT_EQ(taken.messages.size(), 2u);
  EXPECT_FALSE(taken.begun);
}

TEST(LastWhole, RemembersOneOfEachPeerAndSoManyPeers) {
  LastWhole whole(2);
  const auto is = [&whole](std::uint8_t peer, std::uint64_t exchange) {
    return whole.Is(KeyOf(peer), kLife, MessageKind::kWeights, ExchangeId{exchange});
  };
  whole.Note(KeyOf(1), kLife, MessageKind::kWeights, ExchangeId{7});
  EXPECT_TRUE(is(1, 7));
  EXPECT_FALSE(is(2, 7));
  EXPECT_EQ(whole.Life(KeyOf(1)), kLife);
  EXPECT_EQ(whole.Life(KeyOf(2)), std::nullopt);
  EXPECT_FALSE(whole.Is(KeyOf(1), SessionId{2}, MessageKind::kWeights, ExchangeId{7}));
  EXPECT_FALSE(whole.Is(KeyOf(1), kLife, MessageKind::kDeltas, ExchangeId{7}));
  whole.Note(KeyOf(1), kLife, MessageKind::kWeights, ExchangeId{8});
  EXPECT_FALSE(is(1, 7));
  whole.Note(KeyOf(2), kLife, MessageKind::kWeights, ExchangeId{9});
  whole.Note(KeyOf(3), kLife, MessageKind::kWeights, ExchangeId{10});
  EXPECT_EQ(is(1, 8) + is(2, 9) + is(3, 10), 2);
  EXPECT_TRUE(is(3, 10));
}

}  // namespace
}  // namespace covey::learner
