// What may be wrong with the section `faults` as a whole: a part of check.cc.
#pragma once

#include <vector>

#include "config/schema.h"
#include "covey/config/experiment.h"
#include "covey/config/load.h"

namespace covey::config {

// Of every file that has the section.
void AddFaultProblems(const FaultSettings& faults, std::vector<Problem>& problems);
// Of an experiment: what depends on the number of nodes and on the mode.
void AddFaultProblems(const Experiment& experiment, std::vector<Problem>& problems);
// Of the file of a daemon, which honours only the first half of the section.
std::vector<Problem> DaemonProblems(const FaultSettings& faults);

}  // namespace covey::config
