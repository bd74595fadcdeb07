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

// Unset: as the file says.
struct Options {
  std::optional<std::uint32_t> nodes;
  std::optional<double> epochs;
  std::optional<double> weights_drop;  // fractions, 0 to 1
  std::optional<double> deltas_drop;
  std::optional<double> gamma;
  std::optional<std::uint32_t> batches;  // N
  std::optional<std::uint32_t> sends;    // M
  std::optional<double> mix_rate;        // also sets the kind of partition
  std::optional<std::uint64_t> seed;
  std::optional<std::string> mode;      // process, virtual
  std::optional<std::string> controls;  // none, monolithic, isolated, all
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
