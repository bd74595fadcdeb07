// A whole fleet in one process, on a virtual clock: the daemons' learners and links, without
// sockets or threads.
//
// Determinism: same configurations, same build and kernel level: same bits of every model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/config/node_config.h"
#include "covey/consensus/node.h"
#include "covey/learner/links.h"
#include "covey/learner/scoreboard.h"
#include "covey/setup/assemble.h"
#include "covey/simulate/probe.h"
#include "covey/tensor/flat_vector.h"

namespace covey::simulate {

struct FleetOptions {
  std::vector<Duration> start_after{};     // by node; missing: at once
  bool keep_lowest_loss = false;           // fills FinalScores::lowest_loss
  std::size_t max_events = 2'000'000'000;  // ends a run that would never end
  std::size_t threads = 1;                 // of this run, the caller's included; bits are the same
  Duration spread_every{};                 // how often on_spread is told; 0: never
  // When it has been told so often the interval doubles; 0: never. Whoever drops every second one
  // then keeps at least half as many at one interval. Requires: even.
  std::uint32_t spread_points = 0;
  Duration heal_at{};     // from then on nothing is injected any more; 0: never
  Duration give_up_at{};  // ends a run whose nodes are not done by then; 0: never
  // All nodes train until each has completed so many exchanges, in all its lives, and no shorter
  // than to settle_at; then they go over to their tails together. 0: as their configurations say.
  std::uint64_t settle_after = 0;
  Duration settle_at{};
  Probe* probe = nullptr;  // outlives the run; requires one thread
  PlantedBugs bugs{};      // for tests of the checkers
};

// What a node is at a moment of the run, for progress displays.
struct Progress {
  std::uint32_t node = 0;
  consensus::State state = consensus::State::kTraining;
  double epochs = 0;
  std::uint64_t samples = 0;
};

struct NodeResult {
  learner::FinalScores scores;
  consensus::Counters counters;
  learner::LinkCounters links;
  consensus::FifoCounters fifo;
  std::uint64_t shard = 0;
  std::uint64_t samples = 0;
  double epochs = 0;
  std::uint32_t crashes = 0;
  std::uint32_t pauses = 0;
  bool left = false;     // before the end
  double speed = 1;      // factor of its training: its own and the one that was drawn
  Duration finished{};   // when it was done, for the last time, or left; 0: neither
  tensor::FlatVector x;  // settled; empty when the node never started
};

struct FleetResult {
  std::vector<NodeResult> nodes;
  double spread = 0;  // of the settled models of the nodes that stayed
  Duration virtual_time{};
  bool interrupted = false;
};

// Called between events, in virtual-time order.
struct FleetObserver {
  std::function<void(std::uint32_t node, const learner::Score&, Time now)> on_score = {};
  std::function<void(const Progress&)> on_progress = {};  // after each training phase
  std::function<void(double spread, Time now)> on_spread =
      {};                                  // of two nodes that are there, or more
  std::function<bool()> interrupted = {};  // true: stop and return what there is
};

// What of `faults` concerns the links between nodes is taken from the first node; what concerns a
// node, from its own. Runs the fleet until every node is done. Nodes with M = 0 are never
// connected: controls are fleets too. Several runs may go on at once, each on a thread of its own.
// Errors: kData, kNoInput from the data sets; kNoInput, kData, kConfig from a topology or
// partition; kSoftware when a loss becomes non-finite (says node and batch), and, `where` being
// "simulation", when nodes never get done.
Result<FleetResult> RunFleet(const std::vector<config::NodeConfig>& nodes,
                             const FleetOptions& options, const FleetObserver& observer);

// A node of a run whose data are open already.
struct FleetNode {
  config::NodeConfig config;
  setup::Assembly assembly;
};

// The same for data in memory. Requires: at least one node; assembly i was made for
// VirtualIdentity(i).
Result<FleetResult> RunFleet(std::vector<FleetNode> nodes, const FleetOptions& options,
                             const FleetObserver& observer);

// Who node `index` is. Virtual nodes have no key pairs: their keys are hashes of their numbers.
setup::Identity VirtualIdentity(std::uint32_t index);

// Mean over i of ||x_i - mean(x)||, divided by ||mean(x)||; 0 for fewer than two vectors.
double Spread(const std::vector<tensor::ConstVectorView>& vectors);

}  // namespace covey::simulate
