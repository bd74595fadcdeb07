// What a daemon knows about itself at a moment, and what it tells an observer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/time.h"
#include "covey/consensus/fifo.h"
#include "covey/consensus/node.h"
#include "covey/learner/links.h"
#include "covey/learner/scoreboard.h"
#include "covey/membership/book.h"
#include "covey/membership/invitation.h"

namespace covey::node {

// Where the node stands. The states of the core, and what comes before and after them.
enum class Stage : std::uint8_t { kStarting, kJoining, kTraining, kSettling, kDone, kLeaving };

std::string_view Name(Stage stage);  // "training"

// Of the learner thread, as of its last round.
struct Progress {
  Stage stage = Stage::kStarting;
  bool paused = false;
  bool waits = false;  // for enough samples to train on
  consensus::Counters core;
  double epochs = 0;
  std::uint64_t samples = 0;        // trained in this life
  std::optional<Time> first_batch;  // when its first phase began
  std::optional<Time> last_batch;   // when its last phase ended
  double train_loss = 0;            // mean over the last rounds, exponentially weighted
};

struct EvaluationReport {
  std::optional<learner::Score> last;
  std::optional<learner::Score> best;
  std::optional<learner::FinalScores> final_scores;
  Time last_at{};             // when `last` was ready
  std::uint64_t skipped = 0;  // snapshots that were never evaluated: the queue was full
};

struct CheckpointReport {
  std::string path;  // newest that was written and verified, or loaded; empty: none
  std::uint64_t batches = 0;
  Time at{};
  std::uint64_t written = 0;
  std::uint64_t failures = 0;
};

struct PublishReport {
  std::string path;  // of the newest file of this life; empty: none
  std::uint64_t version = 0;
  Time at{};
  std::uint64_t written = 0;
  std::uint64_t failures = 0;
  std::uint64_t withheld = 0;  // by the quality gate
};

// Of data that arrive while the node runs.
struct LiveReport {
  std::uint64_t to_train = 0;   // samples that are kept
  std::uint64_t set_aside = 0;  // to judge by
  std::uint64_t start_at = 0;   // to train on before training begins
  std::uint64_t accepted = 0;   // in this life
  std::uint64_t rejected = 0;
  std::uint64_t quarantined = 0;  // files
  std::string last_rejected;      // why; empty: none yet
  std::optional<Duration> age;    // of the newest sample of this life
  // Kept samples of each class; empty with targets.
  std::vector<std::uint64_t> classes;
};

// What became of samples that were pushed.
struct Pushed {
  std::uint64_t accepted = 0;  // on the disk
  std::uint64_t rejected = 0;
  std::string reason;  // of the first that was rejected
};

// What the published model answers.
// Shapes: outputs [samples][outputs of the model]: probabilities, or values of a regression.
struct Prediction {
  std::vector<float> outputs;
  std::size_t samples = 0;
  std::uint64_t version = 0;  // of the published files; 0: not written yet
  std::uint64_t batches = 0;  // that the model was trained on
};

// Of the operator's records.
struct AdmissionsReport {
  std::size_t admitted = 0;
  std::size_t revoked = 0;
  std::uint64_t let_in = 0;                                    // at this node's door, in this life
  std::array<std::uint64_t, membership::kRefusals> refused{};  // by membership::Refusal
};

struct NetworkReport {
  learner::LinkCounters links;
  std::vector<learner::PeerInfo> peers;
  Time at{};
  double send_rate = 0;                        // bytes a second, over the last minute
  std::optional<std::uint64_t> quota_left;     // of network.daily_quota
  std::vector<membership::Known> members;      // whoever is known, with links or without
  std::map<PeerKey, std::string> problems;     // why those that are dialled are not reached
  std::optional<AdmissionsReport> admissions;  // with fleet.operator_key
};

struct FifoReport {
  std::size_t size = 0;
  std::uint64_t bytes = 0;
  consensus::FifoCounters counters;
};

struct Report {
  Time now{};
  Progress progress;
  EvaluationReport evaluation;
  CheckpointReport checkpoint;
  PublishReport publish;
  NetworkReport network;
  FifoReport fifo;
  std::optional<LiveReport> live;    // with data.live
  std::uint64_t outbox_dropped = 0;  // own WEIGHTS that the network thread had no time for
  std::string endpoint;
  std::uint64_t pss_bytes = 0;
  std::uint64_t peak_pss_bytes = 0;
};

// Told what happens, on the thread where it happens; must return at once.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnEvaluated(const learner::Score& score, const Progress& progress, Time now) = 0;
  virtual void OnStage(const Progress& progress) = 0;
  virtual void OnFinished(const learner::FinalScores& scores, const Progress& progress) = 0;
};

}  // namespace covey::node
