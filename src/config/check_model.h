// Contradictions between the model, its optimizer and how nodes exchange them.
#pragma once

#include <string>
#include <vector>

#include "config/schema.h"
#include "covey/base/result.h"
#include "covey/config/load.h"

namespace covey::config {

// Takes over what the owner of the settings has to say. It names its keys by their path in a node
// file or from its own last word on ("partition.rate"); `section` is where they stand in this file.
void TakeOver(const Status& status, const std::string& section, std::vector<Problem>& problems);

void AddModelProblems(const NodeConfig& config, std::vector<Problem>& problems);

}  // namespace covey::config
