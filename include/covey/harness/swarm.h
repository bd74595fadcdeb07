// `covey-sim swarm`: many seeds of simulate/swarm.h, each in a process that may crash.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace covey::harness {

struct SwarmCommand {
  std::string seeds = "1..200";  // "A..B", both included, or one
  std::optional<std::uint32_t> nodes;
  std::uint32_t exchanges = 500;
  std::uint32_t jobs = 0;  // processes at once; 0: as many as processors
  bool quiet = false;
  bool json = false;
  bool trace_hash = false;  // of each seed
};

// Runs the seeds, tells on standard error how far they are and which fail, and prints what failed:
// the seed, its parameters and the command that repeats it.
// Returns: the exit code: 0 all green, 1 a seed failed, 64 for the options, 71 when no process can
// be started, 130 interrupted.
// Requires: called before this process has other threads.
int RunSwarms(const SwarmCommand& command, const std::atomic<bool>& stop);

}  // namespace covey::harness
