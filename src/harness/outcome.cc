#include "covey/harness/outcome.h"

#include <algorithm>
#include <cmath>

#include "covey/base/check.h"

namespace covey::harness {
namespace {

using Maybe = std::optional<double>;

// Returns: f of the losses and of every figure that both have.
template <class Function>
Score Combine(const Score& a, const Score& b, Function f) {
  const auto both = [&f](const Maybe& left, const Maybe& right) -> Maybe {
    if (!left || !right) return std::nullopt;
    return f(*left, *right);
  };
  return {.loss = f(a.loss, b.loss),
          .accuracy = both(a.accuracy, b.accuracy),
          .r2 = both(a.r2, b.r2),
          .mean_absolute_error = both(a.mean_absolute_error, b.mean_absolute_error)};
}

double Least(double a, double b) { return std::min(a, b); }
double Most(double a, double b) { return std::max(a, b); }

// Requires: at least one.
Score Mean(const std::vector<Score>& scores) {
  Score sum = scores.front();
  for (std::size_t i = 1; i < scores.size(); ++i) {
    sum = Combine(sum, scores[i], [](double a, double b) { return a + b; });
  }
  const auto count = static_cast<double>(scores.size());
  return Combine(sum, sum, [count](double a, double) { return a / count; });
}

bool HasFigures(const NodeOutcome& node) { return node.best && node.last; }

// Absent unless all nodes have one.
std::optional<Score> MeanValidation(const std::vector<const NodeOutcome*>& nodes,
                                    std::optional<Selected> NodeOutcome::*which) {
  std::vector<Score> scores;
  for (const NodeOutcome* node : nodes) {
    const std::optional<Selected>& selected = node->*which;
    if (!selected->validation) return std::nullopt;
    scores.push_back(*selected->validation);
  }
  return Mean(scores);
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
  return Combine(left.validation, right.validation,
                 [t](double a, double b) { return std::lerp(a, b, t); });
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
  figures.on_test_set = true;
  std::vector<Score> best;
  std::vector<Score> last;
  for (const NodeOutcome* node : nodes) {
    best.push_back(node->best->reported());
    last.push_back(node->last->reported());
    figures.best_epoch += node->best->epoch;
    figures.last_epoch += node->last->epoch;
    figures.on_test_set = figures.on_test_set && node->best->test && node->last->test;
  }
  const double count = static_cast<double>(nodes.size());
  figures.best = Mean(best);
  figures.last = Mean(last);
  Score low = best.front();
  Score high = best.front();
  for (const Score& score : best) {
    low = Combine(low, score, Least);
    high = Combine(high, score, Most);
  }
  figures.quality_min = low.quality();
  figures.quality_max = high.quality();
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
    std::vector<Score> scores;
    for (const NodeOutcome* node : nodes) {
      const std::optional<Score> score = At(node->curve, epoch);
      if (!score) continue;
      if (scores.empty()) band.low = band.high = *score;
      band.low = Combine(band.low, *score, Least);
      band.high = Combine(band.high, *score, Most);
      scores.push_back(*score);
    }
    if (scores.empty() || 2 * scores.size() < nodes.size()) continue;
    band.mean = Mean(scores);
    bands.push_back(band);
  }
  return bands;
}

}  // namespace covey::harness
