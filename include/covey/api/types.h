// What a daemon says about itself over its local API: plain structs, the same for every client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace covey::api {

enum class State : std::uint8_t {
  kStarting,  // not ready yet
  kJoining,   // waits for a copy of a peer's parameters
  kTraining,
  kSettling,  // exchanges without training
  kDone,      // initiates nothing, still answers
  kLeaving,   // said goodbye; final evaluation, checkpoint, exit
};

std::string_view Name(State state);  // "training"

// What is measured beside the loss, as far as the model's loss gives it a meaning.
struct Metrics {
  std::optional<double> top5;  // [0, 1]: label among the five best classes; more than 5 classes
  std::optional<double> mean_squared_error;   // regression
  std::optional<double> mean_absolute_error;  // regression
  std::optional<double> r2;                   // regression; at most 1

  bool operator==(const Metrics&) const = default;
};

// One evaluation of published parameters on the validation set.
// Units: epoch in passes over the node's own shard; loss is the mean of the model's loss
// (cross-entropies: nats).
struct Evaluation {
  double epoch = 0;
  std::uint64_t batches = 0;
  double loss = 0;
  std::optional<double> accuracy;  // [0, 1]; absent in regression
  std::uint64_t time_ns = 0;       // CLOCK_MONOTONIC of this machine
  Metrics metrics = {};
};

// One model measured on both sets. A set that the node does not have is absent.
struct Score {
  double epoch = 0;
  std::optional<double> validation_loss;
  std::optional<double> validation_accuracy;
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  Metrics validation_metrics = {};
  Metrics test_metrics = {};
};

// best: the best model on the validation set, by accuracy or else by loss (the settled one
// competes). last: the settled model.
struct FinalResults {
  Score best;
  Score last;
  // Of the best model on the test set, else on the validation set: [classes][classes] samples, row
  // the label, column the answer. Empty without labels, and above 256 classes.
  std::vector<std::uint32_t> confusion = {};
};

struct Traffic {
  std::uint64_t weights_sent = 0;     // handed to the network
  std::uint64_t weights_dropped = 0;  // by injected faults
  std::uint64_t deltas_sent = 0;
  std::uint64_t deltas_dropped = 0;
  std::uint64_t weights_received = 0;  // whole messages that passed every gate
  std::uint64_t deltas_received = 0;
  std::uint64_t bytes_sent = 0;  // frames, with envelopes
  std::uint64_t bytes_received = 0;
  std::uint64_t resumed = 0;  // messages received that went on where an earlier link broke
  double send_rate = 0;       // bytes a second, over the last minute
  std::optional<std::uint64_t> quota_left;  // of network.daily_quota, what may be sent at once
};

struct Peer {
  std::string key;                    // 64 hex digits
  std::string address;                // "tcp://127.0.0.1:7420"
  std::string state;                  // "up", "connecting", "down"
  double since_seconds = 0;           // how long in that state
  std::optional<double> rtt_seconds;  // of the last ping
};

// Somebody whom the node knows of, with a link or without.
struct Member {
  std::string key;                      // 64 hex digits
  std::string address;                  // "192.168.1.7:7420"; empty: it can't be dialled
  std::string state;                    // "unknown", "alive", "suspect", "dead", "left"
  std::string reason;                   // of suspect, dead and left
  double since_seconds = 0;             // how long in that state
  std::optional<double> heard_seconds;  // since it was heard of; absent: never
  bool linked = false;
  bool dialled = false;               // by us, or we try
  std::string problem;                // why the last attempt to reach it failed
  std::string software;               // "covey 0.1.0"; empty: no link
  std::optional<double> rtt_seconds;  // of the last ping
  std::uint64_t pings = 0;            // sent on its link
  std::uint64_t pongs = 0;            // of them answered

  bool operator==(const Member&) const = default;
};

struct CheckpointInfo {
  std::string path;  // of the newest one that was written and verified; empty: none yet
  std::uint64_t batches = 0;
  double age_seconds = 0;
  std::uint64_t written = 0;  // in this life of the process
  std::uint64_t failures = 0;
};

// Who takes part by the operator's word, as far as this node has heard.
struct Admissions {
  std::uint64_t admitted = 0;
  std::uint64_t revoked = 0;  // keys and invitations
  std::uint64_t let_in = 0;   // of the admitted: at this node's door, in this life
};

// Samples that arrive while the node runs. Counters of samples: this life.
struct LiveStatus {
  std::uint64_t to_train = 0;   // samples that are kept
  std::uint64_t set_aside = 0;  // of them to judge by
  std::uint64_t start_at = 0;   // to train on before training begins
  bool waiting = false;         // training waits for them
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t quarantined = 0;                               // files
  std::string last_rejected;                                   // why
  std::optional<double> age_seconds;                           // of the newest sample
  std::vector<std::pair<std::string, std::uint64_t>> classes;  // kept samples of each
};

// Times are of the daemon's machine. Counters cover this life of the process unless they say
// otherwise.
struct NodeStatus {
  std::string name;
  std::string key;  // 64 hex digits
  std::string fleet;
  std::uint32_t pid = 0;
  std::string version;       // "0.1.0"
  std::string build;         // git commit
  std::string kernel_level;  // "v3"
  std::uint32_t protocol = 0;
  std::string model;             // "mlp 784-72-10"
  std::uint64_t parameters = 0;  // size of the exchanged vector
  State state = State::kStarting;
  bool paused = false;
  double uptime_seconds = 0;
  // Progress. epochs, batches and rounds go on from a checkpoint.
  double epochs = 0;
  std::uint64_t batches = 0;
  std::uint64_t until_batches = 0;  // 0: for ever
  std::uint64_t rounds = 0;
  std::uint64_t samples = 0;         // trained in this life
  double samples_per_second = 0;     // from first to last training batch of this life
  std::uint64_t first_batch_ns = 0;  // CLOCK_MONOTONIC at its start; 0: none yet
  std::uint64_t last_batch_ns = 0;   // CLOCK_MONOTONIC at its end
  double train_loss = 0;             // mean over the batches of the last rounds
  std::optional<Evaluation> last_evaluation;
  std::optional<Evaluation> best_evaluation;
  std::uint64_t evaluations_skipped = 0;      // snapshots that the evaluator had no time for
  std::optional<FinalResults> final_results;  // once the node left
  Traffic traffic;
  std::vector<std::pair<std::string, std::uint64_t>>
      rejects;  // reason, how many; zero ones left out
  std::uint64_t fifo_size = 0;
  std::uint64_t fifo_bytes = 0;
  std::uint64_t fifo_evicted = 0;
  std::vector<Peer> peers;  // links
  std::vector<Member> members;
  std::vector<std::string> endpoints;  // bound: "tcp://127.0.0.1:7420"
  std::string api_socket;
  std::uint64_t pss_bytes = 0;
  std::uint64_t peak_pss_bytes = 0;  // of the samples taken so far
  CheckpointInfo checkpoint;
  std::optional<LiveStatus> live;        // with data.live
  std::optional<Admissions> admissions;  // with fleet.operator_key
};

// What the raw samples of the node's model look like.
struct InputForm {
  std::vector<std::size_t> shape;     // of one sample
  std::vector<std::string> features;  // "height", "colour=red", in their order; or none are known
  bool resize_images = false;         // to the shape; otherwise they must have it

  bool operator==(const InputForm&) const = default;
};

// Samples to be answered by the published model.
// Shapes: values [samples][features], raw numbers as in the data.
struct Question {
  std::vector<float> values;
  std::uint32_t top = 5;  // classes of each answer; 0: all
};

// Samples to learn from: either numbers with classes or targets, or lines of a table.
// Shapes: values [samples][features], raw; classes [samples], names or numbers; targets
// [samples][outputs].
struct Samples {
  std::vector<float> values;
  std::vector<std::string> classes;
  std::vector<float> targets;
  std::string table;  // its first line may be a header
};

// What became of them. Accepted samples are on the disk.
struct Pushed {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::string reason;  // of the first that was rejected
};

struct RankedClass {
  std::uint32_t index = 0;
  std::string label;      // its number when classes have no names
  float probability = 0;  // [0, 1]

  bool operator==(const RankedClass&) const = default;
};

// To one sample: classes, the most probable first, or the values of a regression.
struct Answer {
  std::vector<RankedClass> classes;
  std::vector<float> values;

  bool operator==(const Answer&) const = default;
};

struct Predictions {
  std::vector<Answer> answers;  // one a sample
  std::uint64_t version = 0;    // of the published model; 0: its files are not written yet
  std::uint64_t batches = 0;    // that the model was trained on
};

// What a model gave out, as answers.
// Shapes: outputs [samples][n], n > 0; labels none or n. top: as in Question.
std::vector<Answer> RankAnswers(std::span<const float> outputs, std::size_t n,
                                const std::vector<std::string>& labels, std::uint32_t top);
std::vector<Answer> ValueAnswers(std::span<const float> outputs, std::size_t n);

enum class Command : std::uint8_t { kPause, kResume, kSettle, kLeave };
std::string_view Name(Command command);  // "pause"

// Something that happened, told to subscribers in order. A subscriber that does not read loses
// events; `sequence` then has gaps.
struct Event {
  enum class Kind : std::uint8_t {
    kEvaluated,     // evaluation is set
    kStateChanged,  // state and paused are set
    kFinished,      // final_results are set; the daemon writes its checkpoint and exits
  };
  Kind kind = Kind::kStateChanged;
  std::uint64_t sequence = 0;  // of the server, without gaps
  State state = State::kStarting;
  bool paused = false;
  Evaluation evaluation;
  FinalResults final_results;
  // With every event: where the node stands.
  double epochs = 0;
  std::uint64_t batches = 0;
};

}  // namespace covey::api
