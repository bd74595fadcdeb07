// What a run prints at its end.
#pragma once

#include <string>
#include <vector>

#include "covey/harness/expect.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

// Returns: the results of nodes and controls side by side, what was lost, rates, memory, notes, and
// the expectations with what was got; several lines of at most 100 columns (but for notes), each
// with a newline.
std::string FinalTable(const Outcome& outcome, const std::vector<Verdict>& verdicts);

}  // namespace covey::harness
