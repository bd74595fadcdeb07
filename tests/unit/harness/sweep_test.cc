#include "covey/harness/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace covey::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

FleetFigures SweepFleet(double accuracy, double loss, std::uint64_t bytes) {
  FleetFigures figures;
  figures.nodes = 4;
  figures.best = figures.last = figures.lowest_loss = {loss, accuracy};
  figures.accuracy_min = accuracy - 0.01;
  figures.spread = 0.02;
  figures.traffic.bytes_sent = bytes;
  return figures;
}

// Two rates with two values of M and two seeds each.
SweepRun MadeUpSweep() {
  SweepRun run;
  run.name = "rates";
  run.keys = {"experiment.partition.rate", "consensus.sends"};
  run.seeds = 2;
  run.wanted = 5;
  run.command = "covey-sim sweep rates.yaml";
  double accuracy = 0.80;
  std::uint64_t bytes = 4'000'000;
  for (const char* rate : {"10%", "50%"}) {
    for (const char* sends : {"1", "2"}) {
      run.rows.push_back(CombinePoint(
          {{"experiment.partition.rate", rate}, {"consensus.sends", sends}},
          {SweepFleet(accuracy, 0.5, bytes), SweepFleet(accuracy + 0.02, 0.4, bytes)}));
      accuracy += 0.01;
      bytes += 4'000'000;
    }
  }
  return run;
}

TEST(SweepReport, TheTableHasMeanAndDeviationAndMarksTheBest) {
  const std::string table = SweepTable(MadeUpSweep());
  EXPECT_THAT(table, HasSubstr("4 of 5 points, 2 seeds, virtual clock\n"));
  EXPECT_THAT(table, HasSubstr("0.8100 ± 0.0141"));
  EXPECT_THAT(table, HasSubstr("* 50%"));
  EXPECT_THAT(table, HasSubstr("1.00 MB"));
}

TEST(SweepReport, NamesTheLauncher) {
  SweepRun run = MadeUpSweep();
  run.launcher = "mpi";
  EXPECT_THAT(SweepTable(run), HasSubstr("2 seeds, real daemons by mpirun\n"));
  EXPECT_THAT(SweepHtml(run), HasSubstr("2 seeds each, real daemons by mpirun."));
  EXPECT_THAT(SweepCsv(run), HasSubstr(",mpi\n"));
  EXPECT_EQ(nlohmann::json::parse(SweepJson(run))["launcher"], "mpi");
}

TEST(SweepReport, CsvAndJsonHoldEveryPoint) {
  const std::string csv = SweepCsv(MadeUpSweep());
  EXPECT_THAT(csv, HasSubstr("experiment.partition.rate,consensus.sends,seeds,accuracy,"));
  EXPECT_THAT(csv, HasSubstr("\n10%,2,2,0.820000,0.014142,"));
  const auto report = nlohmann::json::parse(SweepJson(MadeUpSweep()));
  EXPECT_EQ(report["schema"], "covey.sweep/1");
  ASSERT_EQ(report["points"].size(), 4u);
  EXPECT_EQ(report["points"][3]["set"]["consensus.sends"], "2");
  EXPECT_EQ(report["points"][3]["accuracy"]["seeds"], 2);
  EXPECT_EQ(report["points"][0]["bytes_sent_per_node"], 1e6);
}

TEST(SweepReport, ThePageDrawsOverTheFirstKeyWithNumbersAndAgainstBytes) {
  const std::string page = SweepHtml(MadeUpSweep());
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, HasSubstr("Accuracy over experiment.partition.rate"));
  EXPECT_THAT(page, HasSubstr("sends 2"));
  EXPECT_THAT(page, HasSubstr("Accuracy against bytes"));
}

TEST(SweepReport, NamesTooLongForALineStandBelow) {
  SweepRun run = MadeUpSweep();
  const std::string both = "int8 and all the rest of a long name";
  for (SweepRow& row : run.rows) {
    for (auto& [key, value] : row.values) {
      if (key == "consensus.sends") value = value == "2" ? both : "f16";
    }
  }
  const std::string page = SweepHtml(run);
  EXPECT_THAT(page, HasSubstr(">A</text>"));
  EXPECT_THAT(page, HasSubstr(">B</text>"));
  EXPECT_THAT(page, HasSubstr("A: sends f16; B: sends " + both + ". Mean over"));
  EXPECT_THAT(page, Not(HasSubstr("…</text>")));
}

TEST(SweepReport, ThePointsOfTheFrontierAreNamed) {
  const std::string page = SweepHtml(MadeUpSweep());
  EXPECT_THAT(page, HasSubstr("reaches: 1.00 MB: rate 10%, sends 1 ("));
}

TEST(SweepReport, ColumnsHaveShortNamesUnlessTwoAreTheSame) {
  SweepRun run = MadeUpSweep();
  EXPECT_THAT(SweepHtml(run), HasSubstr(">sends</th>"));
  run.keys.push_back("other.sends");
  EXPECT_THAT(SweepHtml(run), HasSubstr(">consensus.sends</th>"));
  EXPECT_THAT(SweepHtml(run), HasSubstr(">rate</th>"));
}

TEST(SweepReport, SaysWhatIsExpectedAndWhatIsMissed) {
  SweepRun run = MadeUpSweep();
  run.rows[0].verdicts = {{"accuracy", ">= 0.8000", "0.8100", true}};
  run.rows[1].verdicts = {{"accuracy", ">= 0.9000", "0.820000", false}};
  const std::string table = SweepTable(run);
  EXPECT_THAT(table, HasSubstr("accuracy >= 0.8000: holds\n"));
  EXPECT_THAT(table, HasSubstr("accuracy >= 0.9000: MISSED, 0.820000\n"));
  EXPECT_THAT(SweepHtml(run), HasSubstr("accuracy &gt;= 0.9000: MISSED"));
  EXPECT_THAT(SweepCsv(run), HasSubstr(",accuracy >= 0.8000: holds,virtual\n"));
  const auto report = nlohmann::json::parse(SweepJson(run));
  EXPECT_EQ(report["points"][1]["expected"][0]["holds"], false);
  EXPECT_TRUE(report["points"][2]["expected"].empty());
}

TEST(SweepReport, ShowsTheAccuracyBySettingsAreChosen) {
  FleetFigures figures = SweepFleet(0.8, 0.5, 4);
  figures.validation = 0.8125;
  const auto again = FiguresFromJson(ToJsonText(figures));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->validation, 0.8125);
  SweepRun run;
  run.rows = {CombinePoint({}, {figures, *again})};
  EXPECT_THAT(SweepTable(run), HasSubstr("0.8125\n"));
}

TEST(SweepReport, KeysThatAreWordsAreNotDrawn) {
  SweepRun run = MadeUpSweep();
  run.keys = {"train.optimizer.kind"};
  for (SweepRow& row : run.rows) row.values = {{"train.optimizer.kind", "adam"}};
  EXPECT_THAT(SweepHtml(run), Not(HasSubstr("Accuracy over")));
}

TEST(SweepReport, RegressionIsComparedByItsLoss) {
  SweepRun run;
  run.name = "regression";
  run.wanted = 2;
  for (const double loss : {0.5, 0.25}) {
    FleetFigures figures = SweepFleet(0, loss, 0);
    figures.best.accuracy = figures.last.accuracy = figures.accuracy_min = std::nullopt;
    run.rows.push_back(CombinePoint({}, {figures}));
  }
  EXPECT_THAT(SweepTable(run), HasSubstr("*                 –            0.2500"));
  EXPECT_THAT(SweepHtml(run), HasSubstr("loss 0.2500"));
}

TEST(SweepReport, TextsFromTheFileAreEscaped) {
  SweepRun run = MadeUpSweep();
  run.name = run.command = run.build = "<script>";
  run.keys = {"<script>"};
  run.rows[0].values = {{"<script>", "<script>"}};
  EXPECT_THAT(SweepHtml(run), Not(HasSubstr("<script>")));
}

TEST(SweepReport, OfNothingIsStillAPage) {
  SweepRun run;
  run.interrupted = true;
  EXPECT_THAT(SweepHtml(run), HasSubstr("interrupted"));
  EXPECT_THAT(SweepTable(run), HasSubstr("0 of 0 points"));
}

TEST(SweepNumbers, AreFoundInTheTextOfAKey) {
  EXPECT_EQ(NumberIn("5"), 5);
  EXPECT_EQ(NumberIn("10%"), 0.1);
  EXPECT_EQ(NumberIn("epochs 2.5"), 2.5);
  EXPECT_EQ(NumberIn("adam"), std::nullopt);
  EXPECT_EQ(NumberIn("kind sgd, learning_rate 0.1"), std::nullopt);
  EXPECT_EQ(NumberIn(""), std::nullopt);
  EXPECT_EQ(NumberIn("inf"), std::nullopt);
}

}  // namespace
}  // namespace covey::harness
