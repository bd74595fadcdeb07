#include "covey/harness/final_table.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "harness/text.h"

namespace covey::harness {
namespace {

std::string Figure(double value) { return PadLeft(Fixed(value, 4), 9); }

std::string Figure(const std::optional<double>& value) {
  return value ? Figure(*value) : PadLeft("-", 9);
}

std::optional<double> QualityOf(const std::optional<Score>& score) {
  if (!score) return std::nullopt;
  return score->quality();
}

std::string GroupRow(const Outcome& outcome, Group group) {
  const std::optional<GroupFigures> figures = Figures(outcome, group);
  if (!figures) return "";
  const auto test = [&figures](const Score& score) -> std::optional<double> {
    if (!figures->on_test_set) return std::nullopt;
    return score.quality();
  };
  return "  " + PadRight(Name(group), 11) + PadLeft(std::to_string(figures->nodes), 6) +
         Figure(test(figures->best)) +
         Figure(figures->nodes > 1 ? figures->quality_min : std::nullopt) +
         Figure(QualityOf(figures->best_validation)) + Figure(figures->best.loss) +
         PadLeft(Fixed(figures->best_epoch, 1), 8) + "  |" + Figure(test(figures->last)) +
         Figure(QualityOf(figures->last_validation)) + PadLeft(Fixed(figures->last_epoch, 1), 8) +
         '\n';
}

std::string Loss(std::string_view name, std::uint64_t sent, std::uint64_t dropped) {
  const double fraction = sent == 0 ? 0 : static_cast<double>(dropped) / static_cast<double>(sent);
  return std::string(name) + ' ' + Grouped(dropped) + " of " + Grouped(sent) + " (" +
         Percent(fraction, 1) + ")";
}

std::string Differences(const Outcome& outcome) {
  const std::optional<GroupFigures> consensus = Figures(outcome, Group::kConsensus);
  std::string text;
  if (!consensus) return text;
  for (const Group group : {Group::kIsolated, Group::kMonolithic}) {
    const std::optional<GroupFigures> control = Figures(outcome, group);
    if (!control || !consensus->best.accuracy || !control->best.accuracy) continue;
    const double points = (*consensus->best.accuracy - *control->best.accuracy) * 100;
    text += (text.empty() ? "" : ", ") + std::string(points >= 0 ? "+" : "") + Fixed(points, 2) +
            " points against " + std::string(Name(group));
  }
  return text;
}

std::string Row(std::string_view name, const std::string& value) {
  return value.empty() ? "" : "  " + PadRight(name, 14) + value + '\n';
}

}  // namespace

std::string FinalTable(const Outcome& outcome, const std::vector<Verdict>& verdicts) {
  std::string text;
  std::string rows;
  for (const Group group : {Group::kMonolithic, Group::kConsensus, Group::kIsolated}) {
    rows += GroupRow(outcome, group);
  }
  if (!rows.empty()) {
    const std::optional<GroupFigures> figures = Figures(outcome, Group::kConsensus);
    if (figures && !figures->best.accuracy) text += "  regression: figures are R2\n";
    text +=
        "                        best                                          |  last\n"
        "              nodes     test    worst  validat.    loss   epoch  |     test validat."
        "   epoch\n" +
        rows;
  }
  text += Row("gain", Differences(outcome));
  const Traffic traffic = TotalTraffic(outcome);
  if (traffic.weights_sent > 0) {
    text += Row("lost", Loss("WEIGHTS", traffic.weights_sent, traffic.weights_dropped) + ", " +
                            Loss("DELTAS", traffic.deltas_sent, traffic.deltas_dropped));
    text += Row("sent", Bytes(traffic.bytes_sent));
  }
  if (outcome.spread) text += Row("spread", Fixed(*outcome.spread, 4));
  if (outcome.samples_per_second > 0) {
    text +=
        Row("rate", Grouped(static_cast<std::uint64_t>(std::llround(outcome.samples_per_second))) +
                        (outcome.mode == "virtual" ? " samples a virtual second"
                                                   : " samples/s, all nodes together"));
  }
  if (const std::uint64_t pss = LargestPss(outcome); pss > 0) {
    text += Row("memory", Bytes(pss) + " PSS, the largest node");
  }
  std::string time = Span(outcome.wall_seconds);
  if (outcome.virtual_seconds > 0) time += ", virtual time " + Span(outcome.virtual_seconds);
  text += Row("time", time);
  for (const std::string& note : outcome.notes) text += Row("note", note);
  if (outcome.interrupted) text += Row("note", "interrupted: these are partial results");
  for (const Verdict& verdict : verdicts) {
    text += "  " + PadRight(verdict.holds ? "ok" : "FAILS", 7) + PadRight(verdict.what, 22) +
            PadRight(verdict.wanted, 14) + "got " + verdict.got + '\n';
  }
  return text;
}

}  // namespace covey::harness
