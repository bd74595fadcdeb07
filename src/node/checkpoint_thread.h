// Writes checkpoints on a thread of its own: disks are slow and training does not wait for them.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/learner/learner.h"
#include "covey/node/report.h"
#include "covey/store/checkpoint.h"
#include "node/clock.h"
#include "node/evaluator_thread.h"

namespace covey::node {

// What goes into a checkpoint besides the learner's state and the best model.
struct CheckpointIdentity {
  std::string folder;
  Digest model;
  std::string model_summary;
  std::string created_by;
  SessionId session;
};

// Returns: the file's content.
store::Checkpoint MakeCheckpoint(const CheckpointIdentity& identity, learner::Saved saved,
                                 const std::optional<EvaluatorThread::Best>& best);
// The way back. Requires: store::Load has accepted it.
learner::Saved ToSaved(store::Checkpoint& checkpoint);

class CheckpointThread {
 public:
  CheckpointThread(const Clock& clock, CheckpointIdentity identity,
                   const EvaluatorThread& evaluator);
  ~CheckpointThread();

  // The node went on from this file.
  void Restored(const std::string& path, std::uint64_t batches);

  void Start();

  // Whether Offer would be taken: nothing is being written. Thread: any.
  bool Idle() const;
  // Returns: false, and drops it, while another one is being written. Never blocks. Thread: any.
  bool Offer(learner::Saved saved);

  // The last one: waits for the one that is being written, ends the thread, writes on the caller's
  // thread.
  Status WriteLast(learner::Saved saved);
  // Ends the thread after the file that is being written.
  void Stop();

  CheckpointReport report() const;

 private:
  void Run();
  Status Write(learner::Saved saved);

  const Clock& clock_;
  const CheckpointIdentity identity_;
  const EvaluatorThread& evaluator_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<learner::Saved> next_;
  bool writing_ = false;
  bool stopping_ = false;
  CheckpointReport report_;

  std::thread thread_;
};

}  // namespace covey::node
