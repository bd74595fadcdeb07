// A node's life: training, mail in between, the tail, pause, joining, restart.
#include "unit/consensus/node_fixture.h"

#include <gtest/gtest.h>

#include <vector>

namespace covey::consensus {
namespace {

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

// Settles with one peer whose answers never come. Returns: rounds of the tail until it is done, at
// most 100.
template <class Each>
int TailWithoutAnswers(const Node& node, Each each) {
  int rounds = 0;
  while (node.state() == State::kSettling && rounds < 100) each(++rounds);
  return rounds;
}

TEST_F(NodeTest, ModelsOfPeersAtRestCountInTheTailWhereAnswersAreLost) {
  for (const bool training : {false, true}) {
    now_ = {};
    Make({.batches = 1, .sends = 1, .until_batches = 1, .settle_rounds = 5});
    Post(PeerUp{Key(1)});
    Post(Started{});
    Round(1);
    const int rounds = TailWithoutAnswers(*node_, [&](int round) {
      Message weights =
          Make(MessageKind::kWeights, 1, static_cast<std::uint64_t>(round), {0, 0, 0});
      weights.training = training;
      Receive(weights);
      now_ += 2 * kStep;
      Post(DeadlineReached{});
    });
    EXPECT_EQ(rounds, training ? 100 : 5);
  }
}

TEST_F(NodeTest, WhereAnswersNeverComeATailWithAPeerAtRestEnds) {
  for (const bool training : {false, true}) {
    now_ = {};
    Make({.batches = 1, .sends = 1, .until_batches = 1, .settle_rounds = 5});
    Post(PeerUp{Key(1)});
    Post(Started{});
    Message weights = Make(MessageKind::kWeights, 1, 1, {0, 0, 0});
    weights.training = training;
    Round(1);
    Receive(weights);
    const int rounds = TailWithoutAnswers(*node_, [&](int) {
      now_ += 2 * kStep;
      Post(DeadlineReached{});
    });
    EXPECT_EQ(rounds, training ? 100 : 12);  // the first, and from the ninth on
  }
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
