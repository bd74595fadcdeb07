// The report that a person wants to show: one self-contained HTML page without scripts.
#pragma once

#include <string>
#include <vector>

#include "covey/harness/expect.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

// Returns: the page. Sections without data are left out; every text from outside is escaped. It
// follows the reader's light or dark scheme and prints in light colours.
// Thread: pure function.
std::string ReportHtml(const Outcome& outcome, const std::vector<Verdict>& verdicts);

}  // namespace covey::harness
