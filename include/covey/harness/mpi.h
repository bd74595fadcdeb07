// Real daemons on the machines of a host file: Open MPI's mpirun starts this program once in each
// slot, and each of those runs one coveyd.
//
// No message passes through MPI. The processes meet in a folder that all machines share (the run's
// own): each leaves its key, its address and its outcome there. Programs are looked for at the same
// path on every machine; data where the experiment names them.
#pragma once

#include <atomic>
#include <string>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/harness/jobs.h"
#include "covey/harness/runner.h"

namespace covey::harness {

struct MpiOptions {
  std::string folder;    // of this run, shared by all machines; what it holds is removed first
  std::string hostfile;  // as mpirun --hostfile; empty: this machine, as many slots as nodes
};

// Rank i runs node i of the experiment; its controls are left out. The daemons listen on loopback
// when all of them are on one machine, else on every address.
// Errors: kUnavailable without mpirun or when it fails (with the last lines that it wrote);
// kCantCreate; kData when a node left no outcome. No process is left in any case.
Result<FleetOutcome> RunMpi(const config::Experiment& experiment, const MpiOptions& options,
                            const JobContext& context);

// What mpirun starts in each slot: the node of this process' rank, from RunMpi's folder.
// Returns: the exit code; anything but 0 ends all nodes.
// Thread: the main one (children die with it).
int RunMpiNode(const std::string& folder, const std::atomic<bool>& stop);

}  // namespace covey::harness
