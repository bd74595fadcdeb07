// The files that a run leaves behind for programs to read: summary.json, results.csv,
// metrics.jsonl.
//
// Determinism: two runs in virtual mode with the same seed give the same bytes but for the members
// that kTimedMembers names.
// Thread: pure functions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "covey/harness/expect.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

// The members of summary.json that measure the machine instead of the experiment; all stand at its
// top level.
inline constexpr std::array<std::string_view, 3> kTimedMembers = {
    "wall_seconds", "samples_per_second", "pss_bytes_per_node"};

// Returns: the summary, indented, with a newline at its end. A control or a figure that does not
// exist is absent, never zero. `loss` and `accuracy` of a group are means over its nodes at their
// best evaluation, `last` those of the models that they ended with; "measured_on" says whether on
// the test or on the validation set.
std::string SummaryJson(const Outcome& outcome, const std::vector<Verdict>& verdicts);

// Returns: a header and one row for each node and control. Absent figures are empty fields.
std::string ResultsCsv(const Outcome& outcome);

// Returns: one line for an evaluation, with a newline at its end.
std::string MetricsLine(Group group, std::uint32_t index, const Point& point);

}  // namespace covey::harness
