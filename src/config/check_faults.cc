#include "config/check_faults.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

namespace covey::config {
namespace {

Problem OnlySimulated(const std::string& key, const std::string& note) {
  return {.path = key,
          .reads = {key},
          .what = "only a simulator can do this, not a daemon",
          .note = note};
}

// "3" or "3-5" at the start of `text`, which loses it. Returns: first and last; nothing when there
// is none.
std::optional<std::pair<std::uint32_t, std::uint32_t>> TakeRange(std::string_view& text) {
  std::uint32_t bounds[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), bounds[i]);
    if (failure != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (i == 1) break;
    if (!text.starts_with('-')) {
      bounds[1] = bounds[0];
      break;
    }
    text.remove_prefix(1);
  }
  return std::pair(bounds[0], bounds[1]);
}

// Who may have links with whom is no node's own.
void CheckOverriddenTopology(const Experiment& e, std::vector<Problem>& problems) {
  for (const auto& [index, own] : e.overrides.nodes) {
    for (const auto& [key, value] : own.set) {
      if (!key.starts_with("faults.links.topology.")) continue;
      problems.push_back({.path = "experiment.overrides[" + std::to_string(index) + "]",
                          .reads = {},
                          .what = key + " is of the whole fleet, not of one node",
                          .note = "set it in the file's own faults.links.topology"});
      break;
    }
  }
}

void CheckTopology(const Experiment& e, std::vector<Problem>& problems) {
  using Kind = TopologySettings::Kind;
  const TopologySettings& topology = e.node.faults.links.topology;
  if (topology.kind == Kind::kFile && topology.file.empty()) {
    problems.push_back({.path = "faults.links.topology.file",
                        .reads = {"faults.links.topology.kind"},
                        .what = "is empty, and the kind is file",
                        .note = "give a file of pairs of indices"});
  }
  const bool regular = topology.kind == Kind::kRandomRegular && e.nodes > 1;
  if (regular && topology.degree >= e.nodes) {
    problems.push_back({.path = "faults.links.topology.degree",
                        .reads = {"experiment.nodes", "faults.links.topology.kind"},
                        .what = std::to_string(topology.degree) + " neighbours among " +
                                std::to_string(e.nodes) + " nodes",
                        .note = "want fewer neighbours than nodes"});
  } else if (regular && (topology.degree * e.nodes) % 2 != 0) {
    problems.push_back({.path = "faults.links.topology.degree",
                        .reads = {"experiment.nodes", "faults.links.topology.kind"},
                        .what = "degree and number of nodes are both odd: there is no such graph",
                        .note = "make one of them even"});
  }
}

}  // namespace

void AddFaultProblems(const FaultSettings& faults, std::vector<Problem>& problems) {
  const LinkFaults& links = faults.links;
  if (links.delay_min > links.delay) {
    problems.push_back({.path = "faults.links.delay_min",
                        .reads = {"faults.links.delay"},
                        .what = FormatDuration(links.delay_min) + " is more than the mean, " +
                                FormatDuration(links.delay),
                        .note = "lower it, or raise faults.links.delay"});
  }
}

void AddFaultProblems(const Experiment& e, std::vector<Problem>& problems) {
  const FaultSettings& faults = e.node.faults;
  if (e.mode == Experiment::Mode::kProcess) {
    const std::string note =
        "run it on the virtual clock (experiment.mode: virtual, or run --mode virtual), or leave "
        "it out";
    const std::string key = faults.SimulatedKey();
    if (!key.empty()) problems.push_back(OnlySimulated(key, note));
    for (const auto& [index, own] : e.overrides.nodes) {
      const auto simulated = [](const auto& entry) {
        return entry.first.starts_with("faults.nodes.") || entry.first.starts_with("faults.links.");
      };
      if (std::none_of(own.set.begin(), own.set.end(), simulated)) continue;
      problems.push_back(
          OnlySimulated("experiment.overrides[" + std::to_string(index) + "]", note));
    }
  }
  CheckTopology(e, problems);
  CheckOverriddenTopology(e, problems);
  for (std::size_t i = 0; i < faults.partitions.size(); ++i) {
    const auto groups = ParseGroups(faults.partitions[i].groups, e.nodes);
    if (groups) continue;
    problems.push_back({.path = "faults.partitions[" + std::to_string(i) + "].groups",
                        .reads = {"experiment.nodes", "faults.partitions"},
                        .what = groups.error().what,
                        .note = groups.error().hint});
  }
}

std::vector<Problem> DaemonProblems(const FaultSettings& faults) {
  const std::string key = faults.SimulatedKey();
  if (key.empty()) return {};
  return {OnlySimulated(key, "'covey-sim run --mode virtual' honours it; leave it out here")};
}

Result<std::vector<std::vector<std::uint32_t>>> ParseGroups(const std::string& text,
                                                            std::uint32_t nodes) {
  const auto fail = [](const std::string& what) {
    return Fail(ErrorCode::kConfig, "groups", what, "write e.g. halves, or '0-3, 7 | 4-6'");
  };
  std::vector<std::vector<std::uint32_t>> groups(1);
  if (text == "halves") {
    if (nodes < 2) return fail("one node has no halves");
    groups.resize(2);
    for (std::uint32_t i = 0; i < nodes; ++i) groups[i < (nodes + 1) / 2 ? 0 : 1].push_back(i);
    return groups;
  }
  std::set<std::uint32_t> named;
  std::string plain = text;
  std::erase(plain, ' ');
  for (std::string_view rest = plain; !rest.empty();) {
    const auto range = TakeRange(rest);
    if (!range || range->second < range->first) {
      return fail("'" + text + "' is no list of groups");
    }
    for (std::uint64_t i = range->first; i <= range->second; ++i) {
      if (i >= nodes) return fail("there is no node " + std::to_string(i));
      const auto node = static_cast<std::uint32_t>(i);
      if (!named.insert(node).second) return fail("node " + std::to_string(i) + " is named twice");
      groups.back().push_back(node);
    }
    if (rest.empty()) break;
    if (rest.front() == '|') {
      groups.emplace_back();
    } else if (rest.front() != ',') {
      return fail("'" + text + "' is no list of groups");
    }
    rest.remove_prefix(1);
    if (rest.empty()) return fail("'" + text + "' ends in the middle");
  }
  if (groups.size() < 2) return fail("wants at least two groups, got '" + text + "'");
  for (std::vector<std::uint32_t>& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

}  // namespace covey::config
