// What reports say of an experiment's settings.
#include <algorithm>
#include <utility>

#include "covey/config/changed.h"
#include "covey/harness/options.h"
#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"
#include "covey/simulate/topology.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using config::Experiment;

constexpr std::size_t kMostOverrides = 12;  // that are told one by one

std::string DescribeUntil(const config::Until& until) {
  switch (until.kind) {
    case config::Until::Kind::kForever:
      return "for ever";
    case config::Until::Kind::kBatches:
      return std::to_string(until.batches) + " batches";
    case config::Until::Kind::kEpochs:
      return Plain(until.epochs) + " epochs";
    case config::Until::Kind::kAccuracy:
      return "accuracy " + Plain(until.accuracy);
  }
  return "?";
}

std::string DescribePartition(const data::PartitionSettings& partition) {
  std::string text(data::Name(partition.kind));
  if (partition.kind == data::PartitionSettings::Kind::kMixRate) {
    text += " " + Plain(partition.rate);
  }
  if (partition.kind == data::PartitionSettings::Kind::kDirichlet) {
    text += " " + Plain(partition.alpha);
  }
  return text;
}

std::string DescribeSettle(const config::Settle& settle) {
  if (settle.rounds ? *settle.rounds == 0 : settle.fraction == 0) return "none";
  return settle.rounds ? std::to_string(*settle.rounds) + " rounds"
                       : Percent(settle.fraction, 1) + " of the rounds";
}

// "2.00 MB" for the "2000000B" of a file.
std::string Readable(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits + 1 != text.size() || text.back() != 'B') return text;
  return Bytes(std::stoull(text));
}

// "node 3", "nodes 0, 3 to 7"
std::string NodesText(const std::vector<std::uint32_t>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::size_t end = i;
    while (end + 1 < nodes.size() && nodes[end + 1] == nodes[end] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(nodes[i]);
    if (end < i + 2) continue;
    text += " to " + std::to_string(nodes[end]);
    i = end;
  }
  return (nodes.size() == 1 ? "node " : "nodes ") + text;
}

std::string OwnText(const config::Override& own) {
  std::string text;
  if (own.start_after > Duration::zero()) text = "start_after " + FormatDuration(own.start_after);
  for (const auto& [key, value] : own.set) {
    text += (text.empty() ? "" : ", ") + key + ' ' + value;
  }
  return text;
}

// What single nodes have for themselves; nodes that have the same stand together.
void DescribeOverrides(const config::Overrides& overrides, std::vector<Setting>& settings) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> groups;
  for (const auto& [node, own] : overrides.nodes) {
    const std::string text = OwnText(own);
    if (text.empty()) continue;
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&text](const auto& one) { return one.first == text; });
    if (group == groups.end()) {
      groups.emplace_back(text, std::vector<std::uint32_t>{node});
    } else {
      group->second.push_back(node);
    }
  }
  std::size_t further = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i < kMostOverrides) settings.push_back({NodesText(groups[i].second), groups[i].first});
    if (i >= kMostOverrides) further += groups[i].second.size();
  }
  if (further > 0) {
    settings.push_back({"further nodes", std::to_string(further) + " with settings of their own"});
  }
  const std::string controls = OwnText(overrides.controls);
  if (!controls.empty()) settings.push_back({"controls", controls});
}

}  // namespace

std::vector<Setting> Describe(const Experiment& experiment) {
  const config::NodeConfig& node = experiment.node;
  const bool curve = node.security.mode == config::SecuritySettings::Mode::kCurve;
  const auto single = [](float value) { return Fixed(static_cast<double>(value), 4); };
  std::vector<Setting> settings = {
      {"nodes", std::to_string(experiment.nodes)},
      {"model", nn::Summary(node.model)},
      {"partition", DescribePartition(experiment.partition)},
      {"start", experiment.init == Experiment::Init::kSame ? "the same on every node"
                                                           : "another on every node"},
      {"training", DescribeUntil(node.train.until)},
      {"tail of exchanges", DescribeSettle(node.train.settle)},
      {"batch", node.data.batch == 0 ? "the whole shard" : std::to_string(node.data.batch)},
      {"optimizer", std::string(optim::Name(node.train.optimizer.kind)) + ", learning rate " +
                        single(node.train.optimizer.learning_rate)},
      {"N, batches a round", std::to_string(node.consensus.batches)},
      {"M, messages a round", std::to_string(node.consensus.sends)},
      {"gamma", single(consensus::EffectiveGamma(node.consensus))},
      {"replies", node.consensus.reply ? "on" : "off"},
      {"WEIGHTS lost by design", Percent(node.faults.weights_drop, 1)},
      {"DELTAS lost by design", Percent(node.faults.deltas_drop, 1)},
      {"encryption", experiment.mode == Experiment::Mode::kVirtual ? "none: virtual network"
                     : curve                                       ? "CURVE"
                                                                   : "off"},
      {"seed", std::to_string(experiment.seed)},
  };
  for (const auto& [key, text] : config::Changed(node, "faults")) {
    const bool shown = key == "faults.weights_drop" || key == "faults.deltas_drop";
    if (!shown) settings.push_back({key, Readable(text)});
  }
  const config::TopologySettings& topology = node.faults.links.topology;
  if (experiment.mode == Experiment::Mode::kVirtual &&
      simulate::IsPartialView(topology, experiment.nodes)) {
    settings.push_back(
        {"links of a node", "with about " + std::to_string(topology.peers) + " random others"});
  }
  DescribeOverrides(experiment.overrides, settings);
  return settings;
}

std::vector<Setting> DescribeAll(const std::vector<Experiment>& all, const std::string& varied) {
  std::vector<std::vector<Setting>> described;
  for (const Experiment& experiment : all) described.push_back(Describe(experiment));
  const auto has = [](const std::vector<Setting>& settings, const Setting& setting) {
    return std::find(settings.begin(), settings.end(), setting) != settings.end();
  };
  std::vector<Setting> common = described.empty() ? std::vector<Setting>{} : described.front();
  for (const std::vector<Setting>& settings : described) {
    std::erase_if(common, [&](const Setting& setting) { return !has(settings, setting); });
  }
  std::vector<std::string> other;
  for (const std::vector<Setting>& settings : described) {
    for (const Setting& setting : settings) {
      const bool known = std::find(other.begin(), other.end(), setting.name) != other.end();
      if (!known && !has(common, setting)) other.push_back(setting.name);
    }
  }
  std::string names;
  for (const std::string& name : other) names += (names.empty() ? "" : "; ") + name;
  if (!names.empty()) common.push_back({varied, names});
  return common;
}

}  // namespace covey::harness
