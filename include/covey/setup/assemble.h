// From a node's configuration to what a learner is built from. Daemon and simulator share it, so
// that both run the same thing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "covey/data/dataset.h"
#include "covey/data/live.h"
#include "covey/data/partition.h"
#include "covey/learner/learner.h"
#include "covey/learner/links.h"
#include "covey/setup/open_sets.h"

namespace covey::setup {

// Who the node is in this life: what the configuration can't say.
struct Identity {
  PeerKey key;
  SessionId session;           // drawn at each start; exchange ids count from it
  bool authenticated = false;  // the transport authenticates frames (CURVE): no checksums needed
};

// The data of a node; nodes of one machine share the pages.
struct NodeData {
  data::Dataset train;
  data::Indices shard;       // rows of `train` that this node trains on
  data::Indices validation;  // rows of `train` kept aside, the same on every node
  std::optional<data::Dataset> test;
};

struct Assembly {
  learner::Settings learner;
  learner::LinkSettings links;
  NodeData data;
  std::uint64_t batches_per_epoch = 0;
  double until_accuracy = 0;  // on the validation set; 0: not a criterion
  // With data.live: what its samples look like. The shard may be empty then.
  std::optional<data::LiveForm> live;
};

// Opens the data and computes what depends on them: epochs become batches, fractions of the run
// become rounds.
// Requires: config::Check passed, config::FillPaths done.
// Errors: kNoInput, kData, kNoPermission from the data files; kData when the data don't fit the
// model (features, classes, targets, symbols), the shard is empty or smaller than a batch, or
// `until: accuracy` has no validation set.
// `sets`: where data sets are looked up and left; null: opened anew.
Result<Assembly> Assemble(const config::NodeConfig& config, const Identity& identity,
                          OpenSets* sets = nullptr);

// The same for data that are in memory already. Errors: as Assemble, but for the files'.
Result<Assembly> AssembleWith(const config::NodeConfig& config, const Identity& identity,
                              NodeData data);

}  // namespace covey::setup
