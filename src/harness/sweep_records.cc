#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "covey/harness/sweep.h"
#include "harness/html.h"
#include "harness/svg.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using Json = nlohmann::ordered_json;

std::string PlusMinus(const MeanOf& figure, int digits) {
  if (figure.count == 0) return "–";
  std::string text = Fixed(figure.mean, digits);
  if (figure.count > 1) text += " ± " + Fixed(figure.deviation, digits);
  return text;
}

std::string ValueOf(const SweepRow& row, const std::string& key) {
  for (const auto& [name, value] : row.values) {
    if (name == key) return value;
  }
  return "";
}

// Where a figure is not drawn or compared by accuracy, by minus the loss.
double Goodness(const SweepRow& row) {
  return row.accuracy.count > 0 ? row.accuracy.mean : -row.loss.mean;
}

std::string LauncherOf(const SweepRun& run) {
  return run.launcher == "mpi" ? "real daemons by mpirun" : "virtual clock";
}

const SweepRow* Best(const SweepRun& run) {
  const SweepRow* best = nullptr;
  for (const SweepRow& row : run.rows) {
    if (best == nullptr || Goodness(row) > Goodness(*best)) best = &row;
  }
  return best;
}

// "batches 5, weights int8", without one key; "as the file says" where nothing is left.
std::string Described(const SweepRow& row, const std::string& without = "") {
  std::string text;
  for (const auto& [key, value] : row.values) {
    if (key == without || value.empty()) continue;
    text += (text.empty() ? "" : ", ") + key.substr(key.rfind('.') + 1) + ' ' + value;
  }
  return text.empty() ? "as the file says" : text;
}

// The key over which the plot is drawn: the first whose values are all numbers, at least two of
// them different. Empty: none.
std::string PlotKey(const SweepRun& run) {
  for (const std::string& key : run.keys) {
    std::optional<double> first;
    bool numbers = true;
    bool differ = false;
    for (const SweepRow& row : run.rows) {
      const std::optional<double> number = NumberIn(ValueOf(row, key));
      numbers = numbers && number.has_value();
      if (number && !first) first = number;
      differ = differ || (number && *number != *first);
    }
    if (numbers && differ) return key;
  }
  return "";
}

// A chart and what stands below it.
struct Drawing {
  svg::Chart chart;
  std::string caption;
};

Drawing OverKey(const SweepRun& run, const std::string& key) {
  Drawing drawing;
  svg::Chart& chart = drawing.chart;
  const bool accuracy = std::all_of(run.rows.begin(), run.rows.end(),
                                    [](const SweepRow& row) { return row.accuracy.count > 0; });
  chart.id = "over-key";
  chart.title = (accuracy ? "Accuracy over " : "Loss over ") + key;
  chart.x_label = key;
  chart.percent = accuracy;
  chart.whole_range = true;
  struct Point {
    double x, y, deviation;
  };
  std::map<std::string, std::vector<Point>> series;
  std::vector<std::string> order;
  for (const SweepRow& row : run.rows) {
    const std::string label = Described(row, key);
    if (!series.contains(label)) order.push_back(label);
    const MeanOf& figure = accuracy ? row.accuracy : row.loss;
    series[label].push_back({*NumberIn(ValueOf(row, key)), figure.mean, figure.deviation});
  }
  // Names that would be cut stand below the chart, and letters for them at the lines.
  const bool letters = std::any_of(order.begin(), order.end(), [](const std::string& label) {
    return label.size() > svg::kLongestLabel;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<Point>& points = series[order[i]];
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.x < b.x; });
    const std::string style = "series s" + std::to_string(i % 10);
    svg::Line line{.label = order[i], .style = style, .points = {}};
    if (order.size() == 1) line.label = accuracy ? "accuracy" : "loss";
    if (letters && order.size() > 1) {
      line.label = i < 26 ? std::string(1, static_cast<char>('A' + i)) : std::to_string(i + 1);
      drawing.caption += (i == 0 ? "" : "; ") + line.label + ": " + order[i];
    }
    svg::Area area{.style = style, .slices = {}};
    for (const Point& point : points) {
      line.points.emplace_back(point.x, point.y);
      area.slices.push_back({point.x, point.y - point.deviation, point.y + point.deviation});
      chart.dots.push_back({point.x, point.y, style});
    }
    chart.lines.push_back(std::move(line));
    if (run.seeds > 1) chart.areas.push_back(std::move(area));
  }
  if (!drawing.caption.empty()) drawing.caption += ". ";
  drawing.caption += run.seeds > 1 ? "Mean over nodes and seeds at the best epoch; the band is one "
                                     "standard deviation over seeds to both sides."
                                   : "Mean over the nodes at the best epoch.";
  return drawing;
}

// Accuracy against what a node sends; the line joins the points that no other beats in both.
Drawing Frontier(const SweepRun& run) {
  Drawing drawing;
  svg::Chart& chart = drawing.chart;
  chart.id = "frontier";
  chart.title = "Accuracy against bytes";
  chart.x_label = "megabytes sent by a node";
  chart.percent = true;
  chart.whole_range = true;
  std::vector<const SweepRow*> rows;
  for (const SweepRow& row : run.rows) {
    if (row.accuracy.count > 0 && row.bytes_a_node > 0) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const SweepRow* a, const SweepRow* b) {
    return a->bytes_a_node < b->bytes_a_node;
  });
  svg::Line line{.label = "best for its bytes", .style = "consensus", .points = {}};
  for (const SweepRow* row : rows) {
    const double x = row->bytes_a_node / 1e6;
    const double y = row->accuracy.mean;
    const bool best = line.points.empty() || y > line.points.back().second;
    if (best) {
      line.points.emplace_back(x, y);
      drawing.caption += (drawing.caption.empty() ? "" : "; ") +
                         Bytes(static_cast<std::uint64_t>(row->bytes_a_node)) + ": " +
                         Described(*row) + " (" + Fixed(100 * y, 1) + "%)";
    }
    chart.dots.push_back({x, y, best ? "consensus" : "monolithic open"});
  }
  const bool differ = rows.size() > 1 && rows.back()->bytes_a_node > rows.front()->bytes_a_node;
  if (!differ) return {};
  chart.lines.push_back(std::move(line));
  drawing.caption =
      "A dot for each point; the line joins those that no point with fewer bytes "
      "reaches: " +
      drawing.caption + '.';
  return drawing;
}

// The last words of keys, where they tell them apart.
std::vector<std::string> ShortNames(const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  for (const std::string& key : keys) names.push_back(key.substr(key.rfind('.') + 1));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string last = keys[i].substr(keys[i].rfind('.') + 1);
    const auto same = [&last](const std::string& key) {
      return key.substr(key.rfind('.') + 1) == last;
    };
    if (std::count_if(keys.begin(), keys.end(), same) > 1) names[i] = keys[i];
  }
  return names;
}

std::string Mean6(const MeanOf& figure) { return figure.count > 0 ? Fixed(figure.mean, 6) : ""; }

std::string Deviation6(const MeanOf& figure) {
  return figure.count > 1 ? Fixed(figure.deviation, 6) : "";
}

Json SweepMember(const MeanOf& figure) {
  if (figure.count == 0) return nullptr;
  return {{"mean", figure.mean}, {"deviation", figure.deviation}, {"seeds", figure.count}};
}

// What the sweep expects of a point; what does not hold, with what there is instead.
std::string Expectations(const SweepRow& row) {
  std::string text;
  for (const Verdict& verdict : row.verdicts) {
    text += (text.empty() ? "" : ", ") + verdict.what + ' ' + verdict.wanted;
    text += verdict.holds ? ": holds" : ": MISSED, " + verdict.got;
  }
  return text;
}

std::string PointTable(const SweepRun& run) {
  std::vector<html::Table::Column> columns;
  for (const std::string& name : ShortNames(run.keys)) columns.push_back({name, true});
  for (const char* name : {"seeds", "accuracy", "worst node", "loss", "at epoch", "last: accuracy",
                           "spread", "sent by a node", "validation", "expected"}) {
    columns.push_back({name, false});
  }
  html::Table table(columns, "dense");
  const SweepRow* best = Best(run);
  for (const SweepRow& row : run.rows) {
    std::vector<std::string> cells;
    for (const std::string& key : run.keys) cells.push_back(EscapeHtml(ValueOf(row, key)));
    std::string accuracy = EscapeHtml(PlusMinus(row.accuracy, 4));
    if (&row == best) accuracy = "<b class=\"good\">" + accuracy + "</b>";
    cells.insert(
        cells.end(),
        {std::to_string(row.loss.count), accuracy, EscapeHtml(PlusMinus(row.accuracy_min, 4)),
         EscapeHtml(PlusMinus(row.loss, 4)), PlusMinus({1, row.best_epoch.mean, 0}, 1),
         EscapeHtml(PlusMinus(row.last_accuracy, 4)), EscapeHtml(PlusMinus(row.spread, 4)),
         row.bytes_a_node > 0 ? Bytes(static_cast<std::uint64_t>(row.bytes_a_node))
                              : std::string("–"),
         EscapeHtml(PlusMinus(row.validation, 4)), EscapeHtml(Expectations(row))});
    table.Row(cells);
  }
  return "<h2>Every point</h2>\n" + table.Finish();
}

}  // namespace

std::optional<double> NumberIn(const std::string& text) {
  if (text.find(',') != std::string::npos) return std::nullopt;  // several keys of a section
  const std::size_t space = text.rfind(' ');
  const std::string word = space == std::string::npos ? text : text.substr(space + 1);
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || !std::isfinite(value)) return std::nullopt;
  return *end == '%' ? value / 100 : value;
}

SweepRow CombinePoint(std::vector<std::pair<std::string, std::string>> values,
                      const std::vector<FleetFigures>& runs) {
  const auto average = [&runs](const auto& figure) {
    std::vector<double> found;
    for (const FleetFigures& run : runs) {
      if (const std::optional<double> value = figure(run)) found.push_back(*value);
    }
    return Average(found);
  };
  using Value = std::optional<double>;
  SweepRow row;
  row.values = std::move(values);
  row.accuracy = average([](const FleetFigures& run) { return run.best.accuracy; });
  row.validation = average([](const FleetFigures& run) { return run.validation; });
  row.accuracy_min = average([](const FleetFigures& run) { return run.accuracy_min; });
  row.loss = average([](const FleetFigures& run) -> Value { return run.best.loss; });
  row.best_epoch = average([](const FleetFigures& run) -> Value { return run.best_epoch; });
  row.last_accuracy = average([](const FleetFigures& run) { return run.last.accuracy; });
  row.spread = average([](const FleetFigures& run) { return run.spread; });
  std::vector<const FleetFigures*> all;
  for (const FleetFigures& run : runs) {
    row.bytes_a_node += static_cast<double>(run.traffic.bytes_sent) /
                        static_cast<double>(std::max<std::size_t>(run.nodes, 1) * runs.size());
    all.push_back(&run);
  }
  row.curve = AverageCurves(all);
  return row;
}

std::string SweepTable(const SweepRun& run) {
  std::vector<std::size_t> widths;
  std::string head = "  ";
  for (const std::string& key : run.keys) {
    const std::string name = key.substr(key.rfind('.') + 1);
    std::size_t width = name.size();
    for (const SweepRow& row : run.rows) width = std::max(width, ValueOf(row, key).size());
    widths.push_back(width + 2);
    head += PadRight(name, width + 2);
  }
  std::string text = run.name + ", " + std::to_string(run.rows.size()) + " of " +
                     std::to_string(run.wanted) + " points, " + std::to_string(run.seeds) +
                     (run.seeds == 1 ? " seed, " : " seeds, ") + LauncherOf(run) + "\n\n" + head +
                     PadLeft("accuracy", 17) + PadLeft("loss", 18) + PadLeft("spread", 9) +
                     PadLeft("sent a node", 13) + PadLeft("validation", 12) + '\n';
  const SweepRow* best = Best(run);
  for (const SweepRow& row : run.rows) {
    text += &row == best ? "* " : "  ";
    for (std::size_t i = 0; i < run.keys.size(); ++i) {
      text += PadRight(ValueOf(row, run.keys[i]), widths[i]);
    }
    text += PadLeft(PlusMinus(row.accuracy, 4), 17) + PadLeft(PlusMinus(row.loss, 4), 18) +
            PadLeft(row.spread.count > 0 ? Fixed(row.spread.mean, 4) : "–", 9) +
            PadLeft(Bytes(static_cast<std::uint64_t>(row.bytes_a_node)), 13) +
            PadLeft(row.validation.count > 0 ? Fixed(row.validation.mean, 4) : "–", 12) + '\n';
    const std::string expected = Expectations(row);
    if (!expected.empty()) text += "    " + expected + '\n';
  }
  return text;
}

std::string SweepCsv(const SweepRun& run) {
  std::string csv;
  for (const std::string& key : run.keys) csv += CsvField(key) + ',';
  csv +=
      "seeds,accuracy,accuracy_deviation,accuracy_min,loss,loss_deviation,best_epoch,"
      "last_accuracy,spread,bytes_sent_per_node,validation,expected,launcher\n";
  for (const SweepRow& row : run.rows) {
    for (const std::string& key : run.keys) csv += CsvField(ValueOf(row, key)) + ',';
    csv += std::to_string(row.loss.count) + ',' + Mean6(row.accuracy) + ',' +
           Deviation6(row.accuracy) + ',' + Mean6(row.accuracy_min) + ',' + Mean6(row.loss) + ',' +
           Deviation6(row.loss) + ',' + Mean6(row.best_epoch) + ',' + Mean6(row.last_accuracy) +
           ',' + Mean6(row.spread) + ',' + Fixed(row.bytes_a_node, 0) + ',' +
           Mean6(row.validation) + ',' + CsvField(Expectations(row)) + ',' +
           CsvField(run.launcher) + '\n';
  }
  return csv;
}

std::string SweepJson(const SweepRun& run) {
  Json json = {{"schema", "covey.sweep/1"},
               {"name", run.name},
               {"seeds", run.seeds},
               {"points_wanted", run.wanted},
               {"interrupted", run.interrupted},
               {"launcher", run.launcher},
               {"build", run.build},
               {"command", run.command}};
  Json points = Json::array();
  for (const SweepRow& row : run.rows) {
    Json set = Json::object();
    for (const auto& [key, value] : row.values) set[key] = value;
    Json expected = Json::array();
    for (const Verdict& verdict : row.verdicts) {
      expected.push_back({{"what", verdict.what},
                          {"wanted", verdict.wanted},
                          {"got", verdict.got},
                          {"holds", verdict.holds}});
    }
    points.push_back({{"set", std::move(set)},
                      {"accuracy", SweepMember(row.accuracy)},
                      {"accuracy_min", SweepMember(row.accuracy_min)},
                      {"loss", SweepMember(row.loss)},
                      {"best_epoch", SweepMember(row.best_epoch)},
                      {"last_accuracy", SweepMember(row.last_accuracy)},
                      {"spread", SweepMember(row.spread)},
                      {"bytes_sent_per_node", row.bytes_a_node},
                      {"validation", SweepMember(row.validation)},
                      {"expected", std::move(expected)}});
  }
  json["points"] = std::move(points);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string SweepHtml(const SweepRun& run) {
  std::string page = html::Head(run.name, "Covey sweep");
  if (run.interrupted) page += "<p class=\"verdict bad\">interrupted: partial results</p>\n";
  const SweepRow* best = Best(run);
  if (best != nullptr) {
    page += "<p class=\"lead\">" +
            EscapeHtml(
                std::to_string(run.rows.size()) + " of " + std::to_string(run.wanted) +
                " points, " + std::to_string(run.seeds) + (run.seeds == 1 ? " seed" : " seeds") +
                " each, " + LauncherOf(run) + ". Best: " + Described(*best) + ", with accuracy " +
                PlusMinus(best->accuracy, 4) + " and loss " + PlusMinus(best->loss, 4) + ".") +
            "</p>\n";
  }
  if (const std::string key = PlotKey(run); !key.empty()) {
    const Drawing drawing = OverKey(run, key);
    page += "<h2>" + EscapeHtml(drawing.chart.title) + "</h2>\n" +
            html::Figure(svg::Draw(drawing.chart), drawing.caption);
  }
  const Drawing frontier = Frontier(run);
  if (const std::string drawn = svg::Draw(frontier.chart); !drawn.empty()) {
    page += "<h2>" + EscapeHtml(frontier.chart.title) + "</h2>\n" +
            html::Figure(drawn, frontier.caption);
  }
  if (best != nullptr) page += PointTable(run);
  page += "<h2>Settings of all points</h2>\n<dl>\n";
  for (const Setting& setting : run.settings) {
    page += "<div><dt>" + EscapeHtml(setting.name) + "</dt><dd>" + EscapeHtml(setting.value) +
            "</dd></div>\n";
  }
  page += "</dl>\n<h2>Repeat it</h2>\n<pre>" + EscapeHtml(run.command) + "</pre>\n";
  return page + html::Foot(run.build);
}

}  // namespace covey::harness
