#include "covey/harness/options.h"

#include <string_view>
#include <utility>

#include "covey/config/load.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using config::Experiment;

constexpr std::uint32_t kMostNodes = 1024;

tl::unexpected<Error> Wrong(std::string_view option, const std::string& got,
                            const std::string& wanted) {
  return Fail(ErrorCode::kUsage, std::string(option), "got " + got + ", want " + wanted);
}

bool IsFraction(double value) { return value >= 0 && value <= 1; }

Status ApplyFaults(const Options& options, Experiment& experiment) {
  const auto set = [](std::string_view name, const std::optional<double>& from,
                      double& to) -> Status {
    if (!from) return {};
    if (!IsFraction(*from)) return Wrong(name, Plain(*from), "a fraction, 0 to 1");
    to = *from;
    return {};
  };
  Status status = set("--weights-drop", options.weights_drop, experiment.node.faults.weights_drop);
  if (!status) return status;
  return set("--deltas-drop", options.deltas_drop, experiment.node.faults.deltas_drop);
}

Status ApplyConsensus(const Options& options, Experiment& experiment) {
  consensus::Settings& consensus = experiment.node.consensus;
  if (options.gamma) {
    if (!(*options.gamma > 0 && *options.gamma <= 1)) {
      return Wrong("--gamma", Plain(*options.gamma), "above 0, at most 1");
    }
    consensus.gamma = static_cast<float>(*options.gamma);
  }
  if (options.batches) {
    if (*options.batches == 0) return Wrong("--batches", "0", "at least 1");
    consensus.batches = *options.batches;
  }
  if (options.sends) consensus.sends = *options.sends;
  return {};
}

Status ApplyShape(const Options& options, Experiment& experiment) {
  if (options.nodes) {
    if (*options.nodes == 0 || *options.nodes > kMostNodes) {
      return Wrong("--nodes", std::to_string(*options.nodes), "1 to " + std::to_string(kMostNodes));
    }
    experiment.nodes = *options.nodes;
  }
  if (options.epochs) {
    if (!(*options.epochs > 0 && *options.epochs <= 1e6)) {
      return Wrong("--epochs", Plain(*options.epochs), "above 0, at most 1000000");
    }
    experiment.node.train.until = config::Until{};
    experiment.node.train.until.kind = config::Until::Kind::kEpochs;
    experiment.node.train.until.epochs = *options.epochs;
  }
  if (options.mix_rate) {
    if (!IsFraction(*options.mix_rate)) {
      return Wrong("--mix-rate", Plain(*options.mix_rate), "a fraction, 0 to 1");
    }
    experiment.partition.kind = data::PartitionSettings::Kind::kMixRate;
    experiment.partition.rate = *options.mix_rate;
  }
  if (options.seed) experiment.seed = *options.seed;
  return {};
}

Status ApplyWords(const Options& options, Experiment& experiment) {
  if (options.mode) {
    if (*options.mode == "process") {
      experiment.mode = Experiment::Mode::kProcess;
    } else if (*options.mode == "virtual") {
      experiment.mode = Experiment::Mode::kVirtual;
    } else {
      return Wrong("--mode", "'" + *options.mode + "'", "process or virtual");
    }
  }
  if (!options.controls) return {};
  constexpr std::pair<std::string_view, Experiment::Controls> kControls[] = {
      {"none", Experiment::Controls::kNone},
      {"monolithic", Experiment::Controls::kMonolithic},
      {"isolated", Experiment::Controls::kIsolated},
      {"all", Experiment::Controls::kAll}};
  for (const auto& [name, controls] : kControls) {
    if (*options.controls != name) continue;
    experiment.controls = controls;
    return {};
  }
  return Wrong("--controls", "'" + *options.controls + "'", "none, monolithic, isolated or all");
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
  for (const auto step : {ApplyShape, ApplyConsensus, ApplyFaults, ApplyWords}) {
    if (Status status = step(options, changed); !status) return tl::unexpected(status.error());
  }
  std::vector<std::string> dropped;
  if (options.controls) dropped = DropExpectations(changed);
  experiment = std::move(changed);
  return dropped;
}

std::string RepeatCommand(const std::string& file, const Options& options, std::uint64_t seed) {
  std::string command = "covey-sim run " + ShellWord(file);
  const auto put = [&command](std::string_view name, const std::string& value) {
    command += " " + std::string(name) + ' ' + ShellWord(value);
  };
  if (options.nodes) put("--nodes", std::to_string(*options.nodes));
  if (options.epochs) put("--epochs", Plain(*options.epochs));
  if (options.weights_drop) put("--weights-drop", Plain(*options.weights_drop));
  if (options.deltas_drop) put("--deltas-drop", Plain(*options.deltas_drop));
  if (options.gamma) put("--gamma", Plain(*options.gamma));
  if (options.batches) put("--batches", std::to_string(*options.batches));
  if (options.sends) put("--sends", std::to_string(*options.sends));
  if (options.mix_rate) put("--mix-rate", Plain(*options.mix_rate));
  if (options.mode) put("--mode", *options.mode);
  if (options.controls) put("--controls", *options.controls);
  put("--seed", std::to_string(seed));
  return command;
}

}  // namespace covey::harness
