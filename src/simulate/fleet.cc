#include "covey/simulate/fleet.h"

#include <cmath>
#include <string>
#include <utility>

#include "covey/base/check.h"
#include "covey/base/sha256.h"
#include "covey/wire_pb/codec.h"
#include "simulate/virtual_node.h"

namespace covey::simulate {
namespace {

std::uint64_t SeedOf(const config::NodeConfig& config) {
  return config.faults.seed != 0 ? config.faults.seed : config.node.seed;
}

class Run {
 public:
  Run(std::vector<FleetNode> nodes, Paths paths, const std::vector<Pair>& pairs,
      const FleetOptions& options, const FleetObserver& observer)
      : crew_(options.threads),
        judges_(crew_, nodes.front().assembly.learner.model, observer.on_score),
        seed_(SeedOf(nodes.front().config)),
        network_(scheduler_, seed_, std::move(paths)),
        dialler_(scheduler_, network_, DiallerOf(nodes), pairs),
        options_(options),
        world_{scheduler_, network_, codec_, options, observer, crew_, judges_, seed_},
        observer_(observer) {
    COVEY_CHECK(options.probe == nullptr || options.threads <= 1, options.threads);
    world_.nodes = nodes.size();
    for (FleetNode& node : nodes) {
      if (node.config.consensus.sends > 0) world_.dialler = &dialler_;
      const auto index = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(std::make_unique<VirtualNode>(world_, index, std::move(node)));
    }
  }

  ~Run() { judges_.Drop(); }  // before the nodes go that are judged

  Result<FleetResult> Go() {
    FollowPaths();
    FollowSpread();
    if (options_.heal_at > Duration::zero()) {
      scheduler_.At(options_.heal_at, [this] {
        network_.Heal();
        for (const auto& node : nodes_) node->Heal();
      });
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Duration after = i < options_.start_after.size() ? options_.start_after[i] : Duration{};
      scheduler_.After(after, [this, i] { nodes_[i]->Start(); });
    }
    FleetResult result;
    for (std::size_t events = 0; world_.done < nodes_.size(); ++events) {
      if (observer_.interrupted && events % 64 == 0 && observer_.interrupted()) {
        result.interrupted = true;
        break;
      }
      if (events >= options_.max_events || !scheduler_.RunNext()) {
        return Fail(ErrorCode::kSoftware, "simulation", "stalled before every node was done");
      }
      if (options_.give_up_at > Duration::zero() && scheduler_.now() > options_.give_up_at) {
        return Fail(ErrorCode::kSoftware, "simulation",
                    std::to_string(nodes_.size() - world_.done) + " nodes are not done after " +
                        ReadableDuration(options_.give_up_at));
      }
      if (options_.probe != nullptr && options_.probe->stop()) {
        result.interrupted = true;
        break;
      }
      judges_.Tells(false);
      if (world_.failure) return tl::unexpected(*world_.failure);
    }
    judges_.Tells(true);
    result.virtual_time = scheduler_.now();
    Finish(result);
    return result;
  }

 private:
  static Dialler::Settings DiallerOf(const std::vector<FleetNode>& nodes) {
    const config::NodeConfig& first = nodes.front().config;
    Dialler::Settings settings{.topology = first.faults.links.topology, .seed = SeedOf(first)};
    for (const FleetNode& node : nodes) {
      const config::NetworkSettings& network = node.config.network;
      settings.pauses.push_back({network.reconnect_first, network.reconnect_most});
    }
    return settings;
  }

  void FollowPaths() {
    const Time next = network_.MovePaths();
    dialler_.PathsChanged();
    if (next != kNever) scheduler_.At(next, [this] { FollowPaths(); });
  }

  void FollowSpread() {
    if (options_.spread_every <= Duration::zero() || !observer_.on_spread) return;
    std::vector<tensor::ConstVectorView> vectors;
    for (const auto& node : nodes_) {
      if (const learner::Learner* learner = node->Quiet()) vectors.push_back(learner->x());
    }
    if (spread_every_ == Duration::zero()) spread_every_ = options_.spread_every;
    if (vectors.size() > 1) {
      observer_.on_spread(Spread(vectors), scheduler_.now());
      if (options_.spread_points > 0 && ++spread_told_ == options_.spread_points) {
        spread_told_ /= 2;
        spread_every_ *= 2;
      }
    }
    scheduler_.After(spread_every_, [this] { FollowSpread(); });
  }

  void Finish(FleetResult& result) {
    result.nodes.resize(nodes_.size());
    std::vector<std::shared_ptr<Crew::Job>> jobs;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      jobs.push_back(crew_.Start([this, i, &result](std::size_t lane) {
        result.nodes[i] = nodes_[i]->Finish(&judges_.evaluator(lane));
      }));
    }
    for (const auto& job : jobs) crew_.Wait(*job);
    std::vector<tensor::ConstVectorView> vectors;
    for (const NodeResult& node : result.nodes) {
      if (!node.left && node.x.size() > 0) vectors.push_back(node.x.view());
    }
    result.spread = Spread(vectors);
  }

  Scheduler scheduler_;
  wire_pb::ProtobufCodec codec_;
  Crew crew_;
  Judges judges_;
  std::uint64_t seed_;
  VirtualNetwork network_;
  Dialler dialler_;
  const FleetOptions& options_;
  World world_;
  const FleetObserver& observer_;
  std::vector<std::unique_ptr<VirtualNode>> nodes_;
  Duration spread_every_{};
  std::uint32_t spread_told_ = 0;  // at this interval, or were it the interval from the start
};

}  // namespace

setup::Identity VirtualIdentity(std::uint32_t index) {
  setup::Identity identity;
  identity.key.bytes = Sha256::Of("virtual node " + std::to_string(index)).bytes;
  identity.authenticated = true;
  return identity;
}

Result<FleetResult> RunFleet(std::vector<FleetNode> nodes, const FleetOptions& options,
                             const FleetObserver& observer) {
  COVEY_CHECK(!nodes.empty());
  const auto count = static_cast<std::uint32_t>(nodes.size());
  const config::NodeConfig& first = nodes.front().config;
  Result<Paths> paths = Paths::Make(first.faults, SeedOf(first), count);
  if (!paths) return tl::unexpected(paths.error());
  const auto pairs = PairsOf(first.faults.links.topology, SeedOf(first), count);
  if (!pairs) return tl::unexpected(pairs.error());
  Run run(std::move(nodes), std::move(*paths), *pairs, options, observer);
  return run.Go();
}

Result<FleetResult> RunFleet(const std::vector<config::NodeConfig>& nodes,
                             const FleetOptions& options, const FleetObserver& observer) {
  std::vector<FleetNode> open;
  setup::OpenSets sets;
  for (const config::NodeConfig& config : nodes) {
    const auto index = static_cast<std::uint32_t>(open.size());
    Result<setup::Assembly> assembly = setup::Assemble(config, VirtualIdentity(index), &sets);
    if (!assembly) {
      Error error = assembly.error();
      // `where` stays the key, by which it is found in the file.
      if (nodes.size() > 1) error.what = "node " + std::to_string(index) + ": " + error.what;
      return tl::unexpected(std::move(error));
    }
    open.push_back({config, std::move(*assembly)});
  }
  return RunFleet(std::move(open), options, observer);
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
