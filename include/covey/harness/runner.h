// Runs the nodes of an experiment, as daemons or on a virtual clock, and its controls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/harness/observer.h"
#include "covey/harness/outcome.h"
#include "covey/tensor/flat_vector.h"

namespace covey::harness {

// The model of one node, to be written to disk.
struct Model {
  tensor::FlatVector x;
  std::uint32_t node = 0;
  Selected score;
};

// What the nodes of one group gave.
struct FleetOutcome {
  std::vector<NodeOutcome> nodes;
  std::optional<double> spread;
  std::vector<std::pair<double, double>> spread_curve = {};  // seconds and spread; virtual mode
  double samples_per_second = 0;
  double virtual_seconds = 0;  // virtual mode
  bool interrupted = false;
  std::optional<Model> best;  // of the node with the best validation (else test) accuracy
  std::string build;          // of the daemons
};

// How far a node is with its training, [0, 1]: by epochs or batches; 0 when neither ends it.
double TrainedFraction(const config::NodeConfig& config, double epochs, std::uint64_t batches);

// Where processes live.
struct ProcessOptions {
  std::string program;  // coveyd
  std::string folder;   // nodes/<i>/ is made below it
};

// Starts one daemon for each node, follows them until all that live are done, ends them, and
// collects. A daemon that dies is noted and the others go on. Ends early, with what there is, once
// the observer says so.
//
// Requires: called on a thread that lives as long as the run (see Child).
// Errors: kConfig from the expansion, kCantCreate for folders, kUnavailable when a daemon can't be
// started (with the last lines of its log) or none gets ready. No child is left in any case.
Result<FleetOutcome> RunProcesses(const config::Experiment& experiment,
                                  const ProcessOptions& options, Observer& observer);

struct VirtualOptions {
  bool keep_lowest_loss = false;  // fills NodeOutcome::lowest_loss
  std::size_t threads = 0;        // of this fleet; 0: as many as processors
};

// The same learners in this process on a virtual clock. Controls (`group`) never exchange.
// Determinism: same experiment, build and kernel level: same bits. Errors: as simulate::RunFleet.
Result<FleetOutcome> RunVirtual(const config::Experiment& experiment, Group group,
                                Observer& observer, const VirtualOptions& virtual_options = {});

// Returns: about how many bytes the fleet of one group needs (simulate/memory.h); 0 when the
// experiment can't be expanded: whoever runs it says why.
std::uint64_t FleetMemory(const config::Experiment& experiment, Group group);

// The same for all that RunExperiment runs at once in virtual mode.
std::uint64_t MemoryAtOnce(const config::Experiment& experiment);

// The whole experiment: its nodes in its mode, then its controls, each on a thread of its own (in
// virtual mode all at once). `processes` counts in process mode only. The settings, notes, command
// and description of the outcome are left to the caller.
Result<Outcome> RunExperiment(const config::Experiment& experiment, const ProcessOptions& processes,
                              Observer& observer, std::optional<Model>& best);

}  // namespace covey::harness
