// Exchanges: who gets what, what is applied, what is dropped, what is in flight.
#include "unit/consensus/node_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace covey::consensus {
namespace {

TEST_F(NodeTest, ARoundTrainsNThenSendsMThenDrains) {
  Make({.batches = 7, .sends = 2});
  Post(PeerUp{Key(1)});
  const auto first = Post(Started{});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(std::get<Train>(first[0]).batches, 7u);
  const auto after = Post(Trained{7});
  ASSERT_EQ(after.size(), 3u);
  EXPECT_EQ(std::get<SendWeights>(after[0]).peer, Key(1));
  EXPECT_EQ(std::get<SendWeights>(after[0]).exchange.value, 100u);
  EXPECT_FLOAT_EQ(std::get<SendWeights>(after[0]).gamma_max, 1.0f / 3);
  EXPECT_EQ(std::get<SendWeights>(after[1]).exchange.value, 101u);
  EXPECT_TRUE(std::holds_alternative<Drain>(after[2]));
  EXPECT_EQ(std::get<Train>(Post(Drained{}).back()).batches, 7u);
}

TEST_F(NodeTest, WithoutPeersItTrainsAlone) {
  Make({.batches = 1, .sends = 3});
  Post(Started{});
  EXPECT_TRUE(Of<SendWeights>(Round(1)).empty());
  EXPECT_EQ(node_->counters().without_peer, 3u);
}

TEST_F(NodeTest, WeightsMoveBothSidesByTheSameNumbers) {
  Make({.sends = 1});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  x_[0] = 1, x_[1] = 2, x_[2] = -3;
  const auto actions = Receive(Make(MessageKind::kWeights, 1, 9, {3, 2, 1}));
  ASSERT_EQ(Of<SendDeltas>(actions).size(), 1u);
  EXPECT_EQ(Of<SendDeltas>(actions)[0].exchange.value, 9u);
  EXPECT_EQ(Reply(), (std::vector<float>{1, 0, 2}));
  EXPECT_EQ(X(), (std::vector<float>{2, 2, -1}));
}

TEST_F(NodeTest, GammaFallsWithTheAgeOfAnswersWhereThatIsWanted) {
  for (const bool by_age : {false, true}) {
    Make({.batches = 1, .sends = 1, .gamma_by_age = by_age});
    Post(PeerUp{Key(1)});
    Post(Started{});
    const SendWeights first = Of<SendWeights>(Round(1)).at(0);
    EXPECT_FLOAT_EQ(first.gamma_max, 0.5f) << "no reply has been timed";
    now_ += 2 * kStep;
    Post(Trained{1});
    now_ += kStep;
    Receive(Make(MessageKind::kDeltas, 1, first.exchange.value, {0, 0, 0}));
    Post(Drained{});
    // The phases took 1 and 2 steps, (7 + 2) / 8 on average; the reply 3.
    const double age = 3 / 1.125;
    const float wanted = by_age ? static_cast<float>(0.5 / std::sqrt(1 + age)) : 0.5f;
    EXPECT_NEAR(Of<SendWeights>(Round(1)).at(0).gamma_max, wanted, 0.02f);
  }
}

TEST_F(NodeTest, GammaIsTheSmallerOfBothSides) {
  Make({.gamma = 0.5f});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  Message message = Make(MessageKind::kWeights, 1, 9, {4, 4, 4});
  message.gamma_max = 0.25f;
  Receive(message);
  EXPECT_EQ(X(), (std::vector<float>{1, 1, 1}));
  message.exchange.value = 10;
  message.gamma_max = 1;
  Receive(message);
  EXPECT_EQ(X(), (std::vector<float>{2.5f, 2.5f, 2.5f}));
}

// The peer, whose model is (4, 4, 4), does the same: both end at (2, 2, 2).
TEST_F(NodeTest, ExchangesOfTwoThatCrossMeetInTheMiddle) {
  for (const bool alone : {true, false}) {
    Make({.batches = 1, .sends = 1});
    Post(PeerUp{Key(1)});
    Post(Started{});
    const std::uint64_t own = Of<SendWeights>(Post(Trained{1})).at(0).exchange.value;
    if (!alone) Post(PeerUp{Key(2)});
    std::fill(x_.view().begin(), x_.view().end(), 0.0f);
    Receive(Make(MessageKind::kWeights, 1, 9, {4, 4, 4}));
    EXPECT_EQ(X(), std::vector<float>(3, alone ? 1.0f : 2.0f));
    if (!alone) continue;
    Receive(Make(MessageKind::kDeltas, 1, own, {-1, -1, -1}));
    EXPECT_EQ(X(), std::vector<float>(3, 2.0f));
    // Nothing of ours is open any more.
    Receive(Make(MessageKind::kWeights, 1, 10, {4, 4, 4}));
    EXPECT_EQ(X(), std::vector<float>(3, 3.0f));
  }
}

// x is (0, 0, 0), so the limit is 20 times 1.
TEST_F(NodeTest, WeightsTooFarAwayChangeNothing) {
  for (const double limit : {20.0, 0.0}) {
    Make({.max_distance = limit});
    Post(PeerUp{Key(1)});
    Post(Started{});
    Post(Trained{1});
    const std::vector<float> before = X();
    const auto answered = Receive(Make(MessageKind::kWeights, 1, 9, {12, 16, 0.1f}));
    EXPECT_EQ(X() == before, limit > 0);
    EXPECT_EQ(answered.empty(), limit > 0);
    EXPECT_EQ(Dropped(DropReason::kTooFar), limit > 0 ? 1u : 0u);
    if (limit == 0) continue;
    EXPECT_FALSE(Receive(Make(MessageKind::kWeights, 1, 10, {12, 16, 0})).empty()) << "the edge";
    EXPECT_EQ(Dropped(DropReason::kTooFar), 1u);
    // Now x is (6, 8, 0): its norm, 10, counts.
    EXPECT_FALSE(Receive(Make(MessageKind::kWeights, 1, 11, {6, 8, 200})).empty());
  }
}

TEST_F(NodeTest, DeltasTooLargeChangeNothing) {
  for (const double limit : {20.0, 0.0}) {
    Make({.batches = 1, .sends = 1, .max_distance = limit});
    Post(PeerUp{Key(1)});
    Post(Started{});
    const auto sent = Of<SendWeights>(Post(Trained{1}));
    const std::uint64_t id = sent.at(0).exchange.value;
    Receive(Make(MessageKind::kDeltas, 1, id, {0, 0, 10.2f}));  // half of 20 and a hundredth
    EXPECT_EQ(Dropped(DropReason::kTooFar), limit > 0 ? 1u : 0u);
    EXPECT_EQ(node_->counters().deltas_applied, limit > 0 ? 0u : 1u);
    if (limit == 0) continue;
    Receive(Make(MessageKind::kDeltas, 1, id, {0, 0, 10}));
    EXPECT_EQ(node_->counters().deltas_applied, 1u);
  }
}

TEST_F(NodeTest, DefaultGammaFallsWithM) {
  EXPECT_FLOAT_EQ(EffectiveGamma({.sends = 0}), 1.0f);
  EXPECT_FLOAT_EQ(EffectiveGamma({.sends = 1}), 0.5f);
  EXPECT_FLOAT_EQ(EffectiveGamma({.sends = 5}), 1.0f / 6);
  EXPECT_FLOAT_EQ(EffectiveGamma({.sends = 5, .gamma = 0.5f}), 0.5f);
}

TEST_F(NodeTest, DeltasApplyOnceAndOnlyToTheirExchange) {
  Make({.batches = 1, .sends = 1});
  Post(PeerUp{Key(1)});
  Post(PeerUp{Key(2)});
  Post(Started{});
  const auto sent = Of<SendWeights>(Post(Trained{1}));
  ASSERT_EQ(sent.size(), 1u);
  const std::uint8_t partner = sent[0].peer.bytes[0];
  const std::uint64_t id = sent[0].exchange.value;
  Receive(Make(MessageKind::kDeltas, partner, id + 1, {1, 1, 1}));           // unknown exchange
  Receive(Make(MessageKind::kDeltas, partner == 1 ? 2 : 1, id, {1, 1, 1}));  // of another peer
  EXPECT_EQ(X(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Dropped(DropReason::kNotPending), 2u);
  Receive(Make(MessageKind::kDeltas, partner, id, {1, 2, 3}));
  EXPECT_EQ(X(), (std::vector<float>{-1, -2, -3}));
  Receive(Make(MessageKind::kDeltas, partner, id, {1, 2, 3}));  // repeated
  EXPECT_EQ(X(), (std::vector<float>{-1, -2, -3}));
  EXPECT_EQ(Dropped(DropReason::kNotPending), 3u);
  EXPECT_EQ(node_->counters().deltas_applied, 1u);
}

TEST_F(NodeTest, ALateDeltasAppliesUntilItsExchangeIsGivenUp) {
  Make({.batches = 1, .sends = 1, .pending_for = 5 * kStep});
  Post(PeerUp{Key(1)});
  Post(Started{});
  const auto first = Of<SendWeights>(Round(1));
  for (int round = 0; round < 3; ++round) Round(1);
  Post(Trained{1});
  Receive(Make(MessageKind::kDeltas, 1, first[0].exchange.value, {1, 1, 1}));
  EXPECT_EQ(node_->counters().deltas_applied, 1u);
  Post(Drained{});
  const std::uint64_t second = first[0].exchange.value + 1;
  for (int round = 0; round < 5; ++round) Round(1);
  EXPECT_GE(node_->counters().expired, 1u);
  Post(Trained{1});
  Receive(Make(MessageKind::kDeltas, 1, second, {1, 1, 1}));
  EXPECT_EQ(node_->counters().deltas_applied, 1u);
}

TEST_F(NodeTest, RepeatedWeightsChangeNothing) {
  Make({});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  const Message message = Make(MessageKind::kWeights, 1, 9, {2, 2, 2});
  Receive(message);
  const std::vector<float> once = X();
  EXPECT_TRUE(Receive(message).empty());
  EXPECT_EQ(X(), once);
  EXPECT_EQ(Dropped(DropReason::kDuplicate), 1u);
}

TEST_F(NodeTest, RepeatedWeightsChangeNothingAfterAnOutageEither) {
  Make({});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  const Message message = Make(MessageKind::kWeights, 1, 9, {2, 2, 2});
  Receive(message);
  const std::vector<float> once = X();
  Post(PeerDown{Key(1)});
  EXPECT_TRUE(Receive(message).empty()) << "it was in the FIFO when the link broke";
  Post(PeerUp{Key(1)});
  EXPECT_TRUE(Receive(message).empty()) << "it came again over the next link";
  EXPECT_EQ(X(), once);
  EXPECT_EQ(Dropped(DropReason::kDuplicate), 2u);
}

TEST_F(NodeTest, RepliesCanBeSwitchedOffOnEitherSide) {
  Make({.reply = false});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  EXPECT_TRUE(Receive(Make(MessageKind::kWeights, 1, 9, {2, 2, 2})).empty());
  EXPECT_EQ(X(), (std::vector<float>{1, 1, 1}));
  Make({.reply = true});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  Message message = Make(MessageKind::kWeights, 1, 9, {2, 2, 2});
  message.no_reply = true;
  EXPECT_TRUE(Receive(message).empty());
}

TEST_F(NodeTest, WrongSizeIsDropped) {
  Make({});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  Receive(Make(MessageKind::kWeights, 1, 9, {2, 2}));
  Receive(Make(MessageKind::kWeights, 1, 10, {2, 2, 2, 2}));
  Message empty = Make(MessageKind::kWeights, 1, 11, {});
  empty.payload = nullptr;
  Receive(empty);
  EXPECT_EQ(Dropped(DropReason::kWrongSize), 3u);
  EXPECT_EQ(X(), (std::vector<float>{0, 0, 0}));
}

TEST_F(NodeTest, InFlightLimitHoldsBackAndForgets) {
  Make({.batches = 1, .sends = 5});
  for (std::uint8_t peer = 1; peer <= 7; ++peer) Post(PeerUp{Key(peer)});
  Post(Started{});
  EXPECT_EQ(Of<SendWeights>(Round(1)).size(), 5u);
  EXPECT_EQ(Of<SendWeights>(Round(1)).size(), 1u);  // M+1 = 6 younger than two rounds
  // The five of the first round are two rounds old now: a lost answer never stops the node.
  EXPECT_EQ(Of<SendWeights>(Round(1)).size(), 5u);
  EXPECT_EQ(node_->counters().held_back, 4u);
  Make({.batches = 1, .sends = 5, .limit_in_flight = false});
  Post(PeerUp{Key(1)});
  Post(Started{});
  for (int round = 0; round < 5; ++round) EXPECT_EQ(Of<SendWeights>(Round(1)).size(), 5u);
}

TEST_F(NodeTest, WhereAnswersAreSlowOneExchangeLessIsInFlight) {
  for (const int rounds : {3, 4}) {  // three are not slow
    Make({.batches = 1, .sends = 1});
    Post(PeerUp{Key(1)});
    Post(Started{});
    const ExchangeId first = Of<SendWeights>(Round(1)).at(0).exchange;
    std::vector<SendWeights> others;
    for (int round = 1; round < rounds; ++round) {
      for (const SendWeights& one : Of<SendWeights>(Round(1))) others.push_back(one);
    }
    now_ += kStep;
    for (const SendWeights& one : Of<SendWeights>(Post(Trained{1}))) others.push_back(one);
    Receive(Make(MessageKind::kDeltas, 1, first.value, {1, 1, 1}));
    EXPECT_EQ(node_->counters().deltas_applied, 1u);
    Post(Drained{});
    for (const SendWeights& one : others) Post(Nacked{Key(1), one.exchange});
    EXPECT_EQ(node_->pending(), 0u);
    EXPECT_EQ(Of<SendWeights>(Round(1)).size(), 1u);
    EXPECT_EQ(Of<SendWeights>(Round(1)).size(), rounds > 3 ? 0u : 1u);
  }
}

TEST_F(NodeTest, ARefusedExchangeIsNoLongerInFlight) {
  Make({.batches = 1, .sends = 2});
  Post(PeerUp{Key(1)});
  Post(Started{});
  const auto sent = Of<SendWeights>(Round(1));
  ASSERT_EQ(sent.size(), 2u);
  Post(Nacked{Key(2), sent[0].exchange});  // not the peer that was asked
  EXPECT_EQ(node_->counters().nacked, 0u);
  for (const SendWeights& one : sent) Post(Nacked{Key(1), one.exchange});
  EXPECT_EQ(node_->counters().nacked, 2u);
  EXPECT_EQ(node_->pending(), 0u);
  EXPECT_EQ(Of<SendWeights>(Round(1)).size(), 2u);
}

TEST_F(NodeTest, ChoosesUniformlyAmongReachablePeers) {
  Make({.batches = 1, .sends = 1, .limit_in_flight = false});
  for (std::uint8_t peer = 1; peer <= 5; ++peer) Post(PeerUp{Key(peer)});
  Post(PeerUp{Key(3)});  // said twice
  Post(PeerDown{Key(5)});
  Post(Started{});
  std::map<PeerKey, int> chosen;
  for (int round = 0; round < 4000; ++round) ++chosen[Of<SendWeights>(Round(1)).at(0).peer];
  EXPECT_EQ(chosen.size(), 4u);
  for (const auto& [peer, count] : chosen) EXPECT_NEAR(count, 1000, 120) << int(peer.bytes[0]);
}

// a_1 = 300 at the sender, a_0 at us: a_0 x_0 + a_1 x_1 stays what it was, up to a ratio of two.
TEST_F(NodeTest, SamplesWeighAnExchange) {
  struct Case {
    std::uint64_t own;
    std::uint64_t of_sender;
    double rho;
  };
  for (const Case& one : {Case{300, 300, 1}, Case{200, 300, 1.5}, Case{400, 300, 0.75},
                          Case{100, 300, 2}, Case{900, 300, 0.5}, Case{300, 0, 1}}) {
    Make({.sends = 1, .weigh = Weigh::kSamples, .samples = one.own});
    Post(PeerUp{Key(1)});
    Post(Started{});
    Post(Trained{1});
    x_[0] = 1, x_[1] = 2, x_[2] = -3;
    Message weights = Make(MessageKind::kWeights, 1, 9, {4, 2, -9});
    weights.gamma_max = 0.5f;
    weights.samples = one.of_sender;
    Receive(weights);
    const double own = static_cast<double>(X()[0]) - 1;
    const double of_sender = -static_cast<double>(Reply()[0]);
    EXPECT_NEAR(own + one.rho * of_sender, 0, 1e-6) << one.own;
    EXPECT_NEAR(own - of_sender, 3, 1e-6) << "at gamma = 1/2 both end at the same place";
  }
}

TEST_F(NodeTest, SamplesAreOfNoInterestUnlessWanted) {
  Make({.sends = 1, .samples = 100});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  x_[0] = 1;
  Message weights = Make(MessageKind::kWeights, 1, 9, {4, 0, 0});
  weights.gamma_max = 0.5f;
  weights.samples = 300;
  Receive(weights);
  EXPECT_EQ(X()[0], 2.5f);
  EXPECT_EQ(Reply()[0], 1.5f);
}

}  // namespace
}  // namespace covey::consensus
