#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "covey/harness/runner.h"
#include "covey/nn/model.h"
#include "covey/simulate/topology.h"

namespace covey::harness {
namespace {

using Controls = config::Experiment::Controls;

std::vector<Group> ControlsOf(const config::Experiment& experiment) {
  std::vector<Group> groups;
  const Controls controls = experiment.controls;
  if (controls == Controls::kMonolithic || controls == Controls::kAll) {
    groups.push_back(Group::kMonolithic);
  }
  if (controls == Controls::kIsolated || controls == Controls::kAll) {
    groups.push_back(Group::kIsolated);
  }
  return groups;
}

// Larger fleets run one after another: together they may not fit into memory, and each uses all
// processors by itself.
constexpr std::uint32_t kTogether = 64;

// Runs groups on the virtual clock, each on a thread of its own.
class Parallel {
 public:
  Parallel(const config::Experiment& experiment, Observer& observer)
      : experiment_(experiment), observer_(observer) {}
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  ~Parallel() { Join(); }

  void Start(const std::vector<Group>& groups) {
    results_.resize(groups.size());
    if (experiment_.nodes > kTogether) {
      threads_.emplace_back([this, groups] {
        for (std::size_t i = 0; i < groups.size() && !observer_.Interrupted(); ++i) {
          results_[i].emplace(RunVirtual(experiment_, groups[i], observer_));
        }
      });
      return;
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      threads_.emplace_back([this, i, group = groups[i]] {
        results_[i].emplace(RunVirtual(experiment_, group, observer_));
      });
    }
  }

  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // After Join.
  std::vector<std::optional<Result<FleetOutcome>>>& results() { return results_; }

 private:
  const config::Experiment& experiment_;
  Observer& observer_;
  std::vector<std::optional<Result<FleetOutcome>>> results_;
  std::vector<std::thread> threads_;
};

void Append(Outcome& outcome, FleetOutcome&& fleet) {
  for (NodeOutcome& node : fleet.nodes) outcome.runs.push_back(std::move(node));
  outcome.interrupted = outcome.interrupted || fleet.interrupted;
}

// Who can exchange with whom, for the report; daemons with everybody. Nothing for moving nodes, for
// nodes that never send, and for fleets too large to be drawn.
std::vector<std::pair<std::uint32_t, std::uint32_t>> LinksOf(const config::Experiment& experiment) {
  const bool simulated = experiment.mode == config::Experiment::Mode::kVirtual;
  const config::FaultSettings& faults = experiment.node.faults;
  if (experiment.node.consensus.sends == 0 || experiment.nodes > simulate::kFullMesh) return {};
  const config::TopologySettings topology =
      simulated ? faults.links.topology : config::TopologySettings{};
  auto pairs = simulate::PairsOf(topology, faults.seed == 0 ? experiment.seed : faults.seed,
                                 experiment.nodes);
  return pairs ? std::move(*pairs) : std::vector<simulate::Pair>{};
}

void TakeConsensus(Outcome& outcome, FleetOutcome&& fleet, std::optional<Model>& best) {
  outcome.spread = fleet.spread;
  outcome.spread_curve = std::move(fleet.spread_curve);
  outcome.samples_per_second = fleet.samples_per_second;
  outcome.virtual_seconds = fleet.virtual_seconds;
  outcome.build = fleet.build;
  best = std::move(fleet.best);
  Append(outcome, std::move(fleet));
}

}  // namespace

std::uint64_t MemoryAtOnce(const config::Experiment& experiment) {
  std::uint64_t together = FleetMemory(experiment, Group::kConsensus);
  for (const Group group : ControlsOf(experiment)) {
    const std::uint64_t own = FleetMemory(experiment, group);
    together = experiment.nodes > kTogether ? std::max(together, own) : together + own;
  }
  return together;
}

Result<Outcome> RunExperiment(const config::Experiment& experiment, const ProcessOptions& processes,
                              Observer& observer, std::optional<Model>& best) {
  const auto start = std::chrono::steady_clock::now();
  const bool simulated = experiment.mode == config::Experiment::Mode::kVirtual;
  Outcome outcome;
  outcome.experiment = experiment.name;
  outcome.seed = experiment.seed;
  outcome.nodes = experiment.nodes;
  outcome.mode = simulated ? "virtual" : "process";
  outcome.model = nn::Summary(experiment.node.model);
  outcome.links = LinksOf(experiment);

  std::vector<Group> groups = ControlsOf(experiment);
  if (simulated) groups.insert(groups.begin(), Group::kConsensus);
  Parallel parallel(experiment, observer);
  if (!simulated) {
    // Not beside the controls: they would take the daemons' processor time.
    Result<FleetOutcome> fleet = RunProcesses(experiment, processes, observer);
    if (!fleet) return tl::unexpected(fleet.error());
    TakeConsensus(outcome, std::move(*fleet), best);
  }
  if (!outcome.interrupted) parallel.Start(groups);
  parallel.Join();
  for (std::size_t i = 0; i < parallel.results().size(); ++i) {
    if (!parallel.results()[i]) continue;  // interrupted before it began
    Result<FleetOutcome>& result = *parallel.results()[i];
    if (!result) return tl::unexpected(result.error());
    if (groups[i] == Group::kConsensus) {
      TakeConsensus(outcome, std::move(*result), best);
    } else {
      Append(outcome, std::move(*result));
    }
  }
  outcome.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace covey::harness
