#include "covey/harness/outcome.h"

#include <gtest/gtest.h>

#include "unit/harness/made_up.h"

namespace covey::harness {
namespace {

TEST(Figures, AverageTheNodesOfAGroup) {
  const auto figures = Figures(MadeUpOutcome(), Group::kConsensus);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->nodes, 8u);
  EXPECT_TRUE(figures->on_test_set);
  EXPECT_NEAR(*figures->best.accuracy, 0.876 + 0.0005 * 3.5, 1e-12);
  EXPECT_NEAR(*figures->quality_min, 0.876, 1e-12);
  EXPECT_NEAR(*figures->quality_max, 0.876 + 0.0005 * 7, 1e-12);
  EXPECT_NEAR(figures->best_epoch, 38, 1e-12);
  EXPECT_NEAR(*figures->last.accuracy, *figures->best.accuracy - 0.001, 1e-12);
  ASSERT_TRUE(figures->best_validation);
  EXPECT_NEAR(*figures->best_validation->accuracy, *figures->best.accuracy + 0.003, 1e-12);
}

TEST(Figures, LeaveOutNodesThatDied) {
  Outcome outcome = MadeUpOutcome();
  outcome.runs[0].end = End::kDied;
  const auto figures = Figures(outcome, Group::kConsensus);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->nodes, 7u);
  EXPECT_NEAR(*figures->quality_min, 0.8765, 1e-12);
}

TEST(Figures, OfAnInterruptedRunUseWhatThereIs) {
  Outcome outcome = MadeUpOutcome();
  for (NodeOutcome& node : outcome.runs) node.end = End::kInterrupted;
  EXPECT_EQ(Figures(outcome, Group::kConsensus)->nodes, 8u);
}

TEST(Figures, AreAbsentForAGroupThatDidNotRun) {
  Outcome outcome = MadeUpOutcome();
  std::erase_if(outcome.runs, [](const NodeOutcome& n) { return n.group == Group::kIsolated; });
  EXPECT_FALSE(Figures(outcome, Group::kIsolated));
  EXPECT_TRUE(MeanCurve(outcome, Group::kIsolated).empty());
}

TEST(Figures, FallBackToValidationWithoutATestSet) {
  Outcome outcome = MadeUpOutcome();
  for (NodeOutcome& node : outcome.runs) node.best->test = node.last->test = std::nullopt;
  const auto figures = Figures(outcome, Group::kConsensus);
  EXPECT_FALSE(figures->on_test_set);
  EXPECT_DOUBLE_EQ(*figures->best.accuracy, *figures->best_validation->accuracy);
}

TEST(Traffic, CountsConsensusNodesOnlyAlsoThoseThatDied) {
  Outcome outcome = MadeUpOutcome();
  outcome.runs[0].end = End::kDied;
  const Traffic total = TotalTraffic(outcome);
  EXPECT_EQ(total.weights_sent, 8u * 860);
  EXPECT_EQ(total.deltas_dropped, 8u * 160);
  EXPECT_EQ(LargestPss(outcome), 14'900'000u);
}

NodeOutcome WithCurve(std::vector<Point> curve) {
  NodeOutcome node;
  node.curve = std::move(curve);
  return node;
}

TEST(MeanCurve, InterpolatesBetweenEvaluations) {
  Outcome outcome;
  outcome.runs.push_back(WithCurve({{1, 0, {1.0, 0.2}}, {3, 0, {0.0, 0.6}}}));
  outcome.runs.push_back(WithCurve({{1, 0, {1.0, 0.4}}, {2, 0, {0.6, 0.6}}, {3, 0, {0.2, 0.6}}}));
  const auto bands = MeanCurve(outcome, Group::kConsensus);
  ASSERT_EQ(bands.size(), 3u);
  EXPECT_DOUBLE_EQ(bands[1].epoch, 2);
  EXPECT_NEAR(*bands[1].mean.accuracy, 0.5, 1e-12);
  EXPECT_NEAR(*bands[1].low.accuracy, 0.4, 1e-12);
  EXPECT_NEAR(*bands[1].high.accuracy, 0.6, 1e-12);
  EXPECT_NEAR(bands[1].low.loss, 0.5, 1e-12);
}

TEST(MeanCurve, LeavesOutEpochsThatFewNodesReached) {
  Outcome outcome;
  outcome.runs.push_back(WithCurve({{1, 0, {}}, {2, 0, {}}, {9, 0, {}}}));
  outcome.runs.push_back(WithCurve({{1, 0, {}}, {2, 0, {}}}));
  outcome.runs.push_back(WithCurve({{1, 0, {}}, {2, 0, {}}}));
  EXPECT_EQ(MeanCurve(outcome, Group::kConsensus).back().epoch, 2);
}

TEST(MeanCurve, TheSettledModelAtTheSameEpochDoesNotBendIt) {
  Outcome outcome;
  outcome.runs.push_back(WithCurve({{1, 0, {1, 0.5}}, {2, 0, {1, 0.6}}, {2, 1, {1, 0.9}}}));
  const auto bands = MeanCurve(outcome, Group::kConsensus);
  ASSERT_EQ(bands.size(), 2u);
  EXPECT_NEAR(*bands[1].mean.accuracy, 0.6, 1e-12);
}

TEST(MeanCurve, ThinsToTheNumberAskedForAndKeepsTheLast) {
  NodeOutcome node;
  for (int i = 0; i < 1000; ++i) node.curve.push_back({static_cast<double>(i), 0, {}});
  Outcome outcome;
  outcome.runs.push_back(node);
  const auto bands = MeanCurve(outcome, Group::kConsensus, 50);
  EXPECT_EQ(bands.size(), 50u);
  EXPECT_EQ(bands.back().epoch, 999);
  EXPECT_EQ(MeanCurve(outcome, Group::kConsensus, 1000).size(), 1000u);
}

}  // namespace
}  // namespace covey::harness
