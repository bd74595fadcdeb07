// Whether the machine's memory holds the fleets that are about to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/harness/jobs.h"

namespace covey::harness {

// What larger fleets need is a note of their results.
inline constexpr std::size_t kLargeFleet = 64;

// Returns: bytes of the machine; 0: unknown.
std::uint64_t MachineMemory();

// `who`: "1000 nodes of this model". `machine`: bytes; 0: unknown, then everything fits.
// Errors: kUnavailable when they need more than there is.
Status FitsMachine(const std::string& who, std::uint64_t needed, std::uint64_t machine);

// How many jobs run at once, and what the largest so many need together.
struct JobsAtOnce {
  std::size_t jobs = 0;  // 0: all have a result
  std::uint64_t needed = 0;
};

// Returns: at most `wanted`, of those that have no result yet, and as many as fit whichever of
// them meet. Errors: kUnavailable when the largest alone doesn't fit; names it.
Result<JobsAtOnce> FittingJobs(const std::vector<Job>& jobs, const JobStore& store,
                               std::size_t wanted, std::uint64_t machine);

// The same for this machine. Tells on standard error, unless quiet, what they need, and when they
// are fewer than wanted.
// Returns: how many to run at once, at least 1. Errors: as FittingJobs.
Result<std::size_t> WorkersThatFit(const std::vector<Job>& jobs, const JobStore& store,
                                   std::size_t wanted, bool quiet);

}  // namespace covey::harness
