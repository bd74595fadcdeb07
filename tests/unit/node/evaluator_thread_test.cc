#include "node/evaluator_thread.h"

#include <gtest/gtest.h>

#include "covey/base/random.h"
#include "covey/setup/assemble.h"
#include "fixture.h"

namespace covey::node {
namespace {

using namespace std::chrono_literals;

class EvaluatorThreadTest : public ::testing::Test {
 protected:
  EvaluatorThreadTest() {
    config_ = SmallConfig(folder_);
    assembly_ = setup::Assemble(config_, {}).value();
  }
  learner::Scoreboard Board() const {
    return learner::Scoreboard(assembly_.learner.model, assembly_.data.train,
                               assembly_.data.validation, assembly_.data.test);
  }
  learner::Snapshot SnapshotOf(std::uint64_t batches) const {
    tensor::FlatVector x(nn::LayoutOf(assembly_.learner.model).size());
    Stream stream(batches, 0, Purpose::kInit);
    nn::Initialise(assembly_.learner.model, stream, x.view());
    learner::Snapshot snapshot;
    snapshot.x = std::make_shared<const tensor::FlatVector>(std::move(x));
    snapshot.batches = batches;
    return snapshot;
  }
  static Clock::Source::time_point Soon() { return Clock::Source::now() + 60s; }

  test::TemporaryFolder folder_;
  config::NodeConfig config_;
  setup::Assembly assembly_;
  Clock clock_;
};

TEST_F(EvaluatorThreadTest, FullQueueLosesTheOldestAndCountsIt) {
  EvaluatorThread evaluator(clock_, Board());
  for (std::uint64_t i = 1; i <= EvaluatorThread::kQueue + 3; ++i) evaluator.Offer(SnapshotOf(i));
  EXPECT_EQ(evaluator.report().skipped, 3u);
  std::vector<std::uint64_t> evaluated;
  evaluator.Start([&](const learner::Score& score) { evaluated.push_back(score.batches); });
  evaluator.Finish(SnapshotOf(100));
  ASSERT_TRUE(evaluator.WaitFinished(Soon()).has_value());
  // Everything that waited comes before the end.
  ASSERT_EQ(evaluated.size(), EvaluatorThread::kQueue);
  EXPECT_EQ(evaluated.front(), 4u);
  EXPECT_EQ(evaluated.back(), EvaluatorThread::kQueue + 3);
}

TEST_F(EvaluatorThreadTest, BestIsKeptAndTheSettledModelCompetes) {
  EvaluatorThread evaluator(clock_, Board());
  EXPECT_FALSE(evaluator.best().has_value());
  std::vector<learner::Score> scores;
  evaluator.Start([&](const learner::Score& score) { scores.push_back(score); });
  for (std::uint64_t i = 1; i <= EvaluatorThread::kQueue; ++i) evaluator.Offer(SnapshotOf(i));
  evaluator.Finish(SnapshotOf(100));
  const auto final_scores = evaluator.WaitFinished(Soon());
  ASSERT_TRUE(final_scores.has_value());
  double best = *final_scores->last.validation.accuracy;
  for (const learner::Score& score : scores) best = std::max(best, *score.validation.accuracy);
  EXPECT_EQ(final_scores->best.validation.accuracy, best);
  EXPECT_EQ(evaluator.best()->score.validation.accuracy, best);
  EXPECT_EQ(evaluator.report().last->batches, 100u);
}

TEST_F(EvaluatorThreadTest, RestoredBestIsBeatenOnlyByABetterOne) {
  EvaluatorThread evaluator(clock_, Board());
  learner::Score perfect;
  perfect.batches = 5;
  perfect.validation = {0.0, 1.0, 100};
  evaluator.Restore(perfect, SnapshotOf(1).x);
  EXPECT_EQ(evaluator.report().best->batches, 5u);
  evaluator.Start([](const learner::Score&) {});
  evaluator.Finish(SnapshotOf(100));
  EXPECT_EQ(evaluator.WaitFinished(Soon())->best.batches, 5u);
}

TEST_F(EvaluatorThreadTest, StopsWithoutEvaluatingWhatWaits) {
  EvaluatorThread evaluator(clock_, Board());
  for (std::uint64_t i = 1; i <= 3; ++i) evaluator.Offer(SnapshotOf(i));
  EXPECT_TRUE(evaluator.Stop(Soon()));
  int evaluated = 0;
  evaluator.Start([&](const learner::Score&) { ++evaluated; });
  EXPECT_TRUE(evaluator.Stop(Soon()));
  EXPECT_EQ(evaluated, 0);
  EXPECT_FALSE(evaluator.WaitFinished(Clock::Source::now()).has_value());
}

}  // namespace
}  // namespace covey::node
