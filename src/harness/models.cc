#include "harness/models.h"

#include <algorithm>
#include <utility>

#include "covey/config/paths.h"
#include "covey/setup/assemble.h"
#include "covey/simulate/fleet.h"
#include "covey/store/checkpoint.h"

namespace covey::harness {

void LoadModels(const std::vector<NodeModel>& nodes, FleetOutcome& outcome) {
  std::vector<tensor::FlatVector> settled;
  for (const NodeModel& from : nodes) {
    const NodeOutcome& node = outcome.nodes[from.node];
    Result<store::Loaded> loaded =
        store::Load(from.state_dir + "/checkpoints", {.model = nn::FingerprintOf(from.spec),
                                                      .model_summary = nn::Summary(from.spec),
                                                      .size = nn::LayoutOf(from.spec).size()});
    if (!loaded || !loaded->checkpoint) continue;
    store::Checkpoint& checkpoint = *loaded->checkpoint;
    if (node.best &&
        (!outcome.best || IsBetter(node.best->judged(), outcome.best->score.judged()))) {
      const bool kept = checkpoint.best && checkpoint.best->x.size() > 0;
      outcome.best = Model{kept ? std::move(checkpoint.best->x) : checkpoint.x.Clone(), node.index,
                           *node.best};
    }
    settled.push_back(std::move(checkpoint.x));
  }
  if (settled.size() < 2) return;
  std::vector<tensor::ConstVectorView> views;
  for (const tensor::FlatVector& x : settled) views.push_back(x.view());
  outcome.spread = simulate::Spread(views);
}

Result<store::Model> Usable(const Model& best, const config::Experiment& experiment) {
  Result<std::vector<config::NodeConfig>> configs = config::Expand(experiment);
  if (!configs) return tl::unexpected(std::move(configs.error()));
  config::NodeConfig& config = (*configs)[best.node];
  config::FillPaths(config, config::Environment::OfProcess());
  const auto assembly = setup::Assemble(config, simulate::VirtualIdentity(best.node));
  if (!assembly) return tl::unexpected(assembly.error());
  store::Model model;
  model.spec = config.model;
  // What else is exchanged stands behind the parameters.
  model.x = tensor::FlatVector(nn::LayoutOf(config.model).size());
  std::copy_n(best.x.data(), model.x.size(), model.x.data());
  store::DescribeInput(assembly->data.train, config.data.train.image_fit, model);
  const bool validated = best.score.validation.has_value();
  const Score& score = best.score.judged();
  model.facts.fleet = experiment.name;
  model.facts.created_by = "covey-sim";
  model.facts.epoch = best.score.epoch;
  model.facts.accuracy = score.accuracy;
  model.facts.loss = score.loss;
  model.facts.held_out = validated             ? assembly->data.validation.size()
                         : assembly->data.test ? assembly->data.test->size()
                                               : 0;
  return model;
}

}  // namespace covey::harness
