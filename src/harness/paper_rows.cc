#include <covey_paper_files.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "covey/base/check.h"
#include "covey/harness/paper.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using Kind = PaperRow::Kind;

constexpr std::uint32_t kSharingNodes = 8;
constexpr std::uint32_t kBiasedNodes = 10;  // one for each class

// As table1.csv calls them.
std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kMonolithic:
      return "monolithic";
    case Kind::kUpdateRate:
      return "update_rate_M";
    case Kind::kMixRate:
      return "mix_rate_percent";
    case Kind::kReplyDrop:
      return "reply_drop_percent";
  }
  return "?";
}

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

// Four digits, as the paper prints.
double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

Cell Compare(double ours, double paper, double sign) {
  if (!std::isfinite(ours)) return {Standing::kWorse, ours};
  const double distance = Rounded(Rounded(ours) - Rounded(paper));
  if (distance == 0) return {Standing::kEqual, 0};
  return {distance * sign > 0 ? Standing::kBetter : Standing::kWorse, distance};
}

}  // namespace

std::string PaperRow::Name() const {
  const std::string name(KindName(kind));
  return kind == Kind::kMonolithic ? name : name + '=' + std::to_string(value);
}

std::string PaperRow::Label() const {
  switch (kind) {
    case Kind::kMonolithic:
      return "monolithic";
    case Kind::kUpdateRate:
      return "M = " + std::to_string(value);
    case Kind::kMixRate:
      return "mix rate " + std::to_string(value) + " %";
    case Kind::kReplyDrop:
      return "reply drop " + std::to_string(value) + " %";
  }
  return "?";
}

int PaperRow::figure() const {
  switch (kind) {
    case Kind::kMonolithic:
    case Kind::kUpdateRate:
      return 1;
    case Kind::kMixRate:
      return 2;
    case Kind::kReplyDrop:
      return 3;
  }
  return 1;
}

std::vector<PaperRow> PaperRows() {
  std::vector<PaperRow> rows = {{Kind::kMonolithic, 0}};
  for (const std::uint32_t sends : {0u, 1u, 2u, 5u}) rows.push_back({Kind::kUpdateRate, sends});
  for (std::uint32_t rate = 0; rate <= 90; rate += 10) rows.push_back({Kind::kMixRate, rate});
  for (std::uint32_t drop = 0; drop <= 100; drop += 25) rows.push_back({Kind::kReplyDrop, drop});
  return rows;
}

Result<std::vector<PaperRow>> SelectRows(const std::optional<int>& figure,
                                         const std::vector<std::string>& names) {
  if (figure && (*figure < 1 || *figure > 3)) {
    return Fail(ErrorCode::kUsage, "--figure", "got " + std::to_string(*figure) + ", want 1 to 3");
  }
  std::vector<PaperRow> rows;
  std::string known;
  for (const PaperRow& row : PaperRows()) {
    known += (known.empty() ? "" : ", ") + row.Name();
    const bool named = std::find(names.begin(), names.end(), row.Name()) != names.end();
    const bool drawn = figure && row.figure() == *figure;
    if (named || drawn || (names.empty() && !figure)) rows.push_back(row);
  }
  for (const std::string& name : names) {
    const auto same = [&name](const PaperRow& row) { return row.Name() == name; };
    if (std::any_of(rows.begin(), rows.end(), same)) continue;
    return Fail(ErrorCode::kUsage, "--row", "no row is called '" + name + "'", "rows: " + known);
  }
  return rows;
}

Result<PaperDataset> FindDataset(const std::string& name) {
  const std::array<PaperDataset, 3> sets = {{
      {"mnist", "MNIST", "mnist", std::string(paper_files::kMnist)},
      {"fashion-mnist", "Fashion-MNIST", "fashion", std::string(paper_files::kFashionMnist)},
      {"cifar-10", "CIFAR-10", "cifar10", std::string(paper_files::kCifar10)},
  }};
  for (const PaperDataset& set : sets) {
    if (set.name == name) return set;
  }
  return Fail(ErrorCode::kUsage, "--dataset",
              "got '" + name + "', want mnist, fashion-mnist or cifar-10");
}

config::Experiment ExperimentOf(const PaperRow& row, const config::Experiment& base) {
  config::Experiment experiment = base;
  experiment.mode = config::Experiment::Mode::kVirtual;
  experiment.controls = config::Experiment::Controls::kNone;
  config::NodeConfig& node = experiment.node;
  experiment.nodes = row.kind == Kind::kMixRate ? kBiasedNodes : kSharingNodes;
  if (row.kind == Kind::kMixRate) {
    experiment.partition.kind = data::PartitionSettings::Kind::kMixRate;
    experiment.partition.rate = row.value / 100.0;
  }
  if (row.kind == Kind::kUpdateRate) node.consensus.sends = row.value;
  if (node.consensus.sends == 0) {
    // Nobody to exchange with: the tail would train nothing and change nothing.
    node.train.settle = config::Settle{.fraction = 0, .rounds = 0};
  }
  if (row.kind == Kind::kReplyDrop) node.faults.deltas_drop = row.value / 100.0;
  config::EvaluateSettings& evaluate = node.train.evaluate;
  const config::Until& until = node.train.until;
  if (until.kind == config::Until::Kind::kEpochs) {
    evaluate.every = config::EvaluateSettings::Every::kEpochs;
    evaluate.epochs = std::max(until.epochs / static_cast<double>(kCurvePoints), 1e-3);
  }
  return experiment;
}

Group GroupOf(const PaperRow& row) {
  return row.kind == Kind::kMonolithic ? Group::kMonolithic : Group::kConsensus;
}

std::optional<LossAccuracy> PaperFigures(const PaperDataset& dataset, const PaperRow& row) {
  std::istringstream table{std::string(paper_files::kTable1)};
  std::vector<std::string> head;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> fields = Fields(line);
    if (head.empty()) {
      head = fields;
      continue;
    }
    COVEY_CHECK(fields.size() == head.size(), line);
    const std::string name = fields[1].empty() ? fields[0] : fields[0] + '=' + fields[1];
    if (name != row.Name()) continue;
    LossAccuracy figures;
    for (std::size_t i = 2; i < head.size(); ++i) {
      if (head[i] == dataset.column + "_loss") figures.loss = std::stod(fields[i]);
      if (head[i] == dataset.column + "_acc") figures.accuracy = std::stod(fields[i]);
    }
    COVEY_CHECK(figures.accuracy.has_value(), line);
    return figures;
  }
  return std::nullopt;
}

std::string_view Name(Standing standing) {
  switch (standing) {
    case Standing::kBetter:
      return "better";
    case Standing::kEqual:
      return "equal";
    case Standing::kWorse:
      return "worse";
  }
  return "?";
}

Cell CompareLoss(double ours, double paper) { return Compare(ours, paper, -1); }
Cell CompareAccuracy(double ours, double paper) { return Compare(ours, paper, 1); }

std::optional<Cell> PaperResult::loss_cell() const {
  return paper ? std::optional(CompareLoss(loss.mean, paper->loss)) : std::nullopt;
}

std::optional<Cell> PaperResult::accuracy_cell() const {
  return paper ? std::optional(CompareAccuracy(accuracy.mean, *paper->accuracy)) : std::nullopt;
}

PaperResult Combine(const PaperDataset& dataset, const PaperRow& row,
                    const std::vector<FleetFigures>& runs) {
  COVEY_CHECK(!runs.empty(), row.Name());
  const auto average = [&runs](const auto& figure) {
    std::vector<double> values;
    for (const FleetFigures& run : runs) {
      if (const std::optional<double> value = figure(run)) values.push_back(*value);
    }
    return Average(values);
  };
  using Value = std::optional<double>;
  PaperResult result;
  result.row = row;
  result.loss = average([](const FleetFigures& run) -> Value { return run.lowest_loss.loss; });
  result.loss_epoch =
      average([](const FleetFigures& run) -> Value { return run.lowest_loss_epoch; });
  result.accuracy = average([](const FleetFigures& run) { return run.best.accuracy; });
  result.last_loss = average([](const FleetFigures& run) -> Value { return run.last.loss; });
  result.last_accuracy = average([](const FleetFigures& run) { return run.last.accuracy; });
  result.accuracy_epoch = average([](const FleetFigures& run) -> Value { return run.best_epoch; });
  result.loss_at_accuracy = average([](const FleetFigures& run) -> Value { return run.best.loss; });
  result.spread = average([](const FleetFigures& run) { return run.spread; });
  std::vector<const FleetFigures*> all;
  for (const FleetFigures& run : runs) {
    result.bytes_a_node += static_cast<double>(run.traffic.bytes_sent) /
                           static_cast<double>(std::max<std::size_t>(run.nodes, 1) * runs.size());
    result.seconds += run.seconds;
    all.push_back(&run);
  }
  result.curve = AverageCurves(all);
  result.paper = PaperFigures(dataset, row);
  return result;
}

}  // namespace covey::harness
