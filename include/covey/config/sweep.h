// A sweep: one experiment, run with many settings and several seeds.
//
//     sweep:
//       experiment: fashion-8x25.yaml           # path, from the folder of this file
//       seeds: 3                                # 1 to 3; or a list, [1, 5, 9]
//       set: {train.until: {epochs: 20}}        # the same for every point
//       grid:                                   # every combination of
//         consensus.sends: [1, 2, 5]
//         experiment.partition.rate: [10%, 50%]
//       list:                                   # and, for each of them, these
//         - {consensus.batches: 10, expect.accuracy: 0.87}
//         - {consensus.batches: 50, consensus.gamma: 0.25}
//
// A value may also be a section, which sets the keys that it has and leaves the others:
// `train.optimizer: [{kind: adam}, {kind: sgd, learning_rate: 0.1}]`. A key of one node:
// `experiment.overrides.3.faults.nodes.speed`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/config/load.h"

namespace covey::config {

struct SweepPoint {
  // Keys and sections that this point sets and their text, in the order of the file; those of `set`
  // and of `expect` left out.
  std::vector<std::pair<std::string, std::string>> values;
  // With all of it set, and the experiment's own seed. No controls; `expect` holds what the sweep
  // sets of it, not what the experiment's file does.
  Experiment experiment;
};

struct Sweep {
  std::string name;  // of the file, or sweep.name
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> keys;  // that differ from point to point, each once
  std::vector<SweepPoint> points;
};

inline constexpr std::size_t kMostSweepRuns = 10000;  // points times seeds

// Reads the sweep and its experiment, and checks every point as if it were an experiment file of
// this mode.
// Errors: as LoadExperiment; those of a point stand at the value or the point that causes them.
Result<Loaded<Sweep>> LoadSweep(const std::string& path,
                                Experiment::Mode mode = Experiment::Mode::kVirtual);

// The same from memory: `experiment` is what `sweep.experiment` names.
Result<Loaded<Sweep>> ParseSweep(std::string_view text, const std::string& name,
                                 const Experiment& experiment,
                                 Experiment::Mode mode = Experiment::Mode::kVirtual);

}  // namespace covey::config
