#include <string>
#include <utility>

#include "config/assign.h"
#include "config/schema.h"
#include "covey/config/experiment.h"
#include "covey/config/load.h"

namespace covey::config {
namespace {

NodeConfig NodeOf(const Experiment& experiment, std::uint32_t index, std::uint32_t nodes) {
  NodeConfig config = experiment.node;
  config.node.name = "node" + std::to_string(index);
  config.node.seed = experiment.seed;
  config.node.index = index;
  config.node.init_index.reset();
  if (experiment.init == Experiment::Init::kSame) config.node.init_index = 0;
  config.data.partition = experiment.partition;
  config.data.partition.part = {.index = index, .count = nodes};
  const auto held = data::ParseKeys(config.data.hold_out.keys);
  config.data.partition.key = held ? data::KeyBeside(*held, index) : index;
  config.data.partition.seed = experiment.seed;
  if (config.faults.seed == 0) config.faults.seed = experiment.seed;
  return config;
}

void MakeControl(Run run, const Experiment& experiment, NodeConfig& config) {
  config.faults = FaultSettings{};
  config.train.settle = Settle{.fraction = 0, .rounds = 0};
  config.train.linger = Linger{.forever = false, .time = Duration::zero()};
  config.consensus.sends = 0;
  config.consensus.join = false;
  if (run != Run::kMonolithic) return;
  config.node.name = "monolithic";
  config.data.partition.kind = data::PartitionSettings::Kind::kAll;
  if (config.train.until.kind == Until::Kind::kBatches) {
    config.train.until.batches *= experiment.nodes;
  }
}

Status Apply(const Override& own, const std::string& where, NodeConfig& config) {
  for (const auto& [key, value] : own.set) {
    Assigner assigner(key, value);
    VisitNode(assigner, config);
    if (!assigner.found()) return Fail(ErrorCode::kConfig, where + "." + key, "unknown key");
    if (assigner.refusal()) {
      return Fail(ErrorCode::kConfig, where + "." + key, assigner.refusal()->what,
                  assigner.refusal()->note);
    }
  }
  if (Status sound = Check(config); !sound) {
    return Fail(ErrorCode::kConfig, where, sound.error().what);
  }
  return {};
}

}  // namespace

Result<std::vector<NodeConfig>> Expand(const Experiment& experiment, Run run) {
  if (experiment.nodes == 0 || experiment.nodes > 1024) {
    return Fail(ErrorCode::kConfig, "experiment.nodes",
                "got " + std::to_string(experiment.nodes) + ", want 1 to 1024");
  }
  if (Status sound = Check(experiment); !sound) return tl::unexpected(sound.error());
  const bool alone = run == Run::kMonolithic;
  const std::uint32_t nodes = alone ? 1 : experiment.nodes;
  std::vector<NodeConfig> configs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    NodeConfig config = NodeOf(experiment, i, nodes);
    const auto own = experiment.overrides.nodes.find(i);
    if (own != experiment.overrides.nodes.end() && !alone) {
      const std::string where = "experiment.overrides[" + std::to_string(i) + "]";
      if (Status done = Apply(own->second, where, config); !done) {
        return tl::unexpected(done.error());
      }
    }
    if (run != Run::kConsensus) {
      const std::string where = "experiment.overrides.controls";
      if (Status done = Apply(experiment.overrides.controls, where, config); !done) {
        return tl::unexpected(done.error());
      }
      MakeControl(run, experiment, config);
    }
    Complete(config);
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace covey::config
