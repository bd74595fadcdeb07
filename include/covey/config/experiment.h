// An experiment: a template of a node, how many of them, what differs between them, and what must
// come out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/config/node_config.h"

namespace covey::config {

// What one node has for itself.
struct Override {
  Duration start_after{};  // this much later than the others
  // Scalar keys of the node file and their text, e.g. {"consensus.sends", "2"}, {"train.until",
  // "epochs 5"}.
  std::vector<std::pair<std::string, std::string>> set;
};

struct Overrides {
  std::map<std::uint32_t, Override> nodes;  // by index of the node, from 0
  // What the controls train with, when another optimizer serves them better than the fleet's. They
  // start together: start_after is 0.
  Override controls;
};

// What the file requires of the results; unset: not checked. Names as in summary.json.
struct Expect {
  std::optional<double> accuracy;             // consensus, mean over the nodes, at least
  std::optional<double> accuracy_min;         // its worst node, at least
  std::optional<double> monolithic_accuracy;  // at least
  std::optional<double> gain_over_isolated;   // accuracy - isolated accuracy, at least
  std::optional<double> spread;               // after settling, at most
  std::optional<double> samples_per_second;   // all nodes together, at least
  ByteCount bytes_sent_per_node;              // mean over the nodes, at most; 0: not checked
};

struct Experiment {
  enum class Init { kDistinct, kSame };
  enum class Controls { kNone, kMonolithic, kIsolated, kAll };
  enum class Mode { kProcess, kVirtual };

  std::string name = "experiment";
  std::uint32_t nodes = 2;  // 1 to 1024
  data::PartitionSettings partition =
      Iid();  // node i gets part i of `nodes`, or the samples with key i
  Init init = Init::kDistinct;
  Overrides overrides;
  Controls controls = Controls::kNone;
  Mode mode = Mode::kProcess;
  std::uint64_t seed = 1;
  NodeConfig node;  // the template
  Expect expect;

  static data::PartitionSettings Iid() {
    data::PartitionSettings settings;
    settings.kind = data::PartitionSettings::Kind::kIid;
    return settings;
  }
};

enum class Run {
  kConsensus,   // the experiment itself
  kMonolithic,  // control: one node with all the data, as many epochs
  kIsolated,    // control: the same nodes, which never exchange
};

// Makes the nodes of an experiment: node i has index i, name "node<i>", the experiment's seed for
// streams, partition and faults, part i of n, the initial parameters of `init`, and its overrides.
// Controls have the overrides of the controls too, no faults, no tail and do not linger; `until:
// {batches: B}` becomes B * n for the monolithic one, so that it sees as many epochs. Keys, listen,
// seeds and directories are left to whoever starts the nodes. Errors: kConfig when an override's
// key or value is wrong, or a node's settings contradict each other.
Result<std::vector<NodeConfig>> Expand(const Experiment& experiment, Run run = Run::kConsensus);

}  // namespace covey::config
