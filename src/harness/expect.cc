#include "covey/harness/expect.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "covey/harness/sweep.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

enum class Bound { kAtLeast, kAtMost };

class Judgement {
 public:
  void Hold(std::string what, Bound bound, const std::optional<double>& wanted,
            const std::optional<double>& got, int digits) {
    if (!wanted) return;
    Verdict verdict;
    verdict.what = std::move(what);
    verdict.wanted = (bound == Bound::kAtLeast ? ">= " : "<= ") + Fixed(*wanted, digits);
    verdict.got = got ? Fixed(*got, digits) : "not measured";
    // NaN fails either comparison.
    verdict.holds = got && (bound == Bound::kAtLeast ? *got >= *wanted : *got <= *wanted);
    // 0.87496 missing 0.875 must not read as "0.8750, wanted >= 0.8750".
    if (got && !verdict.holds) verdict.got = Fixed(*got, digits + 2);
    verdicts_.push_back(std::move(verdict));
  }

  void HoldBytes(const config::Expect& expect, double got) {
    const auto most = static_cast<double>(expect.bytes_sent_per_node.value);
    if (most > 0) Hold("bytes_sent_per_node", Bound::kAtMost, most, got, 0);
  }

  std::vector<Verdict> Take() { return std::move(verdicts_); }

 private:
  std::vector<Verdict> verdicts_;
};

std::optional<double> BestAccuracy(const std::optional<GroupFigures>& figures) {
  if (!figures) return std::nullopt;
  return figures->best.accuracy;
}

}  // namespace

std::vector<Verdict> Judge(const config::Expect& expect, const Outcome& outcome) {
  const std::optional<GroupFigures> consensus = Figures(outcome, Group::kConsensus);
  const std::optional<double> accuracy = BestAccuracy(consensus);
  const std::optional<double> isolated = BestAccuracy(Figures(outcome, Group::kIsolated));
  std::optional<double> worst;
  if (consensus && accuracy) worst = consensus->quality_min;
  std::optional<double> gain;
  if (accuracy && isolated) gain = *accuracy - *isolated;
  std::optional<double> rate;
  if (outcome.samples_per_second > 0) rate = outcome.samples_per_second;

  Judgement judgement;
  judgement.Hold("accuracy", Bound::kAtLeast, expect.accuracy, accuracy, 4);
  judgement.Hold("accuracy_min", Bound::kAtLeast, expect.accuracy_min, worst, 4);
  judgement.Hold("monolithic_accuracy", Bound::kAtLeast, expect.monolithic_accuracy,
                 BestAccuracy(Figures(outcome, Group::kMonolithic)), 4);
  judgement.Hold("gain_over_isolated", Bound::kAtLeast, expect.gain_over_isolated, gain, 4);
  judgement.Hold("spread", Bound::kAtMost, expect.spread, outcome.spread, 4);
  judgement.Hold("samples_per_second", Bound::kAtLeast, expect.samples_per_second, rate, 0);
  const double nodes = std::max<double>(outcome.nodes, 1);
  judgement.HoldBytes(expect, static_cast<double>(TotalTraffic(outcome).bytes_sent) / nodes);
  std::vector<Verdict> verdicts = judgement.Take();
  if (outcome.interrupted) {
    for (Verdict& verdict : verdicts) {
      verdict.holds = false;
      verdict.got += " (interrupted)";
    }
  }
  return verdicts;
}

std::vector<Verdict> Judge(const config::Expect& expect, const SweepRow& row) {
  const auto mean = [](const MeanOf& figure) {
    return figure.count > 0 ? std::optional(figure.mean) : std::nullopt;
  };
  Judgement judgement;
  judgement.Hold("accuracy", Bound::kAtLeast, expect.accuracy, mean(row.accuracy), 4);
  judgement.Hold("accuracy_min", Bound::kAtLeast, expect.accuracy_min, mean(row.accuracy_min), 4);
  judgement.Hold("spread", Bound::kAtMost, expect.spread, mean(row.spread), 4);
  judgement.Hold("samples_per_second", Bound::kAtLeast, expect.samples_per_second, std::nullopt, 0);
  judgement.HoldBytes(expect, row.bytes_a_node);
  return judgement.Take();
}

bool AllHold(const std::vector<Verdict>& verdicts) {
  for (const Verdict& verdict : verdicts) {
    if (!verdict.holds) return false;
  }
  return true;
}

}  // namespace covey::harness
