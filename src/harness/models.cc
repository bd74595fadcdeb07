#include "harness/models.h"

#include <utility>

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

}  // namespace covey::harness
