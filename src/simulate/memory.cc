#include "covey/simulate/memory.h"

#include <algorithm>

#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"

namespace covey::simulate {
namespace {

// Links, queues, indices and code that no formula needs to know.
constexpr std::uint64_t kOverhead = 256 << 10;
// Larger batches pass through a model in pieces.
constexpr std::uint64_t kPiece = 256;

std::uint64_t ActivationBytes(const config::NodeConfig& config) {
  const auto layers = nn::Infer(config.model);
  if (!layers) return 0;
  std::uint64_t values = nn::Features(config.model);
  for (const nn::LayerInfo& layer : *layers) {
    std::uint64_t outputs = 1;
    for (const std::size_t extent : layer.output) outputs *= extent;
    values += outputs;
  }
  const std::uint64_t batch = config.data.batch == 0 ? kPiece : config.data.batch;  // 0: all
  return 2 * sizeof(float) * values * std::min(batch, kPiece);
}

std::uint64_t NodeBytes(const config::NodeConfig& config) {
  const std::size_t parameters = nn::LayoutOf(config.model).size();
  optim::Optimizer optimizer(config.train.optimizer, parameters, config.model.numerics);
  const std::size_t exchanged = optim::ExchangedSize(config.train.optimizer, parameters);
  std::uint64_t floats = 5 * parameters;
  for (const optim::NamedState& slot : optimizer.state()) floats += slot.values.size();
  if (config.consensus.sends > 0) floats += 4 * exchanged;
  const config::NodeFaults& life = config.faults.nodes;
  const bool crashes = life.crash_at > Duration::zero() || life.crash_every > Duration::zero();
  return (crashes ? 2 : 1) * sizeof(float) * floats + ActivationBytes(config) + kOverhead;
}

}  // namespace

std::uint64_t EstimateMemory(const std::vector<config::NodeConfig>& nodes) {
  std::uint64_t bytes = 0;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // Nodes of one experiment share the model and the optimizer; what an override changes is small.
    const bool crashes = nodes[i].faults.nodes.crash_at > Duration::zero();
    if (i == 0 || crashes) last = NodeBytes(nodes[i]);
    bytes += last;
    if (crashes) last = NodeBytes(nodes.front());
  }
  return bytes;
}

}  // namespace covey::simulate
