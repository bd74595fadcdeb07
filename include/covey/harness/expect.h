// Whether a run gave what its experiment's `expect:` section states.
#pragma once

#include <string>
#include <vector>

#include "covey/config/experiment.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

// One line of the section, judged.
struct Verdict {
  std::string what;    // "accuracy_min", as in the file
  std::string wanted;  // ">= 0.872"
  std::string got;     // "0.8741", or "not measured"
  bool holds = false;
};

// Judges every expectation that is set, in the order of the file's documentation. A figure that was
// not measured (a control that did not run, an interrupted run) or is not a number does not hold.
std::vector<Verdict> Judge(const config::Expect& expect, const Outcome& outcome);

// Exit code of a run or sweep whose expectations don't all hold.
inline constexpr int kExpectationFails = 1;

// True for no verdicts.
bool AllHold(const std::vector<Verdict>& verdicts);

}  // namespace covey::harness
