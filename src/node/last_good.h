// What is saved of a training that went wrong.
#pragma once

#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "covey/learner/learner.h"

namespace covey::node {

// Writes the parameters that were published last to <state_dir>/last-good.safetensors: they are
// still worth something. Returns: `error` with what was done in its hint.
Error KeepLastGood(const config::NodeConfig& config, const learner::Snapshot& good, Error error);

}  // namespace covey::node
