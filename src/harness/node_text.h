// The outcome of one node as text, for handing it from one process to another.
#pragma once

#include <string>
#include <string_view>

#include "covey/base/result.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

std::string ToJsonText(const NodeOutcome& node);

// Errors: kData: it is not such a text.
Result<NodeOutcome> NodeFromJson(std::string_view text);

}  // namespace covey::harness
