#include "harness/report_charts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/html.h"
#include "harness/svg.h"
#include "harness/svg_shapes.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

// Drawn in this order: the consensus line lies on top.
constexpr std::array kOrder = {Group::kIsolated, Group::kMonolithic, Group::kConsensus};

// Which figure of a score a chart shows.
using Quantity = std::optional<double> (*)(const Score& score);

std::optional<double> AccuracyOf(const Score& score) { return score.accuracy; }
std::optional<double> LossOf(const Score& score) { return score.loss; }

std::string Label(Group group, double value, bool percent) {
  return std::string(Name(group)) + ' ' + (percent ? Percent(value, 1) : Fixed(value, 3));
}

svg::Chart CurveChart(const Outcome& outcome, Quantity quantity) {
  svg::Chart chart;
  chart.percent = quantity == &AccuracyOf;
  chart.id = chart.percent ? "accuracy" : "loss";
  chart.x_label = "epochs (passes of each node over its own data)";
  for (const Group group : kOrder) {
    const std::vector<Band> bands = MeanCurve(outcome, group);
    if (bands.empty() || !quantity(bands.back().mean)) continue;
    svg::Line line{.label = Label(group, *quantity(bands.back().mean), chart.percent),
                   .style = std::string(Name(group)),
                   .points = {}};
    svg::Area area{.style = line.style, .slices = {}};
    for (const Band& band : bands) {
      const std::optional<double> mean = quantity(band.mean);
      if (!mean) continue;
      line.points.emplace_back(band.epoch, *mean);
      area.slices.push_back(
          {band.epoch, quantity(band.low).value_or(*mean), quantity(band.high).value_or(*mean)});
    }
    chart.lines.push_back(std::move(line));
    if (group != Group::kConsensus) continue;
    chart.areas.push_back(std::move(area));
    const std::optional<GroupFigures> figures = Figures(outcome, group);
    if (figures && figures->last_validation && outcome.spread) {
      const std::optional<double> settled = quantity(*figures->last_validation);
      if (settled) chart.dots.push_back({bands.back().epoch, *settled, std::string(Name(group))});
    }
  }
  return chart;
}

std::string CurveCaption(const svg::Chart& chart, std::string_view quantity) {
  std::string caption = std::string(quantity) + " on the common validation set.";
  if (!chart.areas.empty()) {
    caption += " Line: mean of the nodes. Band: from the lowest to the highest node.";
  }
  if (!chart.dots.empty()) caption += " Dot: after the nodes have settled.";
  return caption + " The first tenth may leave the frame.";
}

}  // namespace

std::string AccuracyFigure(const Outcome& outcome) {
  svg::Chart chart = CurveChart(outcome, &AccuracyOf);
  chart.title = "Validation accuracy over epochs";
  return html::Figure(svg::Draw(chart), CurveCaption(chart, "Accuracy"));
}

std::string LossFigure(const Outcome& outcome) {
  svg::Chart chart = CurveChart(outcome, &LossOf);
  chart.title = "Validation loss over epochs";
  return html::Figure(svg::Draw(chart), CurveCaption(chart, "Loss"));
}

std::string NodesFigure(const Outcome& outcome) {
  std::vector<svg::Strip> strips;
  bool test = true;
  for (const Group group : {Group::kMonolithic, Group::kConsensus, Group::kIsolated}) {
    svg::Strip strip{
        .label = std::string(Name(group)), .style = std::string(Name(group)), .values = {}};
    for (const NodeOutcome* node : Counted(outcome, group)) {
      const std::optional<double>& accuracy = node->best->reported().accuracy;
      if (!accuracy) continue;
      strip.values.push_back(*accuracy);
      test = test && node->best->test;
    }
    if (!strip.values.empty()) strips.push_back(std::move(strip));
  }
  const std::string title = std::string(test ? "test" : "validation") + " accuracy of each node";
  return html::Figure(
      svg::DrawStrips(title, strips),
      "Every circle is the model of one node at its best evaluation; the bar is their mean.");
}

namespace {

svg::Bar TrafficBar(std::string name, std::uint64_t sent, std::uint64_t dropped,
                    std::uint64_t received) {
  // Copies of duplicated messages arrive too: no part is ever below zero.
  const std::uint64_t arrived = std::min(received, sent - std::min(dropped, sent));
  const std::uint64_t other = sent - std::min(sent, dropped + arrived);
  const auto part = [](std::uint64_t value, std::string style, const std::string& what) {
    return svg::Bar::Part{static_cast<double>(value), std::move(style),
                          Grouped(value) + ' ' + what};
  };
  return {.label = std::move(name),
          .parts = {part(arrived, "arrived", "arrived"), part(dropped, "dropped", "dropped"),
                    part(other, "other", "refused, replaced or on their way at the end")}};
}

}  // namespace

std::string TrafficFigure(const Outcome& outcome) {
  const Traffic t = TotalTraffic(outcome);
  return html::Figure(
      svg::DrawBars("Messages by kind",
                    {TrafficBar("WEIGHTS", t.weights_sent, t.weights_dropped, t.weights_received),
                     TrafficBar("DELTAS", t.deltas_sent, t.deltas_dropped, t.deltas_received)}),
      "Messages of all nodes: those that arrived, those that injected faults dropped, and the "
      "rest.");
}

std::string SpreadFigure(const Outcome& outcome) {
  if (outcome.spread_curve.size() < 2) return "";
  svg::Chart chart;
  chart.id = "spread";
  chart.title = "Spread of the models over time";
  chart.x_label = "virtual seconds";
  chart.whole_range = outcome.spread_curve.front().second < 2;
  chart.lines.push_back({.label = "spread " + Fixed(outcome.spread_curve.back().second, 3),
                         .style = std::string(Name(Group::kConsensus)),
                         .points = outcome.spread_curve});
  return html::Figure(
      svg::Draw(chart),
      "Mean distance of the models from their mean, as a part of the mean's length, "
      "while they train and while they settle.");
}

std::string TopologyFigure(const Outcome& outcome) {
  std::vector<svg::Vertex> vertices;
  for (const NodeOutcome& node : outcome.runs) {
    if (node.group != Group::kConsensus) continue;
    std::string hint = "node " + std::to_string(node.index) + ": " + std::string(Name(node.end));
    if (node.best && node.best->reported().accuracy) {
      hint += ", accuracy " + Percent(*node.best->reported().accuracy);
    }
    const bool died = node.end == End::kDied;
    vertices.push_back({.label = std::to_string(node.index),
                        .style = died ? "isolated" : "consensus",
                        .hint = std::move(hint)});
  }
  for (const auto& [from, to] : outcome.links) {
    if (from >= vertices.size() || to >= vertices.size()) return "";
  }
  return html::Figure(svg::DrawGraph("Who could exchange with whom", vertices, outcome.links),
                      std::to_string(vertices.size()) + " nodes, " +
                          std::to_string(outcome.links.size()) +
                          " links: a node sends to a random one of those that it is linked with.");
}

}  // namespace covey::harness
