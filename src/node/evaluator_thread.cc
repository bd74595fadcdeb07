#include "node/evaluator_thread.h"

#include <utility>

#include "covey/log/log.h"
#include "covey/node/process.h"

namespace covey::node {
namespace {

constexpr Duration kLogEvery = std::chrono::seconds(1);

}  // namespace

EvaluatorThread::EvaluatorThread(const Clock& clock, learner::Scoreboard scoreboard)
    : clock_(clock), scoreboard_(std::move(scoreboard)) {}

void EvaluatorThread::Join() {
  Stop(Clock::Source::now());
  if (thread_.joinable()) thread_.join();
}

void EvaluatorThread::Restore(const learner::Score& best,
                              std::shared_ptr<const tensor::FlatVector> best_x) {
  scoreboard_.Restore(best, best_x);
  report_.best = best;
  best_ = Best{best, std::move(best_x)};
}

void EvaluatorThread::Start(OnScore on_score, OnBest on_best) {
  on_score_ = std::move(on_score);
  on_best_ = std::move(on_best);
  told_ = scoreboard_.best_x();
  thread_ = std::thread([this] {
    NameThread("evaluator");
    LowerPriority();
    Run();
    ended_.Open();
  });
}

void EvaluatorThread::Offer(learner::Snapshot snapshot) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kQueue) {
      queue_.pop_front();
      ++report_.skipped;
    }
    queue_.push_back(std::move(snapshot));
  }
  changed_.notify_one();
}

void EvaluatorThread::Replace(data::Dataset train, data::Indices validation) {
  const std::lock_guard lock(mutex_);
  samples_ = Samples{std::move(train), std::move(validation)};
}

void EvaluatorThread::Finish(learner::Snapshot settled) {
  {
    const std::lock_guard lock(mutex_);
    settled_ = std::move(settled);
  }
  changed_.notify_one();
}

std::optional<learner::FinalScores> EvaluatorThread::WaitFinished(
    Clock::Source::time_point deadline) {
  if (!finished_.WaitUntil(deadline)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return report_.final_scores;
}

bool EvaluatorThread::Stop(Clock::Source::time_point deadline) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  return !thread_.joinable() || ended_.WaitUntil(deadline);
}

EvaluationReport EvaluatorThread::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

std::optional<EvaluatorThread::Best> EvaluatorThread::best() const {
  const std::lock_guard lock(mutex_);
  return best_;
}

void EvaluatorThread::Run() {
  while (true) {
    std::optional<learner::Snapshot> next;
    std::optional<Samples> samples;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty() || settled_; });
      if (stopping_) return;
      samples = std::exchange(samples_, std::nullopt);
      if (!queue_.empty()) {
        next = std::move(queue_.front());
        queue_.pop_front();
      }
    }
    if (samples) scoreboard_.Replace(std::move(samples->train), std::move(samples->validation));
    if (next) {
      Evaluate(*next);
      continue;
    }
    // Only this thread takes from the queue, so it is empty and `settled_` is set.
    const learner::FinalScores scores = scoreboard_.Finish(*settled_);
    {
      const std::lock_guard lock(mutex_);
      settled_.reset();
      report_.final_scores = scores;
      report_.last = scores.last;
      report_.best = scores.best;
      report_.last_at = clock_.Now();
      best_ = Best{scores.best, scoreboard_.best_x()};
    }
    TellBest();
    finished_.Open();
  }
}

void EvaluatorThread::TellBest() {
  if (!on_best_ || scoreboard_.best_x() == told_) return;
  told_ = scoreboard_.best_x();
  on_best_({*scoreboard_.best(), told_});
}

void EvaluatorThread::Evaluate(const learner::Snapshot& snapshot) {
  const learner::Score score = scoreboard_.Evaluate(snapshot);
  TellBest();
  if (score.validation.samples == 0) return;
  {
    const std::lock_guard lock(mutex_);
    report_.last = score;
    report_.last_at = clock_.Now();
    report_.best = scoreboard_.best();
    best_ = Best{*scoreboard_.best(), scoreboard_.best_x()};
  }
  LogScore(score);
  on_score_(score);
}

// A tiny model on a small shard passes thousands of epochs a second.
void EvaluatorThread::LogScore(const learner::Score& score) {
  const Time now = clock_.Now();
  if (logged_ && now - *logged_ < kLogEvery) return;
  logged_ = now;
  if (score.validation.accuracy) {
    log::Info(log::Category::kTraining, "evaluated",
              {{"epoch", score.epoch},
               {"loss", score.validation.loss},
               {"accuracy", *score.validation.accuracy},
               {"train_loss", score.train_loss}});
  } else {
    log::Info(log::Category::kTraining, "evaluated",
              {{"epoch", score.epoch},
               {"loss", score.validation.loss},
               {"train_loss", score.train_loss}});
  }
}

}  // namespace covey::node
