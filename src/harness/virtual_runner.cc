#include <algorithm>
#include <thread>
#include <utility>

#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "covey/harness/runner.h"
#include "covey/simulate/fleet.h"
#include "covey/simulate/memory.h"
#include "harness/fleet_memory.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

config::Run RunOf(Group group) {
  switch (group) {
    case Group::kConsensus:
      return config::Run::kConsensus;
    case Group::kMonolithic:
      return config::Run::kMonolithic;
    case Group::kIsolated:
      return config::Run::kIsolated;
  }
  return config::Run::kConsensus;
}

std::string_view StateName(consensus::State state) {
  switch (state) {
    case consensus::State::kJoining:
      return "joining";
    case consensus::State::kTraining:
      return "training";
    case consensus::State::kSettling:
      return "settling";
    case consensus::State::kDone:
      return "done";
  }
  return "?";
}

Score Of(const gradient::Evaluation& evaluation) {
  Score score{.loss = evaluation.loss, .accuracy = evaluation.accuracy};
  if (evaluation.errors) {
    score.r2 = evaluation.errors->r2;
    score.mean_absolute_error = evaluation.errors->mean_absolute;
  }
  return score;
}

std::optional<Selected> Select(const learner::Score& score,
                               const std::optional<gradient::Evaluation>& test) {
  Selected selected{.epoch = score.epoch, .validation = std::nullopt, .test = std::nullopt};
  if (score.validation.samples > 0) selected.validation = Of(score.validation);
  if (test) selected.test = Of(*test);
  if (!selected.validation && !selected.test) return std::nullopt;
  return selected;
}

Traffic TrafficOf(const learner::LinkCounters& links) {
  return {.weights_sent = links.session.weights_out + links.faults.weights_dropped,
          .weights_dropped = links.faults.weights_dropped,
          .weights_received = links.session.weights_in,
          .deltas_sent = links.session.deltas_out + links.faults.deltas_dropped,
          .deltas_dropped = links.faults.deltas_dropped,
          .deltas_received = links.session.deltas_in,
          .bytes_sent = links.session.bytes_out};
}

NodeLife LifeOf(const simulate::NodeResult& node) {
  return {.crashes = node.crashes,
          .left = node.left,
          .speed = node.speed,
          .finished = Seconds(node.finished)};
}

// The curve of the spread has half as many points to twice as many; an observation of a larger
// fleet costs more than it shows.
constexpr std::uint32_t kSpreadPoints = 128;
constexpr std::size_t kSpreadNodes = 64;

// Turns what the simulator tells into what an observer hears, and keeps the curves.
class Listener {
 public:
  Listener(Group group, const std::vector<config::NodeConfig>& configs, Observer& observer)
      : group_(group), configs_(configs), observer_(observer), curves_(configs.size()) {}

  simulate::FleetObserver Callbacks() {
    return {.on_score = [this](std::uint32_t node, const learner::Score& score,
                               Time now) { Scored(node, score, now); },
            .on_progress = [this](const simulate::Progress& progress) { Tell(progress); },
            .on_spread = [this](double spread, Time now) { Keep(spread, now); },
            .interrupted = [this] { return observer_.Interrupted(); }};
  }

  std::vector<Point> TakeCurve(std::size_t node) { return std::move(curves_[node]); }
  std::vector<std::pair<double, double>> TakeSpread() { return std::move(spread_); }

 private:
  void Scored(std::uint32_t node, const learner::Score& score, Time now) {
    if (score.validation.samples == 0) return;
    const Point point{
        .epoch = score.epoch, .seconds = Seconds(now), .validation = Of(score.validation)};
    curves_[node].push_back(point);
    observer_.Evaluated(group_, node, point);
  }

  void Keep(double spread, Time now) {
    spread_.emplace_back(Seconds(now), spread);
    if (spread_.size() < kSpreadPoints) return;
    for (std::size_t i = 0; 2 * i < spread_.size(); ++i) spread_[i] = spread_[2 * i];
    spread_.resize(kSpreadPoints / 2);
  }

  void Tell(const simulate::Progress& progress) {
    const config::NodeConfig& config = configs_[progress.node];
    NodeProgress told{.group = group_,
                      .index = progress.node,
                      .state = std::string(StateName(progress.state)),
                      .fraction = 0,
                      .epochs = progress.epochs,
                      .samples = progress.samples,
                      .traffic = {}};
    const std::uint32_t batch = config.data.batch;
    const auto epochs = static_cast<std::uint64_t>(progress.epochs);
    told.fraction =
        TrainedFraction(config, progress.epochs, batch == 0 ? epochs : progress.samples / batch);
    observer_.Progress(told);
  }

  Group group_;
  const std::vector<config::NodeConfig>& configs_;
  Observer& observer_;
  std::vector<std::vector<Point>> curves_;
  std::vector<std::pair<double, double>> spread_;
};

// Errors: kUnavailable when the machine's memory does not hold the fleet.
Status CheckMemory(const std::vector<config::NodeConfig>& configs, Group group,
                   Observer& observer) {
  const std::uint64_t needed = simulate::EstimateMemory(configs);
  const std::string who = std::to_string(configs.size()) + " nodes of this model";
  if (Status fits = FitsMachine(who, needed, MachineMemory()); !fits) return fits;
  if (group != Group::kConsensus || configs.size() <= kLargeFleet) return {};
  observer.Note("The fleet needs about " + Bytes(needed) + " of memory.");
  return {};
}

}  // namespace

std::uint64_t FleetMemory(const config::Experiment& experiment, Group group) {
  const auto configs = config::Expand(experiment, RunOf(group));
  return configs ? simulate::EstimateMemory(*configs) : 0;
}

double TrainedFraction(const config::NodeConfig& config, double epochs, std::uint64_t batches) {
  const config::Until& until = config.train.until;
  double fraction = 0;
  if (until.kind == config::Until::Kind::kEpochs && until.epochs > 0) {
    fraction = epochs / until.epochs;
  } else if (until.kind == config::Until::Kind::kBatches && until.batches > 0) {
    fraction = static_cast<double>(batches) / static_cast<double>(until.batches);
  }
  return std::clamp(fraction, 0.0, 1.0);
}

Result<FleetOutcome> RunVirtual(const config::Experiment& experiment, Group group,
                                Observer& observer, const VirtualOptions& virtual_options) {
  Result<std::vector<config::NodeConfig>> configs = config::Expand(experiment, RunOf(group));
  if (!configs) return tl::unexpected(configs.error());
  const config::Environment environment = config::Environment::OfProcess();
  simulate::FleetOptions options;
  options.keep_lowest_loss = virtual_options.keep_lowest_loss;
  options.threads = virtual_options.threads > 0 ? virtual_options.threads
                                                : std::max(1u, std::thread::hardware_concurrency());
  for (std::uint32_t i = 0; i < configs->size(); ++i) {
    config::FillPaths((*configs)[i], environment);
    const auto own = experiment.overrides.nodes.find(i);
    const bool late = group == Group::kConsensus && own != experiment.overrides.nodes.end();
    options.start_after.push_back(late ? own->second.start_after : Duration{});
  }
  if (Status fits = CheckMemory(*configs, group, observer); !fits) {
    return tl::unexpected(fits.error());
  }
  if (group == Group::kConsensus && configs->size() > 1 && configs->size() <= kSpreadNodes) {
    options.spread_every = std::chrono::milliseconds(1);
    options.spread_points = kSpreadPoints;
  }
  Listener listener(group, *configs, observer);
  observer.Begin(group, static_cast<std::uint32_t>(configs->size()));
  Result<simulate::FleetResult> result =
      simulate::RunFleet(*configs, options, listener.Callbacks());
  if (!result) return tl::unexpected(result.error());

  FleetOutcome outcome;
  outcome.interrupted = result->interrupted;
  if (group == Group::kConsensus && result->nodes.size() > 1) outcome.spread = result->spread;
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < result->nodes.size(); ++i) {
    simulate::NodeResult& from = result->nodes[i];
    NodeOutcome node;
    node.group = group;
    node.index = static_cast<std::uint32_t>(i);
    node.end = result->interrupted ? End::kInterrupted : End::kDone;
    node.curve = listener.TakeCurve(i);
    node.best = Select(from.scores.best, from.scores.best_test);
    node.last = Select(from.scores.last, from.scores.last_test);
    if (from.scores.lowest_loss) {
      node.lowest_loss = Select(*from.scores.lowest_loss, from.scores.lowest_loss_test);
    }
    node.shard = from.shard;
    node.samples = from.samples;
    node.epochs = from.epochs;
    node.rounds = from.counters.rounds;
    node.traffic = TrafficOf(from.links);
    if (group == Group::kConsensus) node.life = LifeOf(from);
    samples += from.samples;
    const bool better =
        node.best && (!outcome.best || IsBetter(node.best->judged(), outcome.best->score.judged()));
    if (better) outcome.best = Model{std::move(from.x), node.index, *node.best};
    outcome.nodes.push_back(std::move(node));
  }
  outcome.spread_curve = listener.TakeSpread();
  if (!outcome.spread_curve.empty() && !result->interrupted) {
    outcome.spread_curve.emplace_back(Seconds(result->virtual_time), result->spread);
  }
  const double seconds = Seconds(result->virtual_time);
  outcome.virtual_seconds = seconds;
  if (seconds > 0) outcome.samples_per_second = static_cast<double>(samples) / seconds;
  observer.Finish(group);
  return outcome;
}

}  // namespace covey::harness
