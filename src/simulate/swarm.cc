#include "covey/simulate/swarm.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "covey/base/check.h"
#include "covey/base/random.h"
#include "covey/simulate/fleet.h"
#include "covey/simulate/topology.h"
#include "simulate/checkers.h"

namespace covey::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kFeatures = 4;
constexpr std::uint32_t kClasses = 3;
constexpr std::uint32_t kSamples = 16;  // of a node
constexpr std::uint32_t kBatch = 4;
// A message that waits longer than this in a FIFO is starved: rounds and pauses are shorter.
constexpr Duration kPatience = milliseconds(500);
// The tail is as long as the graph needs to bring the spread to a hundredth, on average: as it goes
// with sqrt(V), 2 ln(100)/gap rounds. They end far below what is asked for here.
constexpr double kContraction = 100;
constexpr double kAgreed = 0.01;
constexpr std::uint32_t kShortestTail = 40;
constexpr std::uint32_t kLongestTail = 1000;

std::uint32_t TailOf(const SwarmPlan& plan) {
  const auto pairs = PairsOf(plan.faults.links.topology, plan.faults.seed, plan.nodes);
  COVEY_CHECK(pairs.has_value(), plan.seed);
  const double gap = MixingGap(*pairs, plan.nodes);
  if (gap <= 0) return kLongestTail;
  // An element takes part in every S-th exchange.
  const double rounds = std::ceil(2 * std::log(kContraction) / gap) * plan.segments;
  return std::clamp(static_cast<std::uint32_t>(std::min(rounds, 1e6)), kShortestTail, kLongestTail);
}

data::Dataset MakeData(std::uint64_t seed, std::uint32_t nodes) {
  Stream stream(seed, 1, Purpose::kSwarm);
  data::Dataset::Memory memory;
  memory.shape = {kFeatures};
  memory.classes = kClasses;
  for (std::uint32_t i = 0; i < nodes * kSamples; ++i) {
    const auto label = static_cast<std::uint8_t>(stream.Below(kClasses));
    memory.labels.push_back(label);
    for (std::uint32_t f = 0; f < kFeatures; ++f) {
      const std::uint64_t base = f == label ? 150 : 50;
      memory.rows.push_back(static_cast<std::uint8_t>(base + stream.Below(100)));
    }
  }
  return data::Dataset::FromMemory(std::move(memory));
}

config::NodeConfig ConfigOf(const SwarmPlan& plan, std::uint32_t tail, std::uint32_t index) {
  config::NodeConfig config;
  config.node.seed = plan.seed + 1;
  config.node.index = index;
  config.faults = plan.faults;
  config.model.input = {kFeatures};
  config.model.layers = {nn::Dense{6, nn::Activation::kRelu},
                         nn::Dense{kClasses, nn::Activation::kLinear}};
  config.data.batch = kBatch;
  config.train.optimizer.kind = optim::Settings::Kind::kSgd;
  config.train.optimizer.learning_rate = 0.02f;
  config.train.until.kind = config::Until::Kind::kForever;
  config.train.settle.rounds = tail;
  config.train.evaluate.every = config::EvaluateSettings::Every::kNever;
  config.train.checkpoint_every = milliseconds(20);
  config.consensus.batches = 1;
  config.consensus.sends = 1;
  config.consensus.segments = plan.segments;
  config.consensus.pending_for = milliseconds(200);
  config.consensus.settle_patience = seconds(3);
  config.consensus.fifo = {.weights = 2, .deltas = 8, .bytes = ByteCount{4096}};
  config.network.ping_every = milliseconds(25);
  config.network.drop_after = milliseconds(100);
  config.network.handshake = milliseconds(50);
  config.network.reconnect_first = milliseconds(2);
  config.network.reconnect_most = milliseconds(20);
  return config;
}

std::vector<FleetNode> MakeFleet(const SwarmPlan& plan) {
  const data::Dataset data = MakeData(plan.seed, plan.nodes);
  const std::uint32_t tail = TailOf(plan);
  std::vector<FleetNode> fleet;
  for (std::uint32_t i = 0; i < plan.nodes; ++i) {
    config::NodeConfig config = ConfigOf(plan, tail, i);
    setup::NodeData own;
    own.train = data;
    for (std::uint32_t row = 0; row < kSamples; ++row) own.shard.push_back(i * kSamples + row);
    auto assembly = setup::AssembleWith(config, VirtualIdentity(i), std::move(own));
    COVEY_CHECK(assembly.has_value(), plan.seed);
    fleet.push_back({std::move(config), std::move(*assembly)});
  }
  return fleet;
}

}  // namespace

std::string_view Name(SwarmResult::Verdict verdict) {
  switch (verdict) {
    case SwarmResult::Verdict::kGreen:
      return "green";
    case SwarmResult::Verdict::kCrash:
      return "crash";
    case SwarmResult::Verdict::kSafety:
      return "safety";
    case SwarmResult::Verdict::kLiveness:
      return "liveness";
  }
  return "?";
}

SwarmResult RunSwarm(const SwarmPlan& plan, const SwarmOptions& options) {
  std::vector<FleetNode> fleet = MakeFleet(plan);
  std::map<PeerKey, std::uint32_t> keys;
  for (std::uint32_t i = 0; i < plan.nodes; ++i) keys[VirtualIdentity(i).key] = i;

  Findings findings;
  SumInvariant sum(findings, keys);
  ExactlyOnce once(findings);
  BoundedQueues bounds(findings, fleet.front().config.consensus.fifo);
  FiniteValues finite(findings);
  NoStarvation starvation(findings, kPatience);
  NothingForgotten forgotten(findings);
  TraceHash trace(findings);
  Everyone everyone(findings, {&finite, &once, &bounds, &starvation, &forgotten, &sum, &trace});

  FleetOptions how;
  how.start_after = plan.start_after;
  how.max_events = 500'000'000;
  how.heal_at = plan.heal_at;
  how.settle_after = options.exchanges;
  how.settle_at = plan.settle_at;
  how.give_up_at = plan.give_up_at;
  how.spread_every = plan.heal_at / 4 - Duration(1);  // not at the moment of healing, but before
  how.probe = &everyone;
  how.bugs = options.bugs;
  double spread_before = 0;
  FleetObserver observer;
  observer.on_spread = [&](double spread, Time now) {
    if (now < plan.heal_at) spread_before = spread;
  };
  const Result<FleetResult> run = RunFleet(std::move(fleet), how, observer);

  SwarmResult result;
  result.trace_hash = trace.value();
  result.exchanges = once.completed();
  if (findings.first()) {
    const Violation& violation = *findings.first();
    result.verdict = SwarmResult::Verdict::kSafety;
    result.what = violation.what + " (node " + std::to_string(violation.node) + ")";
    result.at = violation.at;
    return result;
  }
  if (!run) {
    const bool stuck = run.error().where == "simulation";
    result.verdict = stuck ? SwarmResult::Verdict::kLiveness : SwarmResult::Verdict::kSafety;
    result.what = run.error().Format();
    result.at = trace.last();
    return result;
  }
  result.at = run->virtual_time;
  result.spread = run->spread;
  if (run->spread > kAgreed) {
    result.verdict = SwarmResult::Verdict::kLiveness;
    result.what = "the spread is " + std::to_string(run->spread) + " at the end, it was " +
                  std::to_string(spread_before) + " before everything healed";
  }
  return result;
}

}  // namespace covey::simulate
