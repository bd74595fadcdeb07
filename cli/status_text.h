// A daemon's status for people and for programs.
#pragma once

#include <string>

#include "covey/api/types.h"

namespace covey {

// Aligned lines "name  value", then one line a peer.
std::string StatusText(const api::NodeStatus& status);

// One JSON object in one line, schema "covey.status/1". What is not known is absent.
std::string StatusJson(const api::NodeStatus& status);

// The final results, for people and as {"schema":"covey.final/1",...}.
std::string FinalText(const api::FinalResults& results);
std::string FinalJson(const api::FinalResults& results);

}  // namespace covey
