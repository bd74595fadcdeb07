// Samples that come while a node runs: what is known of them beforehand.
#pragma once

#include "covey/config/node_config.h"
#include "covey/data/dataset.h"
#include "covey/data/live.h"

namespace covey::setup {

// A data set without samples that has the shape and the answers of the model.
data::Dataset NoSamplesYet(const config::NodeConfig& config);

// like: the training samples as the node reads them.
data::LiveForm LiveFormOf(const config::NodeConfig& config, const data::Dataset& like);

}  // namespace covey::setup
