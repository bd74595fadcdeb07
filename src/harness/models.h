// The models that daemons leave behind in their checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/harness/runner.h"
#include "covey/nn/model.h"
#include "covey/store/model.h"

namespace covey::harness {

struct NodeModel {
  nn::ModelSpec spec;
  std::string state_dir;
  std::uint32_t node = 0;
};

// Fills `best` and `spread` of the outcome from the settled models. Nodes without a readable
// checkpoint are left out.
void LoadModels(const std::vector<NodeModel>& nodes, FleetOutcome& outcome);

// The best model of a run as others can use it: with the input and the classes that its node has.
// Errors: of opening the node's data again.
Result<store::Model> Usable(const Model& best, const config::Experiment& experiment);

}  // namespace covey::harness
