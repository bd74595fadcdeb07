// Evaluates published snapshots at low priority, and at the end of the node's life best and last.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "covey/learner/scoreboard.h"
#include "covey/node/report.h"
#include "node/clock.h"
#include "node/gate.h"

namespace covey::node {

class EvaluatorThread {
 public:
  // Snapshots that wait; one more pushes out the oldest, which is counted as skipped.
  static constexpr std::size_t kQueue = 8;

  using OnScore = std::function<void(const learner::Score&)>;
  // The best model so far and its score, for checkpoints and publishing.
  struct Best {
    learner::Score score;
    std::shared_ptr<const tensor::FlatVector> x;
  };
  using OnBest = std::function<void(const Best&)>;

  EvaluatorThread(const Clock& clock, learner::Scoreboard scoreboard);
  ~EvaluatorThread() { Join(); }

  void Restore(const learner::Score& best, std::shared_ptr<const tensor::FlatVector> best_x);

  // `on_score` is called on the evaluator's thread, after every evaluation that has a validation
  // set. `on_best`: the same, whenever another model is the best; without a validation set that is
  // every one.
  void Start(OnScore on_score, OnBest on_best = {});

  // Thread: any. Never blocks.
  void Offer(learner::Snapshot snapshot);

  // Judges by other samples from the next evaluation on. Thread: any.
  void Replace(data::Dataset train, data::Indices validation);

  // Asks for the final scores, after everything that waits. Then Wait; empty when it is not done by
  // `deadline`.
  void Finish(learner::Snapshot settled);
  std::optional<learner::FinalScores> WaitFinished(Clock::Source::time_point deadline);

  // Asks the thread to end after the evaluation that runs. Returns: whether it has ended by
  // `deadline`.
  bool Stop(Clock::Source::time_point deadline);

  // The same, and waits for as long as it takes.
  void Join();

  EvaluationReport report() const;

  std::optional<Best> best() const;

 private:
  void Run();
  void Evaluate(const learner::Snapshot& snapshot);
  void TellBest();
  void LogScore(const learner::Score& score);

  const Clock& clock_;
  learner::Scoreboard scoreboard_;  // of the thread once it runs
  OnScore on_score_;
  OnBest on_best_;
  std::shared_ptr<const tensor::FlatVector> told_;  // to on_best_
  std::optional<Time> logged_;                      // the last line about a score
  Gate finished_;
  Gate ended_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<learner::Snapshot> queue_;
  std::optional<learner::Snapshot> settled_;
  struct Samples {
    data::Dataset train;
    data::Indices validation;
  };
  std::optional<Samples> samples_;  // that take the place of those before
  bool stopping_ = false;
  EvaluationReport report_;
  std::optional<Best> best_;

  std::thread thread_;
};

}  // namespace covey::node
