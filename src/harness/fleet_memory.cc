#include "harness/fleet_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/console.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

std::string Fleets(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " fleet" : " fleets") + " at a time";
}

}  // namespace

std::uint64_t MachineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
             : 0;
}

Status FitsMachine(const std::string& who, std::uint64_t needed, std::uint64_t machine) {
  if (machine == 0 || needed <= machine) return {};
  return Fail(ErrorCode::kUnavailable, "memory",
              who + " need about " + Bytes(needed) + ", this machine has " + Bytes(machine),
              "take fewer nodes, a smaller model, or another machine");
}

Result<JobsAtOnce> FittingJobs(const std::vector<Job>& jobs, const JobStore& store,
                               std::size_t wanted, std::uint64_t machine) {
  std::vector<const Job*> open;
  for (const Job& job : jobs) {
    if (!store.results().contains(job.id)) open.push_back(&job);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const Job* a, const Job* b) { return a->memory > b->memory; });
  JobsAtOnce fitting;
  for (const Job* job : open) {
    if (fitting.jobs == wanted) break;
    const std::uint64_t needed = fitting.needed + job->memory;
    if (fitting.jobs == 0) {
      const Status fits = FitsMachine("the nodes of '" + job->title + "'", needed, machine);
      if (!fits) return tl::unexpected(fits.error());
    }
    if (machine > 0 && needed > machine) break;
    fitting = {fitting.jobs + 1, needed};
  }
  return fitting;
}

Result<std::size_t> WorkersThatFit(const std::vector<Job>& jobs, const JobStore& store,
                                   std::size_t wanted, bool quiet) {
  const std::uint64_t machine = MachineMemory();
  const Result<JobsAtOnce> all = FittingJobs(jobs, store, wanted, 0);
  const Result<JobsAtOnce> fitting = FittingJobs(jobs, store, wanted, machine);
  if (!fitting) return tl::unexpected(fitting.error());
  if (!quiet && fitting->jobs > 0) {
    std::string text = "memory: about " + Bytes(fitting->needed) + ", " + Fleets(fitting->jobs);
    if (fitting->jobs < all->jobs) {
      text += " instead of " + std::to_string(all->jobs) + ", which need about " +
              Bytes(all->needed) + " of this machine's " + Bytes(machine);
    }
    Print(stderr, text + '\n');
  }
  return std::max<std::size_t>(fitting->jobs, 1);
}

}  // namespace covey::harness
