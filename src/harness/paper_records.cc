#include <algorithm>
#include <nlohmann/json.hpp>

#include "covey/harness/paper_report.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

using Json = nlohmann::ordered_json;

std::string Signed(double value, int digits) {
  return (value > 0 ? "+" : "") + Fixed(value, digits);
}

std::string Field(const MeanOf& figure, int digits = 6) {
  return figure.count > 0 ? Fixed(figure.mean, digits) : "";
}

std::string Deviation(const MeanOf& figure) {
  return figure.count > 1 ? Fixed(figure.deviation, 6) : "";
}

void PutCell(std::string& line, const std::optional<Cell>& cell) {
  line += cell ? ',' + Fixed(cell->distance, 4) + ',' + std::string(Name(cell->standing)) : ",,";
}

Json PaperMember(const MeanOf& figure) {
  if (figure.count == 0) return nullptr;
  Json json = {{"mean", figure.mean}, {"seeds", figure.count}};
  if (figure.count > 1) json["deviation"] = figure.deviation;
  return json;
}

Json PaperMember(const Cell& cell) {
  return {{"standing", Name(cell.standing)}, {"distance", cell.distance}};
}

Json PaperMember(const PaperResult& row) {
  Json json = {
      {"row", row.row.Name()},
      {"figure", row.row.figure()},
      {"loss", PaperMember(row.loss)},
      {"loss_epoch", PaperMember(row.loss_epoch)},
      {"accuracy", PaperMember(row.accuracy)},
      {"accuracy_epoch", PaperMember(row.accuracy_epoch)},
      {"loss_at_accuracy", PaperMember(row.loss_at_accuracy)},
      {"last",
       {{"loss", PaperMember(row.last_loss)}, {"accuracy", PaperMember(row.last_accuracy)}}},
      {"bytes_sent_per_node", row.bytes_a_node},
      {"processor_seconds", row.seconds}};
  if (row.spread.count > 0) json["spread"] = PaperMember(row.spread);
  if (row.paper) {
    json["paper"] = {{"loss", row.paper->loss}, {"accuracy", *row.paper->accuracy}};
    json["against_paper"] = {{"loss", PaperMember(*row.loss_cell())},
                             {"accuracy", PaperMember(*row.accuracy_cell())}};
  }
  Json curve = Json::array();
  for (const CurvePoint& point : row.curve) {
    Json item = {{"epoch", point.epoch}, {"loss", point.mean.loss}};
    if (point.mean.accuracy) item["accuracy"] = *point.mean.accuracy;
    curve.push_back(std::move(item));
  }
  json["validation_curve"] = std::move(curve);
  return json;
}

std::string Standings(const std::optional<Cell>& cell) {
  if (!cell) return "–";
  if (cell->standing == Standing::kEqual) return "equal";
  return std::string(Name(cell->standing)) + ' ' + Signed(cell->distance, 4);
}

}  // namespace

Tally Count(const PaperRun& run) {
  Tally tally;
  for (const PaperResult& row : run.rows) {
    for (const std::optional<Cell>& cell : {row.loss_cell(), row.accuracy_cell()}) {
      if (!cell) continue;
      switch (cell->standing) {
        case Standing::kBetter:
          ++tally.better;
          break;
        case Standing::kEqual:
          ++tally.equal;
          break;
        case Standing::kWorse:
          ++tally.worse;
          break;
      }
    }
  }
  return tally;
}

std::string FewerSeeds(const PaperRun& run) {
  std::size_t rows = 0;
  for (const PaperResult& row : run.rows) rows += row.loss.count < run.seeds ? 1 : 0;
  if (rows == 0) return "";
  return std::to_string(rows) + (rows == 1 ? " row has" : " rows have") + " fewer than " +
         std::to_string(run.seeds) + " seeds (table.csv says how many)";
}

std::string PaperTable(const PaperRun& run) {
  std::string text = run.dataset.title + ", " + Fixed(run.epochs, run.epochs < 10 ? 1 : 0) +
                     " epochs, " + std::to_string(run.seeds) +
                     (run.seeds == 1 ? " seed" : " seeds") +
                     ", each figure at its best epoch, on the test set\n\n" +
                     PadRight("  row", 20) + PadLeft("accuracy", 9) + PadLeft("paper", 9) + "  " +
                     PadRight("", 16) + PadLeft("loss", 9) + PadLeft("paper", 9) + '\n';
  for (const PaperResult& row : run.rows) {
    const std::string loss = Fixed(row.loss.mean, 4);
    text += PadRight("  " + row.row.Label(), 20) + PadLeft(Fixed(row.accuracy.mean, 4), 9) +
            PadLeft(row.paper ? Fixed(*row.paper->accuracy, 4) : "–", 9) + "  " +
            PadRight(Standings(row.accuracy_cell()), 16) +
            PadLeft(loss.size() <= 9 ? loss : "> 9999", 9) +
            PadLeft(row.paper ? Fixed(row.paper->loss, 4) : "–", 9) + "  " +
            Standings(row.loss_cell()) + '\n';
  }
  const Tally tally = Count(run);
  text += "\n  " + std::to_string(tally.better) + " cells better than the paper's, " +
          std::to_string(tally.equal) + " equal, " + std::to_string(tally.worse) + " worse";
  if (run.rows.size() < run.wanted) {
    text += "; " + std::to_string(run.wanted - run.rows.size()) + " of " +
            std::to_string(run.wanted) + " rows missing";
  }
  if (const std::string fewer = FewerSeeds(run); !fewer.empty()) text += "\n  " + fewer;
  return text + '\n';
}

std::string PaperCsv(const PaperRun& run) {
  std::string csv =
      "dataset,row,seeds,loss,loss_deviation,accuracy,accuracy_deviation,loss_epoch,accuracy_epoch,"
      "loss_at_accuracy,last_loss,"
      "last_accuracy,spread,bytes_sent_per_node,paper_loss,paper_accuracy,loss_distance,"
      "loss_standing,accuracy_distance,accuracy_standing\n";
  for (const PaperResult& row : run.rows) {
    csv += run.dataset.name + ',' + row.row.Name() + ',' + std::to_string(row.loss.count) + ',' +
           Field(row.loss) + ',' + Deviation(row.loss) + ',' + Field(row.accuracy) + ',' +
           Deviation(row.accuracy) + ',' + Field(row.loss_epoch, 3) + ',' +
           Field(row.accuracy_epoch, 3) + ',' + Field(row.loss_at_accuracy) + ',' +
           Field(row.last_loss) + ',' + Field(row.last_accuracy) + ',' + Field(row.spread) + ',' +
           Fixed(row.bytes_a_node, 0) + ',';
    csv += row.paper ? Fixed(row.paper->loss, 4) + ',' + Fixed(*row.paper->accuracy, 4) : ",";
    PutCell(csv, row.loss_cell());
    PutCell(csv, row.accuracy_cell());
    csv += '\n';
  }
  return csv;
}

std::string PaperCurvesCsv(const PaperRun& run) {
  std::string csv = "dataset,row,epoch,validation_loss,validation_accuracy\n";
  for (const PaperResult& row : run.rows) {
    for (const CurvePoint& point : row.curve) {
      csv += run.dataset.name + ',' + row.row.Name() + ',' + Fixed(point.epoch, 3) + ',' +
             Fixed(point.mean.loss, 6) + ',' +
             (point.mean.accuracy ? Fixed(*point.mean.accuracy, 6) : "") + '\n';
    }
  }
  return csv;
}

std::string PaperJson(const PaperRun& run) {
  const Tally tally = Count(run);
  Json json = {{"schema", "covey.paper/1"},
               {"dataset", run.dataset.name},
               {"seeds", run.seeds},
               {"epochs", run.epochs},
               {"interrupted", run.interrupted},
               {"rows_wanted", run.wanted},
               {"model", run.model},
               {"build", run.build},
               {"command", run.command},
               {"against_paper",
                {{"better", tally.better}, {"equal", tally.equal}, {"worse", tally.worse}}}};
  Json rows = Json::array();
  for (const PaperResult& row : run.rows) rows.push_back(PaperMember(row));
  json["rows"] = std::move(rows);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace covey::harness
