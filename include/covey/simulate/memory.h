// How much memory a simulated fleet will need, known before it is built.
#pragma once

#include <cstdint>
#include <vector>

#include "covey/config/node_config.h"

namespace covey::simulate {

// Equation, a node: 4 P (5 + slots of the optimizer + 4 if it exchanges) + activations of a batch,
//   twice, + 256 KiB. The five: x, the published snapshot, the best one, the encoded model and the
//   reply; the four: messages that are under way. Twice that for nodes that may crash: checkpoints.
// The files of samples are mapped and shared; they are not counted.
// Returns: bytes. Requires: valid configurations.
// Source: fitted to measurements from 100 to 1,000 nodes of the MLP; docs/simulator.md has them.
std::uint64_t EstimateMemory(const std::vector<config::NodeConfig>& nodes);

}  // namespace covey::simulate
