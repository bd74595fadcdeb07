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
#include "covey/simulate/network.h"
#include "covey/tensor/flat_vector.h"

namespace covey::simulate {

struct FleetOptions {
  LinkModel link;
  double samples_per_second =
      100000;  // of a simulated node: what a training phase costs in virtual time
  std::vector<Duration> start_after;       // by node; missing: at once
  bool keep_lowest_loss = false;           // fills FinalScores::lowest_loss
  std::size_t max_events = 2'000'000'000;  // ends a run that would never end
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
  tensor::FlatVector x;  // settled
};

struct FleetResult {
  std::vector<NodeResult> nodes;
  double spread = 0;  // of the settled models
  Duration virtual_time{};
  bool interrupted = false;
};

// Called between events, in virtual-time order.
struct FleetObserver {
  std::function<void(std::uint32_t node, const learner::Score&, Time now)> on_score;
  std::function<void(const Progress&)> on_progress;  // after each training phase
  std::function<bool()> interrupted;                 // true: stop and return what there is
};

// Runs the fleet until every node is done. Nodes with M = 0 are never connected: controls are
// fleets too.
// Errors: kData, kNoInput from the data sets; kSoftware when a loss becomes non-finite (says node
// and batch).
Result<FleetResult> RunFleet(const std::vector<config::NodeConfig>& nodes,
                             const FleetOptions& options, const FleetObserver& observer);

// Mean over i of ||x_i - mean(x)||, divided by ||mean(x)||; 0 for fewer than two vectors.
double Spread(const std::vector<tensor::ConstVectorView>& vectors);

}  // namespace covey::simulate
