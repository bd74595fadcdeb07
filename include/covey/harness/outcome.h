// What one run of an experiment gave: the figures from which summary, tables and report are made.
//
// Every figure of quality is taken on the common validation or test set. `best` is the model of a
// node at its best evaluation on the validation set (the settled model competes), `last` is the
// model that it ended with.
// Units: accuracy in [0, 1]; loss as the model has it; epochs of the node's own shard; seconds
// since the start of the run.
// Thread: plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace covey::harness {

// The nodes under test and the two controls beside them.
enum class Group : std::uint8_t { kConsensus, kMonolithic, kIsolated };

// Returns: "consensus", "monolithic", "isolated".
std::string_view Name(Group group);

// What a model was measured at. What has no meaning for its loss is absent, never zero.
struct Score {
  double loss = 0;
  std::optional<double> accuracy;
  std::optional<double> r2 = {};  // regression
  std::optional<double> mean_absolute_error = {};

  // The figure by which people compare: higher is better, 1 is perfect.
  const std::optional<double>& quality() const { return accuracy ? accuracy : r2; }
};

// Whether a is the better one: by accuracy, else by loss.
inline bool IsBetter(const Score& a, const Score& b) {
  if (a.accuracy && b.accuracy) return *a.accuracy > *b.accuracy;
  return a.loss < b.loss;
}

// One evaluation on the validation set.
struct Point {
  double epoch = 0;
  double seconds = 0;  // of the run: wall clock, or virtual time in virtual mode
  Score validation;
};

// A model that was selected (best or last), measured on both sets. A set that the experiment does
// not have is absent.
// Invariant: at least one is there.
struct Selected {
  double epoch = 0;
  std::optional<Score> validation;
  std::optional<Score> test;

  // What the summary reports: the test set, or the validation set when there is no other.
  const Score& reported() const { return test ? *test : *validation; }
  // What models are chosen by.
  const Score& judged() const { return validation ? *validation : *test; }
};

// Messages as the algorithm sent them. Dropped ones (by injected faults) are part of the sent ones.
struct Traffic {
  std::uint64_t weights_sent = 0;
  std::uint64_t weights_dropped = 0;
  std::uint64_t weights_received = 0;
  std::uint64_t deltas_sent = 0;
  std::uint64_t deltas_dropped = 0;
  std::uint64_t deltas_received = 0;
  std::uint64_t bytes_sent = 0;

  Traffic& operator+=(const Traffic& other);
};

// How a node ended.
enum class End : std::uint8_t {
  kDone,         // trained, settled and left
  kDied,         // ended without being asked to
  kInterrupted,  // the run was stopped before it was done
};

std::string_view Name(End end);

// What became of a simulated node.
struct NodeLife {
  std::uint32_t crashes = 0;
  bool left = false;    // before the end
  double speed = 1;     // factor of its training
  double finished = 0;  // virtual seconds from the start until it was done or left; 0: neither
};

struct NodeOutcome {
  Group group = Group::kConsensus;
  std::uint32_t index = 0;
  End end = End::kDone;
  std::string reason;  // of kDied: "signal 9 (Killed)", "exit code 78"
  std::vector<Point> curve;
  std::optional<Selected> best;
  std::optional<Selected> last;
  std::optional<Selected> lowest_loss = {};  // at its lowest validation loss, where that was asked
  std::uint64_t shard = 0;                   // training samples that the node holds
  std::uint64_t samples = 0;                 // trained, repeats counted
  double epochs = 0;
  std::uint64_t rounds = 0;
  Traffic traffic;
  std::uint64_t pss_bytes = 0;  // peak; 0 when not measured
  // From its first to its last training batch; 0 when not measured.
  double samples_per_second = 0;
  std::optional<NodeLife> life = {};  // of consensus nodes on the virtual clock
};

struct Setting {
  std::string name;
  std::string value;
  bool operator==(const Setting&) const = default;
};

struct Outcome {
  std::string experiment;
  std::string description;  // one sentence, may be empty
  std::uint64_t seed = 0;
  std::uint32_t nodes = 0;
  std::string mode;  // "process" or "virtual"
  bool interrupted = false;
  double wall_seconds = 0;
  double virtual_seconds = 0;  // that the consensus nodes took; 0: they were daemons
  // Over the consensus nodes together, from first to last training batch.
  double samples_per_second = 0;
  // Mean of ||x_i - mean(x)||, divided by ||mean(x)||, over the settled models; absent below two of
  // them.
  std::optional<double> spread;
  // The same while the run went on: virtual seconds and spread. Virtual mode, up to 64 nodes.
  std::vector<std::pair<double, double>> spread_curve = {};
  std::vector<NodeOutcome> runs;  // by group, then by index
  // Pairs of consensus nodes that could exchange; empty: unknown, or none.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links = {};
  std::vector<std::string> notes;  // what a reader must know: nodes that died, messages refused
  // For the report.
  std::string model;    // "mlp 784-72-10"
  std::string build;    // version and kernel level
  std::string command;  // repeats the run
  std::vector<Setting> settings;
};

// The figures of one group, over its nodes that are done (all that have figures when none is done).
// Absent when the group was not asked for or has nothing to show.
struct GroupFigures {
  std::size_t nodes = 0;
  Score best;                            // mean of reported()
  std::optional<Score> best_validation;  // mean, when all have one
  std::optional<double> quality_min;     // of reported(), over the nodes
  std::optional<double> quality_max;
  double best_epoch = 0;  // mean
  Score last;
  std::optional<Score> last_validation;
  double last_epoch = 0;
  bool on_test_set = false;  // whether `best` and `last` are of the test set
};

std::optional<GroupFigures> Figures(const Outcome& outcome, Group group);

// The nodes that Figures averages, in order.
std::vector<const NodeOutcome*> Counted(const Outcome& outcome, Group group);

// Sum over all consensus nodes, also those that died.
Traffic TotalTraffic(const Outcome& outcome);

// The largest peak of the consensus nodes, in bytes; 0 when not measured.
std::uint64_t LargestPss(const Outcome& outcome);

// A curve of a group over epochs.
struct Band {
  double epoch = 0;
  Score mean;
  Score low;   // smallest loss and smallest other figures of a node
  Score high;  // largest
};

// The nodes' validation curves on common epochs, linear between evaluations; an epoch is left out
// where fewer than half of the nodes have a value. At most `points` of them, evenly chosen; the
// last is always kept.
// Requires: points >= 2.
std::vector<Band> MeanCurve(const Outcome& outcome, Group group, std::size_t points = 200);

}  // namespace covey::harness
