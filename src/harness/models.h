// The models that daemons leave behind in their checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/harness/runner.h"
#include "covey/nn/model.h"

namespace covey::harness {

struct NodeModel {
  nn::ModelSpec spec;
  std::string state_dir;
  std::uint32_t node = 0;
};

// Fills `best` and `spread` of the outcome from the settled models. Nodes without a readable
// checkpoint are left out.
void LoadModels(const std::vector<NodeModel>& nodes, FleetOutcome& outcome);

}  // namespace covey::harness
