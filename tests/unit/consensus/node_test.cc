#include "covey/consensus/node.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace covey::consensus {
namespace {

constexpr Time kStep = std::chrono::milliseconds(10);

PeerKey Key(std::uint8_t id) {
  PeerKey key;
  key.bytes[0] = id;
  return key;
}

// A node with a vector of three floats and its host's duties.
class NodeTest : public testing::Test {
 protected:
  void Make(const Settings& settings) {
    node_ = std::make_unique<Node>(settings, Stream(1, 0, Purpose::kPeers), ExchangeId{100});
  }
  std::vector<Action> Post(const Event& event) {
    std::vector<Action> actions;
    node_->Handle(now_, event, actions);
    return actions;
  }
  std::vector<Action> Receive(const Message& message) {
    return Post(Received{&message, x_.view(), reply_.view()});
  }
  // One whole training round without mail. Returns: the actions between Trained and Drained.
  std::vector<Action> Round(std::uint32_t batches) {
    now_ += kStep;
    std::vector<Action> actions = Post(Trained{batches});
    last_ = Post(Drained{});
    return actions;
  }
  static Message Make(MessageKind kind, std::uint8_t peer, std::uint64_t exchange,
                      std::vector<float> values) {
    Message message;
    message.kind = kind;
    message.peer = Key(peer);
    message.exchange = ExchangeId{exchange};
    message.payload = Payload(values);
    return message;
  }
  static SharedBuffer Payload(const std::vector<float>& values) {
    auto buffer = std::make_shared<AlignedBuffer>(values.size() * sizeof(float));
    std::memcpy(buffer->data(), values.data(), buffer->size());
    return buffer;
  }
  std::vector<float> X() const { return {x_.view().begin(), x_.view().end()}; }
  std::vector<float> Reply() const {
    std::vector<float> values(3);
    std::memcpy(values.data(), reply_.data(), reply_.size());
    return values;
  }
  std::uint64_t Dropped(DropReason reason) const {
    return node_->counters().dropped[static_cast<std::size_t>(reason)];
  }
  template <class T>
  static std::vector<T> Of(const std::vector<Action>& actions) {
    std::vector<T> found;
    for (const Action& action : actions) {
      if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
    }
    return found;
  }

  Time now_{};
  tensor::FlatVector x_{3};
  AlignedBuffer reply_{3 * sizeof(float)};
  std::unique_ptr<Node> node_;
  std::vector<Action> last_;
};

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

TEST_F(NodeTest, TrainsExactlyUntilItsLimitThenSettlesThenIsDone) {
  Make({.batches = 4, .sends = 1, .until_batches = 10, .settle_rounds = 2});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Round(4);
  EXPECT_EQ(std::get<Train>(last_.back()).batches, 4u);
  Round(4);
  EXPECT_EQ(std::get<Train>(last_.back()).batches, 2u);
  Round(2);
  EXPECT_EQ(node_->state(), State::kSettling);
  EXPECT_EQ(node_->counters().batches, 10u);
  auto sent = Of<SendWeights>(last_);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(sent.size(), 1u) << round;
    const auto next = Receive(Make(MessageKind::kDeltas, 1, sent[0].exchange.value, {0, 0, 0}));
    sent = Of<SendWeights>(next);
    if (round == 1) {
      EXPECT_EQ(Of<Publish>(next).size(), 1u);
    }
  }
  EXPECT_EQ(node_->state(), State::kDone);
  // Done, it still answers, and starts nothing.
  const auto answer = Receive(Make(MessageKind::kWeights, 1, 9, {2, 2, 2}));
  EXPECT_EQ(Of<SendDeltas>(answer).size(), 1u);
  EXPECT_TRUE(Of<SendWeights>(answer).empty());
}

TEST_F(NodeTest, TailRoundsAmongTrainingPeersDoNotCountButEndByPatience) {
  Make({.batches = 1,
        .sends = 1,
        .until_batches = 1,
        .settle_rounds = 1,
        .settle_patience = 20 * kStep});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Round(1);
  auto sent = Of<SendWeights>(last_);
  int rounds = 0;
  while (node_->state() == State::kSettling) {
    ASSERT_LT(++rounds, 100);
    ASSERT_EQ(sent.size(), 1u);
    Message answer = Make(MessageKind::kDeltas, 1, sent[0].exchange.value, {0, 0, 0});
    answer.training = true;
    EXPECT_TRUE(Receive(answer).empty())
        << "a training peer is not asked again before the deadline";
    now_ += 2 * kStep;
    sent = Of<SendWeights>(Post(DeadlineReached{}));
  }
  EXPECT_GE(rounds, 5);
  EXPECT_EQ(node_->state(), State::kDone);
}

TEST_F(NodeTest, AnswersThatTakeLongerThanARoundOfTheTailCount) {
  Make({.batches = 1, .sends = 1, .until_batches = 1, .settle_rounds = 3});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Round(1);
  auto sent = Of<SendWeights>(last_);
  for (int round = 0; round < 8 && node_->state() == State::kSettling; ++round) {
    const auto late = sent;
    now_ += 20 * kStep;  // later than any pace of this tail
    sent = Of<SendWeights>(Post(DeadlineReached{}));
    if (late.empty()) continue;
    Receive(Make(MessageKind::kDeltas, 1, late[0].exchange.value, {0, 0, 0}));
  }
  EXPECT_EQ(node_->state(), State::kDone);
  EXPECT_LT(now_, 200 * kStep) << "by counting, not by patience";
}

TEST_F(NodeTest, MailInTheMiddleOfARoundIsAppliedBetweenBatches) {
  Make({.batches = 5, .sends = 1});
  Post(PeerUp{Key(1)});
  Post(Started{});
  const auto middle = Post(Trained{2});
  ASSERT_EQ(middle.size(), 1u);
  EXPECT_FALSE(std::get<Drain>(middle[0]).ends_round);
  EXPECT_EQ(Of<SendDeltas>(Receive(Make(MessageKind::kWeights, 1, 9, {2, 2, 2}))).size(), 1u);
  const auto rest = Post(Drained{});
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(std::get<Train>(rest[0]).batches, 3u);
  EXPECT_EQ(node_->counters().rounds, 0u);
  const auto end = Post(Trained{3});
  EXPECT_EQ(Of<SendWeights>(end).size(), 1u);
  EXPECT_TRUE(std::get<Drain>(end.back()).ends_round);
  EXPECT_EQ(std::get<Train>(Post(Drained{}).back()).batches, 5u);
  EXPECT_EQ(node_->counters().rounds, 1u);
}

TEST_F(NodeTest, DrainAtRoundIsAlgorithmOneToTheLetter) {
  Make({.batches = 5, .sends = 1, .drain = DrainAt::kRound});
  Post(PeerUp{Key(1)});
  Post(Started{});
  const auto interrupted = Post(Trained{2});
  EXPECT_EQ(Of<SendWeights>(interrupted).size(), 1u);
  EXPECT_TRUE(std::get<Drain>(interrupted.back()).ends_round);
}

TEST_F(NodeTest, PauseStopsStartingButNotAnswering) {
  Make({.batches = 5, .sends = 1});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Commanded{Command::kPause});
  const auto interrupted = Post(Trained{2});
  EXPECT_TRUE(Of<SendWeights>(interrupted).empty());
  EXPECT_EQ(std::get<Wait>(Post(Drained{}).back()).until, kNever);
  EXPECT_EQ(node_->counters().batches, 2u);
  EXPECT_EQ(Of<SendDeltas>(Receive(Make(MessageKind::kWeights, 1, 9, {2, 2, 2}))).size(), 1u);
  EXPECT_EQ(std::get<Train>(Post(Commanded{Command::kResume}).back()).batches, 5u);
}

TEST_F(NodeTest, SettleCommandEndsTrainingAfterTheRound) {
  Make({.batches = 5, .sends = 1, .settle_rounds = 3});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Commanded{Command::kSettle});
  EXPECT_EQ(node_->state(), State::kTraining);
  Round(5);
  EXPECT_EQ(node_->state(), State::kSettling);
  EXPECT_EQ(Of<SendWeights>(last_).size(), 1u);
}

TEST_F(NodeTest, ANewcomerCopiesBeforeItAverages) {
  Make({.join = true, .join_retry = kStep});
  EXPECT_EQ(std::get<Wait>(Post(Started{}).back()).until, kNever);
  EXPECT_EQ(node_->state(), State::kJoining);
  const auto asked = Of<AskToJoin>(Post(PeerUp{Key(1)}));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].peer, Key(1));
  Receive(Make(MessageKind::kWeights, 1, 8, {9, 9, 9}));  // for averaging
  EXPECT_EQ(X(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Dropped(DropReason::kJoining), 1u);
  now_ += kStep;
  EXPECT_EQ(Of<AskToJoin>(Post(DeadlineReached{})).size(), 1u);
  Message copy = Make(MessageKind::kWeights, 1, 9, {1, 2, 3});
  copy.copy = true;
  copy.no_reply = true;
  const auto actions = Receive(copy);
  EXPECT_EQ(X(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(node_->state(), State::kTraining);
  EXPECT_TRUE(Of<SendDeltas>(actions).empty());
  EXPECT_EQ(Of<Train>(actions).size(), 1u);
  Post(Trained{1});
  Receive(copy);  // the answer to the second request: no longer wanted
  EXPECT_EQ(Dropped(DropReason::kUnwantedCopy), 1u);
}

TEST_F(NodeTest, ACopyIsSentOnlyWhileXIsNotTraining) {
  Make({.batches = 1, .sends = 0});
  Post(PeerUp{Key(1)});
  Post(Started{});
  EXPECT_TRUE(Post(JoinAsked{Key(1)}).empty());
  EXPECT_TRUE(Post(JoinAsked{Key(1)}).empty());
  const auto sent = Of<SendWeights>(Post(Trained{1}));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].copy);
  EXPECT_EQ(Of<SendWeights>(Post(JoinAsked{Key(1)})).size(), 1u);
  EXPECT_EQ(node_->pending(), 0u) << "a copy is no exchange";
}

TEST_F(NodeTest, PublishesAfterSoManyBatchesAtTheEndOfARound) {
  Make({.batches = 4, .sends = 0, .publish_batches = 10});
  Post(Started{});
  std::vector<std::size_t> published;
  for (int round = 0; round < 6; ++round) {
    Round(4);
    published.push_back(Of<Publish>(last_).size());
  }
  EXPECT_EQ(published, (std::vector<std::size_t>{0, 0, 1, 0, 0, 1}));
}

TEST_F(NodeTest, ARestoredNodeGoesOnAndDoesNotJoinAgain) {
  Make({.batches = 4, .join = true, .until_batches = 10});
  node_->Restore(8, 2);
  EXPECT_EQ(std::get<Train>(Post(Started{}).back()).batches, 2u);
  EXPECT_EQ(node_->state(), State::kTraining);
}

}  // namespace
}  // namespace covey::consensus
