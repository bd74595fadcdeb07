// What a seed means.
#include <algorithm>
#include <cstdio>
#include <string>

#include "covey/base/random.h"
#include "covey/simulate/swarm.h"

namespace covey::simulate {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A round of a node of ordinary speed.
constexpr Duration kRound = milliseconds(1);
// From the moment when everything heals to the tails, at least: nodes that are down come back, and
// links that are silent are given up and dialled again.
constexpr Duration kRecovery = milliseconds(250);
// Where answers are slow only one exchange is under way: the longest that one may take.
constexpr Duration kSlowExchange = milliseconds(20);
constexpr Duration kTailPatience = std::chrono::seconds(29);

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : stream_(seed, 0, Purpose::kSwarm) {}

  double Real(double low, double high) { return low + (high - low) * stream_.Uniform(); }
  Duration Time(Duration low, Duration high) {
    return low + FromSeconds(stream_.Uniform() * Seconds(high - low));
  }
  std::uint32_t Number(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(stream_.Below(high - low + 1));
  }
  bool Chance(double probability) { return stream_.Chance(probability); }

 private:
  Stream stream_;
};

void DrawMessages(Dice& dice, config::FaultSettings& faults) {
  if (dice.Chance(0.8)) faults.weights_drop = dice.Real(0, 0.3);
  if (dice.Chance(0.8)) faults.deltas_drop = dice.Real(0, 0.3);
  if (dice.Chance(0.7)) faults.duplicate = dice.Real(0, 0.5);
  if (dice.Chance(0.3)) faults.delay = dice.Time({}, milliseconds(2));
  if (dice.Chance(0.5)) faults.reorder = dice.Time({}, milliseconds(20));
  if (dice.Chance(0.5)) faults.corrupt = dice.Real(0, 0.02);
  if (dice.Chance(0.3)) faults.cut = dice.Real(0, 0.002);
}

void DrawLinks(Dice& dice, std::uint32_t nodes, config::LinkFaults& links) {
  links.delay = dice.Time(microseconds(50), milliseconds(2));
  links.delay_min = dice.Time({}, links.delay);
  if (dice.Chance(0.5)) links.delay_tail = dice.Real(0, 1.5);
  links.bandwidth = ByteCount{dice.Number(200'000, 20'000'000)};
  if (dice.Chance(0.5)) {
    links.clog_every = dice.Time(milliseconds(50), milliseconds(500));
    links.clog_for = dice.Time(milliseconds(5), milliseconds(50));
  }
  if (!dice.Chance(0.5)) return;
  links.topology.kind = config::TopologySettings::Kind::kRandomRegular;
  links.topology.degree = std::min(nodes - 1, 2 * dice.Number(2, 4));
}

// Two groups at random; a third of the nodes is in neither.
std::string DrawGroups(Dice& dice, std::uint32_t nodes) {
  std::string groups[2];
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const std::uint32_t group = dice.Number(0, 2);
    if (group < 2) groups[group] += (groups[group].empty() ? "" : ",") + std::to_string(i);
  }
  if (groups[0].empty() || groups[1].empty()) return "halves";
  return groups[0] + " | " + groups[1];
}

void DrawPartitions(Dice& dice, const SwarmPlan& plan, config::FaultSettings& faults) {
  for (std::uint32_t left = dice.Number(0, 3); left > 0; --left) {
    config::PartitionFault fault;
    fault.lasts = dice.Time(milliseconds(5), plan.heal_at / 2);
    fault.at = dice.Time({}, plan.heal_at - fault.lasts);
    fault.groups = dice.Chance(0.3) ? "halves" : DrawGroups(dice, plan.nodes);
    fault.one_way = dice.Chance(0.4);
    faults.partitions.push_back(fault);
  }
}

void DrawNodes(Dice& dice, config::NodeFaults& nodes) {
  if (dice.Chance(0.5)) nodes.speed_spread = dice.Real(0, 0.4);
  if (dice.Chance(0.5)) {
    nodes.pause_every = dice.Time(milliseconds(50), milliseconds(500));
    nodes.pause_for = dice.Time(milliseconds(2), milliseconds(30));
  }
  if (!dice.Chance(0.6)) return;
  nodes.crash_every = dice.Time(milliseconds(200), milliseconds(2000));
  nodes.down_for = dice.Time(milliseconds(2), milliseconds(60));
}

// Three digits.
std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string Percent(double fraction) { return Short(fraction * 100) + "%"; }

}  // namespace

SwarmPlan DrawSwarm(std::uint64_t seed, const SwarmOptions& options) {
  Dice dice(seed);
  SwarmPlan plan;
  plan.seed = seed;
  const std::uint32_t drawn = dice.Number(16, 32);
  plan.nodes = options.nodes.value_or(drawn);
  // With most of the draws half of the rounds complete an exchange: most complete with faults.
  plan.heal_at = options.exchanges * kRound * 7 / 5;
  plan.settle_at = std::max<Duration>(options.exchanges * kRound * 2, plan.heal_at + kRecovery);
  plan.give_up_at =
      plan.settle_at + std::max<Duration>(options.exchanges * kSlowExchange, kTailPatience);
  plan.faults.nodes.samples_per_second = 4 / Seconds(kRound);
  plan.faults.seed = seed + 1;  // 0 would mean another
  DrawMessages(dice, plan.faults);
  DrawLinks(dice, plan.nodes, plan.faults.links);
  if (plan.nodes > 1) DrawPartitions(dice, plan, plan.faults);
  DrawNodes(dice, plan.faults.nodes);
  for (std::uint32_t i = 0; i < plan.nodes; ++i) {
    plan.start_after.push_back(dice.Chance(0.1) ? dice.Time({}, plan.heal_at / 2) : Duration{});
  }
  if (dice.Chance(0.3)) plan.segments = dice.Number(2, 3);
  return plan;
}

std::vector<std::pair<std::string, std::string>> SwarmPlan::Parameters() const {
  const auto time = [](Duration value) { return ReadableDuration(value); };
  const config::LinkFaults& links = faults.links;
  std::vector<std::pair<std::string, std::string>> all = {
      {"nodes", std::to_string(nodes)},
      {"segments", std::to_string(segments)},
      {"heal_at", time(heal_at)},
      {"weights_drop", Percent(faults.weights_drop)},
      {"deltas_drop", Percent(faults.deltas_drop)},
      {"duplicate", Percent(faults.duplicate)},
      {"delay", time(faults.delay)},
      {"reorder", time(faults.reorder)},
      {"corrupt", Percent(faults.corrupt)},
      {"cut", Percent(faults.cut)},
      {"links.delay", time(links.delay)},
      {"links.delay_min", time(links.delay_min)},
      {"links.delay_tail", Short(links.delay_tail)},
      {"links.bandwidth", Short(static_cast<double>(links.bandwidth.value) / 1e6) + " MB/s"},
      {"links.clog_every", time(links.clog_every)},
      {"links.clog_for", time(links.clog_for)},
      {"topology", links.topology.kind == config::TopologySettings::Kind::kAny
                       ? "any"
                       : "random_regular of degree " + std::to_string(links.topology.degree)},
      {"speed_spread", Short(faults.nodes.speed_spread)},
      {"pause_every", time(faults.nodes.pause_every)},
      {"pause_for", time(faults.nodes.pause_for)},
      {"crash_every", time(faults.nodes.crash_every)},
      {"down_for", time(faults.nodes.down_for)},
      {"late", std::to_string(
                   nodes - std::count(start_after.begin(), start_after.end(), Duration::zero()))}};
  for (const config::PartitionFault& fault : faults.partitions) {
    all.emplace_back("partition", "at " + time(fault.at) + " for " + time(fault.lasts) + ", " +
                                      fault.groups + (fault.one_way ? ", one way" : ""));
  }
  return all;
}

}  // namespace covey::simulate
