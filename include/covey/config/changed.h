// What of a node's settings is not at its default.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "covey/config/node_config.h"

namespace covey::config {

// Returns: the keys below `section` ("faults") whose values are not the defaults, in the order of
// the description, and their text as a file has it. An entry of a list of sections is one key:
// {"faults.partitions[0]", "at 10s, for 1min, groups halves, one_way false"}.
// Thread: pure.
std::vector<std::pair<std::string, std::string>> Changed(const NodeConfig& config,
                                                         const std::string& section);

}  // namespace covey::config
