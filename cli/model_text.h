// What a model is and costs, for people and for programs.
#pragma once

#include <string>

#include "covey/config/node_config.h"

namespace covey {

// A table of the layers with their shapes, parameters and multiply-adds, then what training it
// takes.
// Requires: config::Check passed.
std::string ModelText(const config::NodeConfig& config);

// The same as one JSON object in one line, schema "covey.model/1".
std::string ModelJson(const config::NodeConfig& config);

}  // namespace covey
