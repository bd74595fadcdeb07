#include "covey/learner/scoreboard.h"

#include <gtest/gtest.h>

#include <cmath>
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
  EXPECT_DOUBLE_EQ(*board_.Evaluate(At(70, 1)).validation.accuracy, 0.80);
  EXPECT_DOUBLE_EQ(*board_.Evaluate(At(55, 2)).validation.accuracy, 0.95);
  const FinalScores scores = board_.Finish(At(65, 3));
  EXPECT_DOUBLE_EQ(scores.best.epoch, 2);
  EXPECT_DOUBLE_EQ(*scores.best_test->accuracy, 0.95);
  EXPECT_DOUBLE_EQ(scores.last.epoch, 3);
  EXPECT_DOUBLE_EQ(*scores.last_test->accuracy, 0.85);
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

// The same decisions as At, with other margins: `scale` times as sure of them, right or wrong.
Snapshot Sure(double threshold, double epoch, float scale) {
  Snapshot snapshot = At(threshold, epoch);
  tensor::FlatVector x = snapshot.x->Clone();
  for (std::size_t i = 0; i < 4; ++i) x[i] *= scale;
  snapshot.x = std::make_shared<const tensor::FlatVector>(std::move(x));
  return snapshot;
}

TEST_F(ScoreboardTest, KeepsTheModelOfTheLowestLossBesideTheBestWhenAsked) {
  board_.KeepLowestLoss();
  board_.Evaluate(Sure(60, 1, 0.1f));
  board_.Evaluate(Sure(55, 2, 10));  // fewer errors, each of them dearer
  const FinalScores scores = board_.Finish(Sure(70, 3, 10));
  EXPECT_DOUBLE_EQ(scores.best.epoch, 2);
  ASSERT_TRUE(scores.lowest_loss);
  EXPECT_DOUBLE_EQ(scores.lowest_loss->epoch, 1);
  EXPECT_LT(scores.lowest_loss->validation.loss, scores.best.validation.loss);
  EXPECT_DOUBLE_EQ(*scores.lowest_loss_test->accuracy, 0.90);
  EXPECT_DOUBLE_EQ(scores.lowest_loss_test->loss, scores.lowest_loss->validation.loss);
}

TEST_F(ScoreboardTest, TheModelOfTheLowestLossIsNotKeptUnasked) {
  board_.Evaluate(At(55, 1));
  EXPECT_FALSE(board_.Finish(At(57, 2)).lowest_loss);
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

TEST_F(ScoreboardTest, SaysWhatWasTakenForWhat) {
  board_.Evaluate(At(55, 1));
  const FinalScores scores = board_.Finish(At(70, 2));
  // The best model says class 1 from 55 on: five samples of it are missed.
  EXPECT_EQ(scores.confusion.classes, 2u);
  EXPECT_EQ(scores.confusion.counts, (std::vector<std::uint32_t>{50, 0, 5, 45}));
  Scoreboard board(Threshold(), Samples(), {}, std::nullopt);
  EXPECT_TRUE(board.Finish(At(50, 1)).confusion.counts.empty());
}

// Two classes told apart by one number: of no use here, but a model of mean squared error.
nn::ModelSpec Line() {
  nn::ModelSpec model;
  model.input = {1};
  model.layers = {nn::Dense{1, nn::Activation::kLinear}};
  model.loss = nn::Loss::kMeanSquaredError;
  return model;
}

data::Dataset Double() {
  data::Dataset::Memory memory;
  memory.shape = {1};
  memory.normalize = data::Normalize::kNone;
  memory.outputs = 1;
  for (int i = 0; i < 100; ++i) {
    memory.rows.push_back(static_cast<std::uint8_t>(i));
    memory.targets.push_back(2 * static_cast<float>(i));
  }
  return data::Dataset::FromMemory(std::move(memory));
}

Snapshot Slope(float slope, double epoch, bool settled = false) {
  Snapshot snapshot;
  tensor::FlatVector x(2);
  x[0] = slope;
  snapshot.x = std::make_shared<const tensor::FlatVector>(std::move(x));
  snapshot.epochs = epoch;
  snapshot.settled = settled;
  return snapshot;
}

TEST(Regression, IsJudgedByItsLoss) {
  Scoreboard board(Line(), Double(), data::Range(0, 100), Double());
  const Score first = board.Evaluate(Slope(1, 1));
  EXPECT_FALSE(first.validation.accuracy);
  EXPECT_NEAR(first.validation.loss, 3283.5, 1e-3);  // mean of i^2 below 100
  board.Evaluate(Slope(1.9f, 2));
  board.Evaluate(Slope(std::nanf(""), 3));
  const FinalScores scores = board.Finish(Slope(1.5f, 4));
  EXPECT_EQ(scores.best.epoch, 2);
  EXPECT_NEAR(scores.best_test->errors->mean_absolute, 4.95, 1e-4);
  EXPECT_GT(*scores.best_test->errors->r2, 0.98);
  EXPECT_TRUE(scores.confusion.counts.empty());
}

TEST(Regression, ASettledModelWinsWithinOneStandardError) {
  Scoreboard board(Line(), Double(), data::Range(0, 100), std::nullopt);
  board.Evaluate(Slope(1.9f, 1));
  EXPECT_EQ(board.Finish(Slope(1.897f, 2, true)).best.epoch, 2);
  Scoreboard other(Line(), Double(), data::Range(0, 100), std::nullopt);
  other.Evaluate(Slope(1.9f, 1));
  EXPECT_EQ(other.Finish(Slope(1.88f, 2, true)).best.epoch, 1);
}

TEST_F(ScoreboardTest, GoesOnFromACheckpoint) {
  Score best;
  best.epoch = 7;
  best.validation = {0.1, 0.99, 100};
  board_.Restore(best, At(51, 7).x);
  const FinalScores scores = board_.Finish(At(60, 8));
  EXPECT_DOUBLE_EQ(scores.best.epoch, 7);
  EXPECT_DOUBLE_EQ(*scores.best_test->accuracy, 0.99);
}

}  // namespace
}  // namespace covey::learner
