#include "covey/harness/report.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "harness/html.h"
#include "harness/report_charts.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using html::Table;

constexpr std::string_view kNone = "–";

std::string Count(std::size_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

double Fraction(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double LostFraction(const Traffic& traffic) {
  return Fraction(traffic.weights_dropped + traffic.deltas_dropped,
                  traffic.weights_sent + traffic.deltas_sent);
}

// "+3.52 points", "-0.31 points"
std::string Points(double difference) {
  return (difference >= 0 ? "+" : "−") + Fixed(std::abs(difference) * 100, 2) + " points";
}

std::string GroupName(Group group) {
  return "<b class=\"" + std::string(Name(group)) + "\">" + std::string(Name(group)) + "</b>";
}

// The figure by which people compare models: an accuracy in per cent, or R2.
std::string QualityCell(const Score& score) {
  if (score.accuracy) return Percent(*score.accuracy);
  return score.r2 ? "R2 " + Fixed(*score.r2, 4) : "loss " + Fixed(score.loss, 4);
}

std::string QualityCell(const std::optional<Score>& score) {
  return score ? QualityCell(*score) : std::string(kNone);
}

// From the worst to the best node.
std::string RangeCell(const GroupFigures& figures) {
  if (figures.nodes < 2 || !figures.quality_min || !figures.quality_max) return std::string(kNone);
  if (!figures.best.accuracy) {
    return Fixed(*figures.quality_min, 4) + " to " + Fixed(*figures.quality_max, 4);
  }
  return Fixed(*figures.quality_min * 100, 2) + " to " + Percent(*figures.quality_max);
}

std::string LossCell(const std::optional<Score>& score) {
  return score ? Fixed(score->loss, 4) : std::string(kNone);
}

// What happened, in words.
std::string Lead(const Outcome& outcome) {
  const std::optional<GroupFigures> consensus = Figures(outcome, Group::kConsensus);
  std::string text;
  if (!outcome.description.empty()) text += outcome.description + ' ';
  if (!consensus) return text + "The run gave no figures.";
  text += Count(outcome.nodes, "node") + " trained " + outcome.model +
          " without a server, each on its own part of the data, and reached " +
          QualityCell(consensus->best) +
          (consensus->on_test_set ? " on the test set" : " on the validation set");
  const double lost = LostFraction(TotalTraffic(outcome));
  if (lost > 0) text += " while " + Percent(lost, 1) + " of their messages were lost";
  text += ".";
  if (const auto monolithic = Figures(outcome, Group::kMonolithic)) {
    text +=
        " One model on all of the data in one place reached " + QualityCell(monolithic->best) + ".";
  }
  if (const auto isolated = Figures(outcome, Group::kIsolated)) {
    text += " Nodes that never exchange reached " + QualityCell(isolated->best) + ".";
  }
  return text;
}

std::string Cards(const Outcome& outcome) {
  std::string html = "<div class=\"cards\">\n";
  const auto consensus = Figures(outcome, Group::kConsensus);
  if (consensus) {
    const std::optional<double>& accuracy = consensus->best.accuracy;
    const std::string set = consensus->on_test_set ? "test" : "validation";
    html +=
        html::Card(QualityCell(consensus->best),
                   "mean " + set + (accuracy ? " accuracy" : " result") + " of the nodes", "first");
    if (consensus->quality_min) {
      html += html::Card(
          accuracy ? Percent(*consensus->quality_min) : Fixed(*consensus->quality_min, 4),
          "worst node");
    }
    const auto against = [&](Group group, const std::string& words) {
      const auto control = Figures(outcome, group);
      if (!control || !accuracy || !control->best.accuracy) return;
      html += html::Card(Points(*accuracy - *control->best.accuracy), words);
    };
    against(Group::kIsolated, "over nodes that never exchange");
    against(Group::kMonolithic, "against one model on all data");
  }
  const Traffic traffic = TotalTraffic(outcome);
  if (traffic.weights_sent > 0)
    html += html::Card(Percent(LostFraction(traffic), 1), "of messages lost");
  if (outcome.spread) {
    // "0.0000" would read as if nothing had been measured.
    html += html::Card(*outcome.spread < 0.00005 ? "< 0.0001" : Fixed(*outcome.spread, 4),
                       "spread of the models at the end");
  }
  if (outcome.samples_per_second > 0) {
    const auto rate = static_cast<std::uint64_t>(std::llround(outcome.samples_per_second));
    html += html::Card(Grouped(rate), outcome.mode == "virtual" ? "samples a virtual second"
                                                                : "samples a second, all nodes");
  }
  if (outcome.virtual_seconds > 0) {
    html += html::Card(Span(outcome.virtual_seconds), "of virtual time");
  }
  if (const std::uint64_t pss = LargestPss(outcome); pss > 0) {
    html += html::Card(Bytes(pss), "memory of the largest node (PSS)");
  }
  return html + "</div>\n";
}

std::string ResultsTable(const Outcome& outcome) {
  Table table({{"", true},
               {"nodes"},
               {"best: test"},
               {"worst to best node"},
               {"validation"},
               {"loss"},
               {"at epoch"},
               {"last: test"},
               {"validation"},
               {"loss"}});
  bool any = false;
  for (const Group group : {Group::kMonolithic, Group::kConsensus, Group::kIsolated}) {
    const auto figures = Figures(outcome, group);
    if (!figures) continue;
    any = true;
    const bool test = figures->on_test_set;
    table.Row({GroupName(group), std::to_string(figures->nodes),
               "<b>" + (test ? QualityCell(figures->best) : std::string(kNone)) + "</b>",
               RangeCell(*figures), QualityCell(figures->best_validation),
               Fixed(figures->best.loss, 4), Fixed(figures->best_epoch, 1),
               test ? QualityCell(figures->last) : std::string(kNone),
               QualityCell(figures->last_validation), Fixed(figures->last.loss, 4)});
  }
  return any ? "<h2>Results</h2>\n" + table.Finish() : "";
}

std::string VerdictTable(const std::vector<Verdict>& verdicts) {
  if (verdicts.empty()) return "";
  Table table({{"expectation", true}, {"wanted"}, {"got"}, {"", true}});
  for (const Verdict& verdict : verdicts) {
    table.Row({EscapeHtml(verdict.what), EscapeHtml(verdict.wanted), EscapeHtml(verdict.got),
               verdict.holds ? "<b class=\"good\">✓ holds</b>" : "<b class=\"bad\">✗ fails</b>"});
  }
  return "<h2>Expectations</h2>\n" + table.Finish();
}

std::string TrafficTable(const Outcome& outcome) {
  const Traffic traffic = TotalTraffic(outcome);
  if (traffic.weights_sent + traffic.deltas_sent == 0) return "";
  Table table({{"message", true}, {"sent"}, {"lost by injected faults"}, {"lost"}, {"received"}});
  table.Row({"WEIGHTS", Grouped(traffic.weights_sent), Grouped(traffic.weights_dropped),
             Percent(Fraction(traffic.weights_dropped, traffic.weights_sent), 1),
             Grouped(traffic.weights_received)});
  table.Row({"DELTAS", Grouped(traffic.deltas_sent), Grouped(traffic.deltas_dropped),
             Percent(Fraction(traffic.deltas_dropped, traffic.deltas_sent), 1),
             Grouped(traffic.deltas_received)});
  std::string html = "<h2>Traffic</h2>\n" + TrafficFigure(outcome) + "<div class=\"gap\"></div>\n" +
                     table.Finish();
  if (traffic.bytes_sent > 0) {
    html += "<p>" + Bytes(traffic.bytes_sent) + " crossed the network, " +
            Bytes(traffic.bytes_sent / std::max<std::uint64_t>(outcome.nodes, 1)) +
            " a node.</p>\n";
  }
  return html;
}

std::string StateCell(const NodeOutcome& node) {
  if (node.life && node.life->left) return "left early";
  if (node.end == End::kDone) return std::string(Name(node.end));
  return "<b class=\"bad\">" + EscapeHtml(Name(node.end)) + "</b> " + EscapeHtml(node.reason);
}

// What only some runs have: lives on the virtual clock, memory of processes.
struct NodeColumns {
  explicit NodeColumns(const Outcome& outcome) {
    for (const NodeOutcome& node : outcome.runs) {
      memory = memory || node.pss_bytes > 0;
      if (!node.life) continue;
      crashes = crashes || node.life->crashes > 0;
      speed = speed || node.life->speed != 1;
      finished = finished || node.life->finished > 0;
    }
  }

  void AddTo(std::vector<Table::Column>& columns) const {
    if (crashes) columns.push_back({"crashes"});
    if (speed) columns.push_back({"speed"});
    if (finished) columns.push_back({"done after"});
    if (memory) columns.push_back({"memory"});
  }

  void AddTo(std::vector<std::string>& cells, const NodeOutcome& node) const {
    const std::optional<NodeLife>& life = node.life;
    const std::string none(kNone);
    if (crashes) cells.push_back(life ? std::to_string(life->crashes) : none);
    if (speed) cells.push_back(life ? Fixed(life->speed, 2) + " ×" : none);
    if (finished) cells.push_back(life && life->finished > 0 ? Span(life->finished) : none);
    if (memory) cells.push_back(node.pss_bytes > 0 ? Bytes(node.pss_bytes) : none);
  }

  bool crashes = false;
  bool speed = false;
  bool finished = false;
  bool memory = false;
};

std::string NodeTable(const Outcome& outcome) {
  const NodeColumns more(outcome);
  std::vector<Table::Column> columns = {
      {"", true}, {"node"},       {"state", true}, {"samples"},    {"epochs"}, {"best: test"},
      {"loss"},   {"validation"}, {"at epoch"},    {"last: test"}, {"sent"},   {"lost"}};
  more.AddTo(columns);
  Table table(columns, more.crashes || more.speed ? "wide" : "dense");
  for (const NodeOutcome& node : outcome.runs) {
    const Traffic& traffic = node.traffic;
    const bool alone = node.group != Group::kConsensus;
    const auto best = [&node] { return node.best ? *node.best : Selected{}; }();
    const auto last = node.last ? node.last->test : std::nullopt;
    std::vector<std::string> cells = {
        GroupName(node.group),
        std::to_string(node.index),
        StateCell(node),
        Grouped(node.shard),
        Fixed(node.epochs, 1),
        QualityCell(best.test),
        LossCell(best.test),
        QualityCell(best.validation),
        node.best ? Fixed(best.epoch, 1) : std::string(kNone),
        QualityCell(last),
        alone ? std::string(kNone) : Grouped(traffic.weights_sent + traffic.deltas_sent),
        alone ? std::string(kNone) : Percent(LostFraction(traffic), 1)};
    more.AddTo(cells, node);
    table.Row(cells);
  }
  if (outcome.runs.empty()) return "";
  const std::string note = more.finished ? "<p>“done after” is virtual time.</p>\n" : "";
  return "<h2>Every node</h2>\n" + table.Finish() + note;
}

std::string Notes(const Outcome& outcome) {
  if (outcome.notes.empty()) return "";
  std::string html = "<div class=\"notes\">\n";
  for (const std::string& note : outcome.notes) html += "<p>" + EscapeHtml(note) + "</p>\n";
  return html + "</div>\n";
}

std::string Settings(const Outcome& outcome) {
  std::string html = "<h2>Settings</h2>\n<dl>\n";
  for (const Setting& setting : outcome.settings) {
    html += "<div><dt>" + EscapeHtml(setting.name) + "</dt><dd>" + EscapeHtml(setting.value) +
            "</dd></div>\n";
  }
  html += "</dl>\n";
  if (!outcome.command.empty()) {
    html += "<h2>Repeat it</h2>\n<pre>" + EscapeHtml(outcome.command) + "</pre>\n";
  }
  return html;
}

std::string TimeText(const Outcome& outcome) {
  const std::string wall = "took " + Span(outcome.wall_seconds);
  if (outcome.virtual_seconds <= 0) return wall;
  return wall + ", virtual time " + Span(outcome.virtual_seconds);
}

std::string Banner(const Outcome& outcome, const std::vector<Verdict>& verdicts) {
  if (outcome.interrupted) {
    return "<p class=\"verdict bad\">interrupted: partial results</p>\n";
  }
  if (verdicts.empty()) return "";
  return AllHold(verdicts) ? "<p class=\"verdict good\">✓ everything expected holds</p>\n"
                           : "<p class=\"verdict bad\">✗ not everything expected holds</p>\n";
}

}  // namespace

std::string ReportHtml(const Outcome& outcome, const std::vector<Verdict>& verdicts) {
  std::string page = html::Head(outcome.experiment, "Covey run");
  page += Banner(outcome, verdicts);
  page += "<p class=\"lead\">" + EscapeHtml(Lead(outcome)) + "</p>\n";
  page += Cards(outcome) + Notes(outcome);
  const std::string accuracy = AccuracyFigure(outcome);
  if (!accuracy.empty()) page += "<h2>Accuracy</h2>\n" + accuracy;
  const std::string nodes = NodesFigure(outcome);
  if (!nodes.empty()) page += "<h2>How close the nodes are</h2>\n" + nodes;
  const std::string loss = LossFigure(outcome);
  if (!loss.empty()) page += "<h2>Loss</h2>\n" + loss;
  if (const std::string spread = SpreadFigure(outcome); !spread.empty()) {
    page += "<h2>Spread</h2>\n" + spread;
  }
  page += ResultsTable(outcome) + VerdictTable(verdicts) + TrafficTable(outcome);
  if (const std::string topology = TopologyFigure(outcome); !topology.empty()) {
    page += "<h2>Topology</h2>\n" + topology;
  }
  page += NodeTable(outcome) + Settings(outcome);
  page += html::Foot(outcome.build + " · " + outcome.mode + " mode · seed " +
                     std::to_string(outcome.seed) + " · " + TimeText(outcome));
  return page;
}

}  // namespace covey::harness
