#include "covey/harness/fleet_job.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "covey/base/sha256.h"
#include "covey/config/load.h"

namespace covey::harness {
namespace {

using Json = nlohmann::ordered_json;

// Processor time of this thread: other jobs beside it don't count.
double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Sums scores; accuracy is absent as soon as one has none.
struct ScoreSum {
  double loss = 0;
  std::optional<double> accuracy = 0;
  std::size_t count = 0;

  void Add(const Score& score) {
    const std::optional<double> value = score.accuracy;
    loss += score.loss;
    accuracy = accuracy && value ? std::optional(*accuracy + *value) : std::nullopt;
    ++count;
  }
  LossAccuracy Mean() const {
    const double n = static_cast<double>(std::max<std::size_t>(count, 1));
    return {loss / n, accuracy && count > 0 ? std::optional(*accuracy / n) : std::nullopt};
  }
};

LossAccuracy Of(const Score& score) { return {score.loss, score.accuracy}; }

Json Stored(const LossAccuracy& score) {
  Json json = {{"loss", score.loss}};
  if (score.accuracy) json["accuracy"] = *score.accuracy;
  return json;
}

Json Optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// Numbers that are not finite are written as null (JSON has none) and read as such.
double Number(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> OptionalNumber(const Json& json, const char* name) {
  if (!json.contains(name) || !json[name].is_number()) return std::nullopt;
  return json[name].get<double>();
}

LossAccuracy ReadScore(const Json& json) {
  return {Number(json.value("loss", Json())), OptionalNumber(json, "accuracy")};
}

// Seven numbers: epoch, then loss and accuracy of mean, low and high.
Json Stored(const CurvePoint& point) {
  return Json::array({point.epoch, point.mean.loss, Optional(point.mean.accuracy), point.low.loss,
                      Optional(point.low.accuracy), point.high.loss,
                      Optional(point.high.accuracy)});
}

std::optional<CurvePoint> ReadPoint(const Json& json) {
  if (!json.is_array() || json.size() != 7) return std::nullopt;
  const auto score = [&json](std::size_t at) {
    LossAccuracy read{Number(json[at]), std::nullopt};
    if (json[at + 1].is_number()) read.accuracy = json[at + 1].get<double>();
    return read;
  };
  return CurvePoint{Number(json[0]), score(1), score(3), score(5)};
}

Json Stored(const Traffic& traffic) {
  return Json::array({traffic.weights_sent, traffic.weights_dropped, traffic.weights_received,
                      traffic.deltas_sent, traffic.deltas_dropped, traffic.deltas_received,
                      traffic.bytes_sent});
}

bool ReadTraffic(const Json& json, Traffic& traffic) {
  if (!json.is_array() || json.size() != 7) return false;
  std::uint64_t* const to[] = {&traffic.weights_sent,     &traffic.weights_dropped,
                               &traffic.weights_received, &traffic.deltas_sent,
                               &traffic.deltas_dropped,   &traffic.deltas_received,
                               &traffic.bytes_sent};
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_number_unsigned()) return false;
    *to[i] = json[i].get<std::uint64_t>();
  }
  return true;
}

// Passes the progress of a fleet to its job: the mean over the nodes, now and then.
class JobObserver final : public Observer {
 public:
  explicit JobObserver(const JobContext& context) : context_(context) {}

  void Begin(Group, std::uint32_t nodes) override { fractions_.assign(nodes, 0.0); }
  void Progress(const NodeProgress& progress) override {
    double& fraction = fractions_[progress.index];
    sum_ += progress.fraction - fraction;
    fraction = progress.fraction;
    if (++calls_ % kEvery != 0 || !context_.progress) return;
    context_.progress(sum_ / static_cast<double>(fractions_.size()));
  }
  void Evaluated(Group, std::uint32_t, const Point&) override {}
  void Finish(Group) override {}
  void Note(const std::string&) override {}
  bool Interrupted() const override { return context_.stopped && context_.stopped(); }

 private:
  static constexpr std::uint64_t kEvery = 64;

  const JobContext& context_;
  std::vector<double> fractions_;
  double sum_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace

std::optional<FleetFigures> SumUp(const Outcome& outcome, Group group, std::size_t points) {
  const std::vector<const NodeOutcome*> nodes = Counted(outcome, group);
  if (nodes.empty()) return std::nullopt;
  FleetFigures figures;
  figures.nodes = nodes.size();
  figures.spread = outcome.spread;
  figures.on_test_set = true;
  ScoreSum best;
  ScoreSum validation;
  ScoreSum lowest;
  ScoreSum last;
  for (const NodeOutcome* node : nodes) {
    best.Add(node->best->reported());
    if (node->best->validation) validation.Add(*node->best->validation);
    last.Add(node->last->reported());
    const Selected& low = node->lowest_loss ? *node->lowest_loss : *node->best;
    lowest.Add(low.reported());
    figures.lowest_loss_epoch += low.epoch / static_cast<double>(nodes.size());
    figures.best_epoch += node->best->epoch / static_cast<double>(nodes.size());
    figures.on_test_set = figures.on_test_set && node->best->test && node->last->test;
    const std::optional<double> accuracy = node->best->reported().accuracy;
    if (!accuracy) continue;
    figures.accuracy_min = std::min(figures.accuracy_min.value_or(*accuracy), *accuracy);
    figures.accuracy_max = std::max(figures.accuracy_max.value_or(*accuracy), *accuracy);
  }
  figures.best = best.Mean();
  if (validation.count == nodes.size()) figures.validation = validation.Mean().accuracy;
  figures.lowest_loss = lowest.Mean();
  figures.last = last.Mean();
  for (const NodeOutcome& node : outcome.runs) {
    if (node.group != group) continue;
    figures.traffic += node.traffic;
    figures.samples += node.samples;
  }
  for (const Band& band : MeanCurve(outcome, group, points)) {
    figures.curve.push_back({band.epoch, Of(band.mean), Of(band.low), Of(band.high)});
  }
  return figures;
}

std::string ToJsonText(const FleetFigures& figures) {
  Json curve = Json::array();
  for (const CurvePoint& point : figures.curve) curve.push_back(Stored(point));
  const Json json = {{"nodes", figures.nodes},
                     {"best", Stored(figures.best)},
                     {"validation", Optional(figures.validation)},
                     {"accuracy_min", Optional(figures.accuracy_min)},
                     {"accuracy_max", Optional(figures.accuracy_max)},
                     {"best_epoch", figures.best_epoch},
                     {"lowest_loss", Stored(figures.lowest_loss)},
                     {"lowest_loss_epoch", figures.lowest_loss_epoch},
                     {"last", Stored(figures.last)},
                     {"spread", Optional(figures.spread)},
                     {"traffic", Stored(figures.traffic)},
                     {"samples", figures.samples},
                     {"on_test_set", figures.on_test_set},
                     {"seconds", figures.seconds},
                     {"curve", std::move(curve)}};
  return json.dump();
}

Result<FleetFigures> FiguresFromJson(std::string_view text) {
  const auto wrong = [] {
    return Fail(ErrorCode::kData, "stored result", "is not the figures of a fleet",
                "remove its line from results.jsonl: it will run again");
  };
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return wrong();
  const Json best = json.value("best", Json());
  const Json last = json.value("last", Json());
  const Json lowest = json.value("lowest_loss", Json());
  const Json curve = json.value("curve", Json());
  const Json nodes = json.value("nodes", Json());
  const Json samples = json.value("samples", Json());
  if (!best.is_object() || !last.is_object() || !lowest.is_object() || !curve.is_array())
    return wrong();
  if (!nodes.is_number_unsigned() || !samples.is_number_unsigned()) return wrong();
  FleetFigures figures;
  figures.nodes = nodes.get<std::size_t>();
  figures.samples = samples.get<std::uint64_t>();
  figures.best = ReadScore(best);
  figures.last = ReadScore(last);
  figures.lowest_loss = ReadScore(lowest);
  figures.lowest_loss_epoch = Number(json.value("lowest_loss_epoch", Json()));
  figures.validation = OptionalNumber(json, "validation");
  figures.accuracy_min = OptionalNumber(json, "accuracy_min");
  figures.accuracy_max = OptionalNumber(json, "accuracy_max");
  figures.best_epoch = Number(json.value("best_epoch", Json()));
  figures.spread = OptionalNumber(json, "spread");
  figures.seconds = OptionalNumber(json, "seconds").value_or(0);
  figures.on_test_set = json.value("on_test_set", Json()) == Json(true);
  if (!ReadTraffic(json.value("traffic", Json()), figures.traffic)) return wrong();
  for (const Json& item : curve) {
    const std::optional<CurvePoint> point = ReadPoint(item);
    if (!point) return wrong();
    figures.curve.push_back(*point);
  }
  return figures;
}

Result<std::optional<std::string>> RunFleetJob(const config::Experiment& experiment, Group group,
                                               std::size_t points, const JobContext& context) {
  const double start = ThreadSeconds();
  JobObserver observer(context);
  Result<FleetOutcome> fleet =
      RunVirtual(experiment, group, observer, {.keep_lowest_loss = true, .threads = 1});
  if (!fleet) return tl::unexpected(fleet.error());
  return FleetText(std::move(*fleet), group, points, ThreadSeconds() - start, experiment.name);
}

Result<std::optional<std::string>> FleetText(FleetOutcome fleet, Group group, std::size_t points,
                                             double seconds, const std::string& where) {
  if (fleet.interrupted) return std::optional<std::string>();
  Outcome outcome;
  outcome.spread = fleet.spread;
  outcome.runs = std::move(fleet.nodes);
  std::optional<FleetFigures> figures = SumUp(outcome, group, points);
  if (!figures) {
    return Fail(ErrorCode::kConfig, where, "gives no figures", "set data.validation or data.test");
  }
  figures->seconds = seconds;
  return std::optional<std::string>(ToJsonText(*figures));
}

std::string SettingsHash(const config::Experiment& experiment, Group group) {
  const std::string text = std::string(Name(group)) + '\n' + config::WriteYaml(experiment);
  return Sha256::Of(text).Hex().substr(0, 16);
}

MeanOf Average(const std::vector<double>& values) {
  MeanOf average{.count = values.size()};
  if (values.empty()) return average;
  const double n = static_cast<double>(values.size());
  for (const double value : values) average.mean += value / n;
  if (values.size() < 2) return average;
  double squares = 0;
  for (const double value : values) squares += (value - average.mean) * (value - average.mean);
  average.deviation = std::sqrt(squares / (n - 1));
  return average;
}

std::vector<CurvePoint> AverageCurves(const std::vector<const FleetFigures*>& runs) {
  if (runs.empty()) return {};
  std::vector<CurvePoint> mean = runs.front()->curve;
  double count = 1;
  const auto add = [](LossAccuracy& sum, const LossAccuracy& value) {
    sum.loss += value.loss;
    if (sum.accuracy && value.accuracy) *sum.accuracy += *value.accuracy;
  };
  const auto outer = [](LossAccuracy& bound, const LossAccuracy& value, const auto& pick) {
    bound.loss = pick(bound.loss, value.loss);
    if (bound.accuracy && value.accuracy) bound.accuracy = pick(*bound.accuracy, *value.accuracy);
  };
  for (std::size_t r = 1; r < runs.size(); ++r) {
    if (runs[r]->curve.size() != mean.size()) continue;
    ++count;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const CurvePoint& point = runs[r]->curve[i];
      mean[i].epoch += point.epoch;
      add(mean[i].mean, point.mean);
      outer(mean[i].low, point.low, [](double a, double b) { return std::min(a, b); });
      outer(mean[i].high, point.high, [](double a, double b) { return std::max(a, b); });
    }
  }
  for (CurvePoint& point : mean) {
    point.epoch /= count;
    point.mean.loss /= count;
    if (point.mean.accuracy) *point.mean.accuracy /= count;
  }
  return mean;
}

}  // namespace covey::harness
