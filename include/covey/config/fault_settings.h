// What goes wrong in an experiment: one section of the file, one seed, for daemons and simulated
// nodes.
//
// Daemon and simulator do what the first half of FaultSettings says: it concerns what a node sends.
// Links between nodes, partitions, and the life of nodes only a simulator can shape:
// `covey-sim run --mode virtual`; every other program refuses them (Contradictions). Laws, units
// and limits: docs/simulator.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/base/time.h"

namespace covey::config {

// Who may talk to whom.
struct TopologySettings {
  enum class Kind {
    kAny,            // everybody; above 64 nodes a partial view of `peers` random links a node
    kRing,           // two neighbours
    kGrid,           // up to four, in the squarest grid that holds all
    kRandomRegular,  // `degree` neighbours drawn at random
    kFile,           // pairs of `file`
    kDistance,       // who is within `range` of whom, while all move
  };
  Kind kind = Kind::kAny;
  std::uint32_t peers = 16;  // kAny above 64 nodes: links of a node on average
  Duration refresh{};        // the same: a node replaces one of them so often; 0: never
  std::uint32_t degree = 4;  // kRandomRegular
  std::string file;          // kFile: "a b" on each line, indices from 0
  double range = 30;         // kDistance, m
  double area = 100;         // kDistance: side of the square that nodes move in, m
  double velocity = 0;       // kDistance, m/s
  bool operator==(const TopologySettings&) const = default;
};

struct LinkFaults {
  Duration delay = std::chrono::microseconds(300);  // one way: the mean
  Duration delay_min{};                             // never less; at most the mean
  double delay_tail = 0;            // sigma of the log-normal law of what exceeds delay_min
  ByteCount bandwidth{1ull << 30};  // bytes a second, each direction
  Duration clog_every{};            // mean time from one clog of a direction to the next; 0: never
  Duration clog_for = std::chrono::seconds(1);  // mean length of a clog
  TopologySettings topology;
  bool operator==(const LinkFaults&) const = default;
};

// Groups that can't reach each other for a while.
struct PartitionFault {
  Duration at{};
  Duration lasts = std::chrono::seconds(60);
  std::string groups = "halves";  // or "0-3, 7 | 4-6": nodes that are not named reach everybody
  bool one_way = false;           // only what the first group sends is held up
  bool operator==(const PartitionFault&) const = default;
};

// The life of a node. Times count from the start of the run.
struct NodeFaults {
  double samples_per_second = 100000;  // that a node trains
  double speed = 1;                    // factor of this node's
  double speed_spread = 0;             // sigma of a log-normal factor, drawn for each node
  Duration pause_every{};              // mean time from one pause to the next; 0: never
  Duration pause_for = std::chrono::seconds(1);  // mean length
  Duration crash_at{};                           // 0: not at a given time
  Duration crash_every{};                        // mean time from one crash to the next; 0: never
  Duration down_for = std::chrono::seconds(10);  // from a crash to the restart
  Duration leave_at{};                           // says goodbye and is gone; 0: stays
  bool operator==(const NodeFaults&) const = default;
};

struct FaultSettings {
  // Of messages and frames on their way out; probabilities 0 to 1.
  double weights_drop = 0;
  double deltas_drop = 0;
  double duplicate = 0;
  Duration delay{};        // of every message
  Duration reorder{};      // a message leaves up to so much later, drawn evenly
  double corrupt = 0;      // a bit of a frame is flipped
  double cut = 0;          // the link is lost instead of sending a frame
  ByteCount throttle{};    // bytes a second that the node sends; 0: no limit
  std::uint64_t seed = 0;  // 0: node.seed

  // Simulated only.
  LinkFaults links;
  std::vector<PartitionFault> partitions;
  NodeFaults nodes;

  bool any() const {
    return weights_drop > 0 || deltas_drop > 0 || duplicate > 0 || delay > Duration::zero() ||
           reorder > Duration::zero() || corrupt > 0 || cut > 0 || throttle.value > 0;
  }
  // Returns: the first key that only a simulator honours and that is not at its default; empty:
  // none.
  std::string SimulatedKey() const {
    if (!(links == LinkFaults{})) return "faults.links";
    if (!partitions.empty()) return "faults.partitions";
    return nodes == NodeFaults{} ? std::string() : "faults.nodes";
  }
};

// Returns: the nodes of each group of a partition, in index order.
// Errors: kConfig for text that is no list of groups, fewer than two groups, an empty one, a node
// that is not below `nodes` or that is named twice.
Result<std::vector<std::vector<std::uint32_t>>> ParseGroups(const std::string& text,
                                                            std::uint32_t nodes);

}  // namespace covey::config
