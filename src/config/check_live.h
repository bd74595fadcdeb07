// What may be wrong with data.live beside other keys: a part of check.cc.
#pragma once

#include <vector>

#include "config/schema.h"
#include "covey/config/experiment.h"

namespace covey::config {

void AddLiveProblems(const NodeConfig& config, std::vector<Problem>& problems);
// An experiment divides data that are there.
void AddLiveProblems(const Experiment& experiment, std::vector<Problem>& problems);

}  // namespace covey::config
