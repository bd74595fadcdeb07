#include <array>
#include <cmath>
#include <functional>

#include "covey/harness/paper_report.h"
#include "harness/html.h"
#include "harness/svg.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using html::Table;

// Class of row `i` of a figure: told apart by colour and by stroke; mix rates, which are an order,
// by a ramp of colours.
std::string SeriesStyle(const PaperResult& row, std::size_t i) {
  if (row.row.kind == PaperRow::Kind::kMonolithic) return "monolithic";
  const bool ramp = row.row.kind == PaperRow::Kind::kMixRate;
  return ramp ? "series r" + std::to_string(row.row.value / 10 % 10)
              : "series s" + std::to_string(i % 10);
}

svg::Chart FigureOf(const PaperRun& run, int figure, bool accuracy) {
  svg::Chart chart;
  chart.id = "figure" + std::to_string(figure) + (accuracy ? "-accuracy" : "-loss");
  chart.title = "Figure " + std::to_string(figure) +
                (accuracy ? ": validation accuracy over epochs" : ": validation loss over epochs");
  chart.x_label = "epochs";
  chart.percent = accuracy;
  std::size_t index = 0;
  for (const PaperResult& row : run.rows) {
    const bool reference = row.row.kind == PaperRow::Kind::kMonolithic;
    if (row.row.figure() != figure && !reference) continue;
    svg::Line line{.label = row.row.Label(), .style = SeriesStyle(row, index), .points = {}};
    if (!reference) ++index;
    for (const CurvePoint& point : row.curve) {
      const std::optional<double> value =
          accuracy ? point.mean.accuracy : std::optional(point.mean.loss);
      if (value && std::isfinite(*value)) line.points.emplace_back(point.epoch, *value);
    }
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  return chart;
}

std::string PaperFiguresHtml(const PaperRun& run) {
  constexpr std::array<std::string_view, 3> kAbout = {
      "data sharing: 8 nodes with an eighth of the data each, M models sent in a round",
      "biased data: 10 nodes; a node keeps its own class but for the mix rate, which is given to "
      "the others",
      "unreliable communication: 8 nodes, M = 1, replies dropped"};
  std::string page;
  for (int figure = 1; figure <= 3; ++figure) {
    bool own = false;
    for (const PaperResult& row : run.rows) own = own || row.row.figure() == figure;
    if (!own) continue;
    const std::string about(kAbout[static_cast<std::size_t>(figure - 1)]);
    page +=
        "<h2>Figure " + std::to_string(figure) + "</h2>\n" +
        html::Figure(svg::Draw(FigureOf(run, figure, true)),
                     "Accuracy on the common validation set, mean of the nodes; " + about + ".") +
        "<div class=\"gap\"></div>\n" +
        html::Figure(svg::Draw(FigureOf(run, figure, false)),
                     "Loss (mean cross-entropy in nats) of the same runs.");
  }
  return page;
}

std::string StandingCell(const std::optional<Cell>& cell) {
  if (!cell) return "–";
  const bool worse = cell->standing == Standing::kWorse;
  const std::string word(Name(cell->standing));
  if (cell->standing == Standing::kEqual) return "<b class=\"good\">= equal</b>";
  const std::string distance =
      (cell->distance > 0 ? "+" : "−") + Fixed(std::abs(cell->distance), 4);
  return std::string("<b class=\"") + (worse ? "bad" : "good") + "\">" + (worse ? "✗ " : "✓ ") +
         word + "</b> " + EscapeHtml(distance);
}

std::string WithDeviation(const MeanOf& figure) {
  std::string text = "<b>" + EscapeHtml(Fixed(figure.mean, 4)) + "</b>";
  if (figure.count > 1) text += " ± " + EscapeHtml(Fixed(figure.deviation, 4));
  return text;
}

std::string PaperMainTable(const PaperRun& run) {
  Table table({{"row", true},
               {"accuracy"},
               {"paper"},
               {"", true},
               {"loss"},
               {"paper"},
               {"", true},
               {"epochs"},
               {"last: accuracy"},
               {"loss"},
               {"spread"},
               {"sent by a node"}},
              "wide");
  for (const PaperResult& row : run.rows) {
    table.Row({EscapeHtml(row.row.Label()), WithDeviation(row.accuracy),
               row.paper ? Fixed(*row.paper->accuracy, 4) : "–", StandingCell(row.accuracy_cell()),
               WithDeviation(row.loss), row.paper ? Fixed(row.paper->loss, 4) : "–",
               StandingCell(row.loss_cell()),
               Fixed(row.accuracy_epoch.mean, 0) + " / " + Fixed(row.loss_epoch.mean, 0),
               Fixed(row.last_accuracy.mean, 4), Fixed(row.last_loss.mean, 4),
               row.spread.count > 0 ? Fixed(row.spread.mean, 4) : "–",
               row.bytes_a_node > 0 ? Bytes(static_cast<std::uint64_t>(row.bytes_a_node)) : "–"});
  }
  return "<h2>Table 1</h2>\n" + table.Finish() +
         "<p>On the test set, mean over the nodes: accuracy of each node at its highest accuracy, "
         "loss at its lowest loss on the common validation set (epochs: of both). Distances are "
         "ours minus the paper's, at its four digits.</p>\n";
}

std::string PaperLead(const PaperRun& run) {
  const Tally tally = Count(run);
  const std::size_t cells = tally.better + tally.equal + tally.worse;
  std::string text =
      "Table 1 of “Consensus Driven Learning” (Crandall & Webb, arXiv 2005.10300) "
      "on " +
      run.dataset.title + ", beside what the paper reports. ";
  if (cells > 0) {
    text += "Of " + std::to_string(cells) + " figures, " + std::to_string(tally.better) +
            " are better than the paper's, " + std::to_string(tally.equal) + " equal and " +
            std::to_string(tally.worse) + " worse.";
  }
  if (run.rows.size() < run.wanted) {
    text += " " + std::to_string(run.wanted - run.rows.size()) + " of " +
            std::to_string(run.wanted) + " rows are missing.";
  }
  if (const std::string fewer = FewerSeeds(run); !fewer.empty()) text += " " + fewer + ".";
  return text;
}

}  // namespace

std::string PaperHtml(const PaperRun& run) {
  std::string page = html::Head("The paper's table: " + run.dataset.title, "Covey paper");
  if (run.interrupted) page += "<p class=\"verdict bad\">interrupted: partial results</p>\n";
  page += "<p class=\"lead\">" + EscapeHtml(PaperLead(run)) + "</p>\n";
  const Tally tally = Count(run);
  double seconds = 0;
  for (const PaperResult& row : run.rows) seconds += row.seconds;
  page += "<div class=\"cards\">\n" +
          html::Card(std::to_string(tally.better), "figures better than the paper's", "first") +
          html::Card(std::to_string(tally.equal), "equal at four digits") +
          html::Card(std::to_string(tally.worse), "worse") +
          html::Card(std::to_string(run.seeds), run.seeds == 1 ? "seed" : "seeds") +
          html::Card(Span(seconds), "of processor time") + "</div>\n";
  if (!run.rows.empty()) page += PaperMainTable(run);
  page += PaperFiguresHtml(run) + "<h2>Settings</h2>\n<dl>\n";
  for (const Setting& setting : run.settings) {
    page += "<div><dt>" + EscapeHtml(setting.name) + "</dt><dd>" + EscapeHtml(setting.value) +
            "</dd></div>\n";
  }
  page += "</dl>\n<h2>Repeat it</h2>\n<pre>" + EscapeHtml(run.command) + "</pre>\n";
  const std::string seeds = run.seeds == 1 ? "seed 1" : "seeds 1 to " + std::to_string(run.seeds);
  return page + html::Foot(run.build + " · virtual mode · " + seeds);
}

}  // namespace covey::harness
