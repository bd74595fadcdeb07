#include "covey/harness/options.h"

#include <string_view>
#include <utility>

#include "covey/config/load.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using config::Experiment;

// An option that was given, its text, and the key that it sets.
struct Given {
  std::string_view option;
  std::string_view key;
  std::string_view text;
};

// All but the seed, in the order of a command line.
std::vector<Given> AllGiven(const Options& options) {
  std::vector<Given> given;
  const auto add = [&given](std::string_view option, std::string_view key,
                            const std::optional<std::string>& text) {
    if (text) given.push_back({option, key, *text});
  };
  add("--nodes", "experiment.nodes", options.nodes);
  add("--epochs", "train.until", options.epochs);
  add("--weights-drop", "faults.weights_drop", options.weights_drop);
  add("--deltas-drop", "faults.deltas_drop", options.deltas_drop);
  add("--gamma", "consensus.gamma", options.gamma);
  add("--batches", "consensus.batches", options.batches);
  add("--sends", "consensus.sends", options.sends);
  add("--mix-rate", "experiment.partition.rate", options.mix_rate);
  add("--mode", "experiment.mode", options.mode);
  add("--controls", "experiment.controls", options.controls);
  return given;
}

std::vector<std::string> DropExpectations(Experiment& experiment) {
  const auto runs = [&experiment](Experiment::Controls control) {
    return experiment.controls == control || experiment.controls == Experiment::Controls::kAll;
  };
  std::vector<std::string> dropped;
  config::Expect& expect = experiment.expect;
  if (expect.monolithic_accuracy && !runs(Experiment::Controls::kMonolithic)) {
    expect.monolithic_accuracy.reset();
    dropped.emplace_back("monolithic_accuracy");
  }
  if (expect.gain_over_isolated && !runs(Experiment::Controls::kIsolated)) {
    expect.gain_over_isolated.reset();
    dropped.emplace_back("gain_over_isolated");
  }
  return dropped;
}

}  // namespace

Result<std::vector<std::string>> Apply(const Options& options, Experiment& experiment) {
  Experiment changed = experiment;
  for (const Given& given : AllGiven(options)) {
    const std::string kind = given.key == "train.until" ? "epochs " : "";
    Status status = config::Set(changed, std::string(given.key), kind + std::string(given.text));
    if (status) continue;
    const Error& error = status.error();
    return Fail(ErrorCode::kUsage, std::string(given.option), error.what, error.hint);
  }
  if (options.mix_rate) changed.partition.kind = data::PartitionSettings::Kind::kMixRate;
  if (options.seed) changed.seed = *options.seed;
  std::vector<std::string> dropped;
  if (options.controls) dropped = DropExpectations(changed);
  experiment = std::move(changed);
  return dropped;
}

std::string RepeatCommand(const std::string& file, const Options& options, std::uint64_t seed) {
  std::string command = "covey-sim run " + ShellWord(file);
  for (const Given& given : AllGiven(options)) {
    command += ' ' + std::string(given.option) + ' ' + ShellWord(given.text);
  }
  return command + " --seed " + std::to_string(seed);
}

}  // namespace covey::harness
