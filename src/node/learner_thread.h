// The thread that owns x, the optimizer and the core: trains, averages, and asks nobody for
// permission.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "covey/gradient/pace.h"
#include "covey/gradient/workers.h"
#include "covey/learner/learner.h"
#include "covey/node/report.h"
#include "covey/setup/assemble.h"
#include "node/checkpoint_thread.h"
#include "node/clock.h"
#include "node/duty_cycle.h"
#include "node/evaluator_thread.h"
#include "node/gate.h"
#include "node/mailbox.h"
#include "node/outbox.h"

namespace covey::node {

class LearnerThread final : private learner::Host {
 public:
  struct Neighbours {
    const Clock& clock;
    Mailbox& mailbox;
    Outbox& outbox;
    EvaluatorThread& evaluator;
    CheckpointThread& checkpoints;
  };
  // Called on the learner's thread.
  struct Callbacks {
    std::function<void()> wake_network;             // something is in the empty outbox
    std::function<void(const Progress&)> on_stage;  // stage or pause changed
    std::function<void(const Error&)> on_failure;   // the loss is not finite: the thread has ended
  };

  struct Options {
    Duration checkpoint_every{};
    // Of a training step; unset: as many as processors. With more than one the faster of one and
    // all is kept (gradient/pace.h).
    std::optional<std::uint32_t> threads;
    double cpu_limit = 1;        // of one processor (node/duty_cycle.h)
    std::uint64_t start_at = 0;  // samples that training waits for
  };

  LearnerThread(const setup::Assembly& assembly, Neighbours neighbours, const Options& options);
  ~LearnerThread() override { Join(); }

  // Before Start. Errors: as Learner::Restore.
  Status Restore(const learner::Saved& saved);

  void Start(Callbacks callbacks, bool paused);

  // Asks the thread to end after the batch that runs and the messages of the FIFO. Thread: any.
  void Stop();
  // The same, and waits for as long as it takes.
  void Join();
  // Returns: whether it has ended.
  bool WaitEnded(Clock::Source::time_point deadline) { return ended_.WaitUntil(deadline); }

  // After it has ended.
  learner::Saved Save() { return learner_.Save(); }
  learner::Snapshot TakeSnapshot() { return learner_.TakeSnapshot(); }
  const learner::Snapshot& last_good() const { return learner_.last_good(); }

  // Thread: any.
  Progress progress() const;
  // Returns when `reached` holds for the progress, or at the deadline.
  void WaitFor(bool (*reached)(const Progress& progress), Clock::Source::time_point deadline);

 private:
  void Send(consensus::Message message) override;
  void AskToJoin(const PeerKey& peer) override;
  void Publish(learner::Snapshot snapshot) override;
  void TooFar(const PeerKey& peer) override;
  std::optional<consensus::Message> Take() override { return neighbours_.mailbox.Take(); }

  void Run(bool paused);
  void TrainPhase();
  void WaitPhase();
  bool TrainOne();
  bool Rest();
  void HandleNotices(bool training);
  void TakeData();
  bool Holds(const consensus::Commanded& commanded);
  bool Unsaved() const;  // x moved since the last checkpoint
  void SaveWhenDue();
  void Report();

  const Neighbours neighbours_;
  const Duration checkpoint_every_;
  const std::uint64_t start_at_;
  gradient::Workers workers_;
  gradient::Pace pace_;
  DutyCycle duty_;
  learner::Learner learner_;
  Callbacks callbacks_;
  Gate ended_;

  // Of the thread.
  learner::Next next_;
  Duration since_yield_{};
  bool waits_ = false;        // for samples; the core is paused
  bool paused_ = false;       // by command
  bool interrupted_ = false;  // the phase that runs ends after this batch
  bool stopping_ = false;
  bool failed_ = false;
  Time checkpoint_due_{};
  std::uint64_t saved_rounds_ = 0;
  std::uint64_t saved_applied_ = 0;
  double phase_loss_ = 0;
  std::uint64_t phase_samples_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable stage_changed_;
  Progress progress_;

  std::thread thread_;
};

}  // namespace covey::node
