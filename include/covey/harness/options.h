// What the command line may change in an experiment file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

// Texts as a file has them for the keys beside them, with the same ranges and units. Unset: as the
// file says.
struct Options {
  std::optional<std::string> nodes;         // experiment.nodes
  std::optional<std::string> epochs;        // train.until: {epochs: ...}
  std::optional<std::string> weights_drop;  // faults.weights_drop
  std::optional<std::string> deltas_drop;   // faults.deltas_drop
  std::optional<std::string> gamma;         // consensus.gamma
  std::optional<std::string> batches;       // consensus.batches, N
  std::optional<std::string> sends;         // consensus.sends, M
  std::optional<std::string> mix_rate;      // experiment.partition.rate; sets its kind, too
  std::optional<std::string> mode;          // experiment.mode
  std::optional<std::string> controls;      // experiment.controls
  std::optional<std::uint64_t> seed;        // experiment.seed
};

// Expectations on a control that `controls` switches off are no longer part of the experiment.
// Returns: the names of those ("gain_over_isolated"), for a message.
// Errors: kUsage naming the option, what was got and what is wanted; `experiment` is unchanged
// then. Whether what results contradicts itself is for loading to tell (config::Amend).
Result<std::vector<std::string>> Apply(const Options& options, config::Experiment& experiment);

// Returns: a command line that repeats the run: the file, every option that was given, and the seed
// in any case.
std::string RepeatCommand(const std::string& file, const Options& options, std::uint64_t seed);

// The settings that a reader of a report asks for first, every fault that is not at its default
// under its key, and what single nodes have for themselves.
std::vector<Setting> Describe(const config::Experiment& experiment);

// What all of these experiments have in common. The names of the settings in which they differ
// stand in a last one, which is called `varied`.
std::vector<Setting> DescribeAll(const std::vector<config::Experiment>& all,
                                 const std::string& varied);

}  // namespace covey::harness
