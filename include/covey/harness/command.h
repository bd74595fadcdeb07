// The command `covey-sim run`, but for parsing its words.
#pragma once

#include <atomic>
#include <string>

#include "covey/harness/options.h"

namespace covey::harness {

struct Command {
  std::string file;
  Options options;
  std::string out;     // empty: runs/<time>-<name>
  bool quiet = false;  // no progress
  bool json = false;   // summary.json on standard output instead of the table
};

// Runs the experiment; progress and messages go to standard error, results to standard output and
// to the run's folder. `stop` becomes true when the user wants it to end; what there is by then is
// written.
// Returns: the exit code: 0 done and everything expected holds; 1 not; 130 interrupted; else that
// of the error.
// Thread: the main one (children die with it).
int Run(const Command& command, const std::atomic<bool>& stop);

}  // namespace covey::harness
