#include "covey/learner/scoreboard.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace covey::learner {
namespace {

// One feature that is its own logit of class 1: a bias of class 0 decides from which byte on class
// 1 is said.
nn::ModelSpec Threshold() {
  nn::ModelSpec model;
  model.input = {1};
  model.layers = {nn::Dense{2, nn::Activation::kLinear}};
  return model;
}

data::Dataset Samples() {
  data::Dataset::Memory memory;
  memory.shape = {1};
  memory.normalize = data::Normalize::kNone;
  memory.classes = 2;
  for (int i = 0; i < 100; ++i) {
    memory.rows.push_back(static_cast<std::uint8_t>(i));
    memory.labels.push_back(i < 50 ? 0 : 1);
  }
  return data::Dataset::FromMemory(std::move(memory));
}

// A model that is wrong for |threshold - 50| of the hundred samples.
Snapshot At(double threshold, double epoch, bool settled = false) {
  Snapshot snapshot;
  tensor::FlatVector x(4);
  x[0] = 0, x[1] = 1;  // weights
  x[2] = static_cast<float>(threshold) - 0.5f, x[3] = 0;
  snapshot.x = std::make_shared<const tensor::FlatVector>(std::move(x));
  snapshot.epochs = epoch;
  snapshot.settled = settled;
  return snapshot;
}

class ScoreboardTest : public testing::Test {
 protected:
  Scoreboard board_{Threshold(), Samples(), data::Range(0, 100), Samples()};
};

TEST_F(ScoreboardTest, KeepsTheBestModelNotTheLast) {
  EXPECT_DOUBLE_EQ(board_.Evaluate(At(70, 1)).validation.accuracy, 0.80);
  EXPECT_DOUBLE_EQ(board_.Evaluate(At(55, 2)).validation.accuracy, 0.95);
  const FinalScores scores = board_.Finish(At(65, 3));
  EXPECT_DOUBLE_EQ(scores.best.epoch, 2);
  EXPECT_DOUBLE_EQ(scores.best_test->accuracy, 0.95);
  EXPECT_DOUBLE_EQ(scores.last.epoch, 3);
  EXPECT_DOUBLE_EQ(scores.last_test->accuracy, 0.85);
}

TEST_F(ScoreboardTest, OfEqualAccuracyTheLowerLossWins) {
  board_.Evaluate(At(55, 1));
  board_.Evaluate(At(45, 2));  // as many errors; class 1 is said with the same margins
  const double first = board_.best()->validation.loss;
  board_.Evaluate(At(55, 3));
  EXPECT_EQ(board_.best()->validation.loss, first);
  EXPECT_NE(board_.best()->epoch, 3);
}

// One standard error of 0.95 with 100 samples is 0.022.
TEST_F(ScoreboardTest, ASettledModelWinsWithinOneStandardError) {
  board_.Evaluate(At(55, 1));
  EXPECT_DOUBLE_EQ(board_.Finish(At(57, 2, true)).best.epoch, 2);
}

TEST_F(ScoreboardTest, ASettledModelThatIsWorseByMoreDoesNot) {
  board_.Evaluate(At(55, 1));
  EXPECT_DOUBLE_EQ(board_.Finish(At(58, 2, true)).best.epoch, 1);
}

TEST_F(ScoreboardTest, AnUnsettledModelHasNoSuchAdvantage) {
  board_.Evaluate(At(55, 1));
  EXPECT_DOUBLE_EQ(board_.Finish(At(56, 2)).best.epoch, 1);
}

TEST_F(ScoreboardTest, WithoutValidationTheLastModelIsTheBest) {
  Scoreboard board(Threshold(), Samples(), {}, std::nullopt);
  board.Evaluate(At(50, 1));
  const FinalScores scores = board.Finish(At(90, 2));
  EXPECT_DOUBLE_EQ(scores.best.epoch, 2);
  EXPECT_FALSE(scores.best_test);
}

TEST_F(ScoreboardTest, GoesOnFromACheckpoint) {
  Score best;
  best.epoch = 7;
  best.validation = {0.1, 0.99, 100};
  board_.Restore(best, At(51, 7).x);
  const FinalScores scores = board_.Finish(At(60, 8));
  EXPECT_DOUBLE_EQ(scores.best.epoch, 7);
  EXPECT_DOUBLE_EQ(scores.best_test->accuracy, 0.99);
}

}  // namespace
}  // namespace covey::learner
