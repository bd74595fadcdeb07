#include "covey/harness/paper_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "covey/harness/paper_command.h"

namespace covey::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

// Three rows of Fashion-MNIST: one better, one worse, one that the paper has no figures for.
PaperRun MadeUp() {
  PaperRun run;
  run.dataset = *FindDataset("fashion-mnist");
  run.wanted = 20;
  run.epochs = 100;
  run.model = "mlp 784-72-10";
  run.build = "covey-sim 0.1.0";
  run.command = "covey-sim paper --dataset fashion-mnist";
  const std::vector<PaperRow> rows =
      *SelectRows(std::nullopt, {"monolithic", "update_rate_M=1", "mix_rate_percent=0"});
  const double accuracy[] = {0.8840, 0.8600, 0.7100};
  const double loss[] = {0.3500, 0.3900, 0.9000};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    FleetFigures figures;
    figures.nodes = 8;
    figures.best = {loss[i], accuracy[i]};
    figures.lowest_loss = figures.last = figures.best;
    for (int e = 1; e <= 20; ++e) {
      const LossAccuracy at{loss[i] + 1.0 / e, accuracy[i] - 0.1 / e};
      figures.curve.push_back({5.0 * e, at, at, at});
    }
    run.rows.push_back(Combine(run.dataset, rows[i], {figures}));
  }
  return run;
}

TEST(PaperReport, CountsWhereWeStand) {
  const Tally tally = Count(MadeUp());
  EXPECT_EQ(tally.better, 2u);
  EXPECT_EQ(tally.equal, 0u);
  EXPECT_EQ(tally.worse, 2u);
}

TEST(PaperReport, TheTableHasBothFiguresAndTheDistanceWithinAHundredColumns) {
  const std::string table = PaperTable(MadeUp());
  EXPECT_THAT(table, HasSubstr("0.8840   0.8832  better +0.0008"));
  EXPECT_THAT(table, HasSubstr("worse -0.0085"));
  EXPECT_THAT(table, HasSubstr("17 of 20 rows missing"));
  std::size_t at = 0;
  while (at < table.size()) {
    const std::size_t end = table.find('\n', at);
    EXPECT_LE(end - at, 100u) << table.substr(at, end - at);
    at = end + 1;
  }
}

TEST(PaperReport, RowsWithFewerSeedsAreCounted) {
  PaperRun run = MadeUp();
  EXPECT_EQ(FewerSeeds(run), "");
  run.seeds = 3;
  run.rows[1].loss.count = 3;
  EXPECT_THAT(FewerSeeds(run), HasSubstr("2 rows have fewer than 3 seeds"));
  EXPECT_THAT(PaperTable(run), HasSubstr("2 rows have fewer than 3 seeds"));
  EXPECT_THAT(PaperHtml(run), HasSubstr("2 rows have fewer than 3 seeds"));
}

TEST(PaperReport, ALossThatGrewWithoutBoundKeepsTheColumns) {
  PaperRun run = MadeUp();
  run.rows[1].loss.mean = 1.8e14;
  EXPECT_THAT(PaperTable(run), HasSubstr("> 9999"));
}

TEST(PaperReport, JsonAndCsvHoldTheSameCells) {
  const auto json = nlohmann::json::parse(PaperJson(MadeUp()));
  EXPECT_EQ(json["schema"], "covey.paper/1");
  ASSERT_EQ(json["rows"].size(), 3u);
  EXPECT_EQ(json["rows"][1]["against_paper"]["accuracy"]["standing"], "worse");
  EXPECT_FALSE(json["rows"][2].contains("paper"));  // absent, never zero
  EXPECT_EQ(json["rows"][0]["validation_curve"].size(), 20u);
  const std::string csv = PaperCsv(MadeUp());
  EXPECT_THAT(csv, HasSubstr("fashion-mnist,update_rate_M=1,1,0.390000,,0.860000,"));
  EXPECT_THAT(csv, HasSubstr(",0.3743,0.8685,0.0157,worse,-0.0085,worse\n"));
  EXPECT_THAT(csv, HasSubstr(",0,,,,,,\n"));  // mix rate 0: no figures of the paper
  EXPECT_THAT(PaperCurvesCsv(MadeUp()), HasSubstr("fashion-mnist,monolithic,5.000,1.350000,"));
}

TEST(PaperReport, ThePageIsSelfContainedAndDrawsTheFiguresThatHaveRows) {
  const std::string page = PaperHtml(MadeUp());
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, HasSubstr("<h2>Figure 1</h2>"));
  EXPECT_THAT(page, HasSubstr("<h2>Figure 2</h2>"));
  EXPECT_THAT(page, Not(HasSubstr("<h2>Figure 3</h2>")));
  EXPECT_THAT(page, HasSubstr("covey-sim paper --dataset fashion-mnist"));
}

TEST(PaperReport, OfNoRowsIsStillAPage) {
  PaperRun run = MadeUp();
  run.rows.clear();
  run.interrupted = true;
  EXPECT_THAT(PaperHtml(run), HasSubstr("interrupted"));
  EXPECT_THAT(PaperTable(run), HasSubstr("20 of 20 rows missing"));
}

TEST(PaperCommand, IsRepeatedByOneLine) {
  PaperCommand command;
  command.dataset = "mnist";
  command.data = "/data of mine";
  command.rows = {"mix_rate_percent=10"};
  command.seeds = 3;
  command.epochs = "0.5";
  EXPECT_EQ(RepeatCommand(command),
            "covey-sim paper --dataset mnist --data '/data of mine' --row mix_rate_percent=10 "
            "--seeds 3 --epochs 0.5");
}

}  // namespace
}  // namespace covey::harness
