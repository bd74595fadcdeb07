#include "covey/harness/outcome.h"

#include <algorithm>
#include <cmath>

#include "covey/base/check.h"

namespace covey::harness {
namespace {

void Add(Score& sum, const Score& score) {
  sum.loss += score.loss;
  sum.accuracy += score.accuracy;
}

void Divide(Score& sum, double by) {
  sum.loss /= by;
  sum.accuracy /= by;
}

bool HasFigures(const NodeOutcome& node) { return node.best && node.last; }

// Absent unless all nodes have one.
std::optional<Score> MeanValidation(const std::vector<const NodeOutcome*>& nodes,
                                    std::optional<Selected> NodeOutcome::*which) {
  Score sum;
  for (const NodeOutcome* node : nodes) {
    const std::optional<Selected>& selected = node->*which;
    if (!selected->validation) return std::nullopt;
    Add(sum, *selected->validation);
  }
  Divide(sum, static_cast<double>(nodes.size()));
  return sum;
}

// The node's validation score at `epoch`, or nothing outside of its curve.
std::optional<Score> At(const std::vector<Point>& curve, double epoch) {
  constexpr double kSame = 1e-9;
  if (curve.empty() || epoch < curve.front().epoch - kSame || epoch > curve.back().epoch + kSame) {
    return std::nullopt;
  }
  const auto above =
      std::lower_bound(curve.begin(), curve.end(), epoch,
                       [](const Point& point, double value) { return point.epoch < value; });
  if (above == curve.end()) return curve.back().validation;
  if (above == curve.begin()) return curve.front().validation;
  const Point& right = *above;
  const Point& left = *(above - 1);
  const double width = right.epoch - left.epoch;
  const double t = width > 0 ? (epoch - left.epoch) / width : 1.0;
  return Score{std::lerp(left.validation.loss, right.validation.loss, t),
               std::lerp(left.validation.accuracy, right.validation.accuracy, t)};
}

// The epochs of all curves, thinned to at most `points`.
std::vector<double> CommonEpochs(const std::vector<const NodeOutcome*>& nodes, std::size_t points) {
  std::vector<double> epochs;
  for (const NodeOutcome* node : nodes) {
    for (const Point& point : node->curve) epochs.push_back(point.epoch);
  }
  std::sort(epochs.begin(), epochs.end());
  epochs.erase(std::unique(epochs.begin(), epochs.end()), epochs.end());
  if (epochs.size() <= points) return epochs;
  std::vector<double> thinned;
  for (std::size_t i = 0; i < points; ++i) {
    thinned.push_back(epochs[i * (epochs.size() - 1) / (points - 1)]);
  }
  return thinned;
}

}  // namespace

std::string_view Name(Group group) {
  switch (group) {
    case Group::kConsensus:
      return "consensus";
    case Group::kMonolithic:
      return "monolithic";
    case Group::kIsolated:
      return "isolated";
  }
  return "?";
}

std::string_view Name(End end) {
  switch (end) {
    case End::kDone:
      return "done";
    case End::kDied:
      return "died";
    case End::kInterrupted:
      return "interrupted";
  }
  return "?";
}

Traffic& Traffic::operator+=(const Traffic& other) {
  weights_sent += other.weights_sent;
  weights_dropped += other.weights_dropped;
  weights_received += other.weights_received;
  deltas_sent += other.deltas_sent;
  deltas_dropped += other.deltas_dropped;
  deltas_received += other.deltas_received;
  bytes_sent += other.bytes_sent;
  return *this;
}

std::vector<const NodeOutcome*> Counted(const Outcome& outcome, Group group) {
  std::vector<const NodeOutcome*> done;
  std::vector<const NodeOutcome*> any;
  for (const NodeOutcome& node : outcome.runs) {
    if (node.group != group || !HasFigures(node)) continue;
    any.push_back(&node);
    if (node.end == End::kDone) done.push_back(&node);
  }
  return done.empty() ? any : done;
}

std::optional<GroupFigures> Figures(const Outcome& outcome, Group group) {
  const std::vector<const NodeOutcome*> nodes = Counted(outcome, group);
  if (nodes.empty()) return std::nullopt;
  GroupFigures figures;
  figures.nodes = nodes.size();
  figures.accuracy_min = 1;
  figures.on_test_set = true;
  for (const NodeOutcome* node : nodes) {
    Add(figures.best, node->best->reported());
    Add(figures.last, node->last->reported());
    figures.best_epoch += node->best->epoch;
    figures.last_epoch += node->last->epoch;
    const double accuracy = node->best->reported().accuracy;
    figures.accuracy_min = std::min(figures.accuracy_min, accuracy);
    figures.accuracy_max = std::max(figures.accuracy_max, accuracy);
    figures.on_test_set = figures.on_test_set && node->best->test && node->last->test;
  }
  const double count = static_cast<double>(nodes.size());
  Divide(figures.best, count);
  Divide(figures.last, count);
  figures.best_epoch /= count;
  figures.last_epoch /= count;
  figures.best_validation = MeanValidation(nodes, &NodeOutcome::best);
  figures.last_validation = MeanValidation(nodes, &NodeOutcome::last);
  return figures;
}

Traffic TotalTraffic(const Outcome& outcome) {
  Traffic total;
  for (const NodeOutcome& node : outcome.runs) {
    if (node.group == Group::kConsensus) total += node.traffic;
  }
  return total;
}

std::uint64_t LargestPss(const Outcome& outcome) {
  std::uint64_t largest = 0;
  for (const NodeOutcome& node : outcome.runs) {
    if (node.group == Group::kConsensus) largest = std::max(largest, node.pss_bytes);
  }
  return largest;
}

std::vector<Band> MeanCurve(const Outcome& outcome, Group group, std::size_t points) {
  COVEY_CHECK(points >= 2, points);
  std::vector<const NodeOutcome*> nodes;
  for (const NodeOutcome& node : outcome.runs) {
    if (node.group == group && !node.curve.empty()) nodes.push_back(&node);
  }
  std::vector<Band> bands;
  for (const double epoch : CommonEpochs(nodes, points)) {
    Band band{.epoch = epoch, .mean = {}, .low = {}, .high = {}};
    std::size_t count = 0;
    for (const NodeOutcome* node : nodes) {
      const std::optional<Score> score = At(node->curve, epoch);
      if (!score) continue;
      if (count == 0) band.low = band.high = *score;
      band.low.loss = std::min(band.low.loss, score->loss);
      band.low.accuracy = std::min(band.low.accuracy, score->accuracy);
      band.high.loss = std::max(band.high.loss, score->loss);
      band.high.accuracy = std::max(band.high.accuracy, score->accuracy);
      Add(band.mean, *score);
      ++count;
    }
    if (count == 0 || 2 * count < nodes.size()) continue;
    Divide(band.mean, static_cast<double>(count));
    bands.push_back(band);
  }
  return bands;
}

}  // namespace covey::harness
