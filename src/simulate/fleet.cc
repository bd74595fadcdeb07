#include "covey/simulate/fleet.h"

#include <cmath>
#include <string>
#include <utility>

#include "covey/base/random.h"
#include "covey/base/sha256.h"
#include "covey/setup/assemble.h"
#include "covey/wire_pb/codec.h"
#include "simulate/virtual_node.h"

namespace covey::simulate {
namespace {

// Virtual nodes have no key pairs: their keys are hashes of their numbers.
PeerKey KeyOf(std::uint32_t index) {
  PeerKey key;
  key.bytes = Sha256::Of("virtual node " + std::to_string(index)).bytes;
  return key;
}

setup::Identity IdentityOf(const config::NodeConfig& config, std::uint32_t index) {
  Stream stream(config.node.seed, index, Purpose::kSession);
  return setup::Identity{KeyOf(index), SessionId{stream.Next64() >> 1}, true};
}

class Run {
 public:
  Run(const FleetOptions& options, const FleetObserver& observer)
      : network_(scheduler_, options.link),
        options_(options),
        world_{scheduler_, network_, codec_, options, observer},
        observer_(observer) {}

  Status Add(const config::NodeConfig& config) {
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    Result<setup::Assembly> assembly = setup::Assemble(config, IdentityOf(config, index));
    if (!assembly) return tl::unexpected(assembly.error());
    exchanging_ = exchanging_ || config.consensus.sends > 0;
    nodes_.push_back(std::make_unique<VirtualNode>(world_, index, std::move(*assembly)));
    return {};
  }

  Result<FleetResult> Go() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Duration after = i < options_.start_after.size() ? options_.start_after[i] : Duration{};
      scheduler_.After(after, [this, i] { Start(i); });
    }
    FleetResult result;
    for (std::size_t events = 0; !AllDone(); ++events) {
      if (observer_.interrupted && events % 64 == 0 && observer_.interrupted()) {
        result.interrupted = true;
        break;
      }
      if (events >= options_.max_events || !scheduler_.RunNext()) {
        return Fail(ErrorCode::kSoftware, "simulation", "stalled before every node was done");
      }
      for (const auto& node : nodes_) {
        if (node->failure()) return tl::unexpected(*node->failure());
      }
    }
    result.virtual_time = scheduler_.now();
    std::vector<tensor::ConstVectorView> vectors;
    for (const auto& node : nodes_) {
      result.nodes.push_back(node->Finish());
      vectors.push_back(node->x());
    }
    result.spread = Spread(vectors);
    return result;
  }

 private:
  // A node dials all that are there before it, as the launcher of real daemons arranges it.
  void Start(std::size_t i) {
    if (exchanging_) {
      for (std::size_t j = 0; j < nodes_.size(); ++j) {
        if (j != i && nodes_[j]->started()) network_.Connect(nodes_[i]->port(), nodes_[j]->port());
      }
    }
    nodes_[i]->Start();
  }

  bool AllDone() const {
    for (const auto& node : nodes_) {
      if (!node->started() || !node->done()) return false;
    }
    return true;
  }

  Scheduler scheduler_;
  VirtualNetwork network_;
  wire_pb::ProtobufCodec codec_;
  const FleetOptions& options_;
  World world_;
  const FleetObserver& observer_;
  std::vector<std::unique_ptr<VirtualNode>> nodes_;
  bool exchanging_ = false;
};

}  // namespace

Result<FleetResult> RunFleet(const std::vector<config::NodeConfig>& nodes,
                             const FleetOptions& options, const FleetObserver& observer) {
  Run run(options, observer);
  for (const config::NodeConfig& config : nodes) {
    if (Status added = run.Add(config); !added) return tl::unexpected(added.error());
  }
  return run.Go();
}

double Spread(const std::vector<tensor::ConstVectorView>& vectors) {
  if (vectors.size() < 2) return 0;
  const std::size_t size = vectors.front().size();
  std::vector<double> mean(size, 0.0);
  for (const auto& x : vectors) {
    for (std::size_t k = 0; k < size; ++k) mean[k] += static_cast<double>(x[k]);
  }
  double norm = 0;
  for (double& value : mean) {
    value /= static_cast<double>(vectors.size());
    norm += value * value;
  }
  double distance = 0;
  for (const auto& x : vectors) {
    double squared = 0;
    for (std::size_t k = 0; k < size; ++k) {
      const double difference = static_cast<double>(x[k]) - mean[k];
      squared += difference * difference;
    }
    distance += std::sqrt(squared);
  }
  return norm == 0 ? 0 : distance / static_cast<double>(vectors.size()) / std::sqrt(norm);
}

}  // namespace covey::simulate
