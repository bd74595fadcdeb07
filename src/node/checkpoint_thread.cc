#include "node/checkpoint_thread.h"

#include <utility>

#include "covey/log/log.h"
#include "covey/node/process.h"

namespace covey::node {

store::Checkpoint MakeCheckpoint(const CheckpointIdentity& identity, learner::Saved saved,
                                 const std::optional<EvaluatorThread::Best>& best) {
  store::Checkpoint checkpoint;
  checkpoint.model = identity.model;
  checkpoint.model_summary = identity.model_summary;
  checkpoint.created_by = identity.created_by;
  checkpoint.session = identity.session;
  checkpoint.x = std::move(saved.x);
  for (auto& [name, values] : saved.optimizer) {
    store::NamedVector named;
    named.name = name;
    named.values = std::move(values);
    checkpoint.optimizer.push_back(std::move(named));
  }
  checkpoint.optimizer_steps = saved.optimizer_steps;
  checkpoint.batches = saved.batches;
  checkpoint.rounds = saved.rounds;
  checkpoint.cursor = saved.cursor;
  if (best && best->x) {
    store::Best to;
    to.loss = best->score.validation.loss;
    to.accuracy = best->score.validation.accuracy;
    to.epoch = best->score.epoch;
    to.x = best->x->Clone();
    checkpoint.best = std::move(to);
    checkpoint.counters.emplace_back("best.batches", best->score.batches);
  }
  return checkpoint;
}

learner::Saved ToSaved(store::Checkpoint& checkpoint) {
  learner::Saved saved;
  saved.x = std::move(checkpoint.x);
  for (store::NamedVector& named : checkpoint.optimizer) {
    saved.optimizer.emplace_back(named.name, std::move(named.values));
  }
  saved.optimizer_steps = checkpoint.optimizer_steps;
  saved.batches = checkpoint.batches;
  saved.rounds = checkpoint.rounds;
  saved.cursor = checkpoint.cursor;
  return saved;
}

CheckpointThread::CheckpointThread(const Clock& clock, CheckpointIdentity identity,
                                   const EvaluatorThread& evaluator)
    : clock_(clock), identity_(std::move(identity)), evaluator_(evaluator) {}

CheckpointThread::~CheckpointThread() { Stop(); }

void CheckpointThread::Restored(const std::string& path, std::uint64_t batches) {
  report_.path = path;
  report_.batches = batches;
  report_.at = clock_.Now();
}

void CheckpointThread::Start() {
  thread_ = std::thread([this] {
    NameThread("checkpoint");
    LowerPriority();
    Run();
  });
}

bool CheckpointThread::Idle() const {
  const std::lock_guard lock(mutex_);
  return !next_ && !writing_ && !stopping_;
}

bool CheckpointThread::Offer(learner::Saved saved) {
  {
    const std::lock_guard lock(mutex_);
    if (next_ || writing_ || stopping_) return false;
    next_ = std::move(saved);
  }
  changed_.notify_one();
  return true;
}

void CheckpointThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    next_.reset();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Status CheckpointThread::WriteLast(learner::Saved saved) {
  Stop();
  return Write(std::move(saved));
}

CheckpointReport CheckpointThread::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

void CheckpointThread::Run() {
  while (true) {
    learner::Saved saved;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || next_; });
      if (stopping_) return;
      saved = std::move(*next_);
      next_.reset();
      writing_ = true;
    }
    // A failure is logged and counted; the next one may succeed.
    [[maybe_unused]] const Status written = Write(std::move(saved));
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
}

Status CheckpointThread::Write(learner::Saved saved) {
  const std::uint64_t batches = saved.batches;
  const auto path =
      store::Save(identity_.folder, MakeCheckpoint(identity_, std::move(saved), evaluator_.best()));
  const std::lock_guard lock(mutex_);
  if (!path) {
    ++report_.failures;
    log::WriteLimited(log::Level::kError, log::Category::kStore, "checkpoint",
                      "can't write a checkpoint: " + path.error().Format());
    return tl::unexpected(path.error());
  }
  report_.path = *path;
  report_.batches = batches;
  report_.at = clock_.Now();
  ++report_.written;
  log::Info(log::Category::kStore, "wrote a checkpoint", {{"path", *path}, {"batches", batches}});
  return {};
}

}  // namespace covey::node
