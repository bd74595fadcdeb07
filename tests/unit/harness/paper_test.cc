#include "covey/harness/paper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "covey/config/load.h"

namespace covey::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PaperDataset Set(const std::string& name) {
  const Result<PaperDataset> set = FindDataset(name);
  EXPECT_TRUE(set) << name;
  return *set;
}

config::Experiment Base(const std::string& name) {
  const auto loaded = config::ParseExperiment(Set(name).config, name);
  EXPECT_TRUE(loaded) << loaded.error().what;
  return loaded->value;
}

PaperRow Row(const std::string& name) {
  const auto rows = SelectRows(std::nullopt, {name});
  EXPECT_TRUE(rows) << name;
  return rows->front();
}

TEST(PaperRows, AreTheNineteenOfTheTableAndOneMore) {
  const std::vector<PaperRow> rows = PaperRows();
  EXPECT_EQ(rows.size(), 20u);
  std::set<std::string> names;
  std::size_t reported = 0;
  for (const PaperRow& row : rows) {
    names.insert(row.Name());
    const bool in_table = PaperFigures(Set("mnist"), row).has_value();
    reported += in_table ? 1 : 0;
    EXPECT_EQ(in_table, row.Name() != "mix_rate_percent=0") << row.Name();
  }
  EXPECT_EQ(names.size(), 20u);
  EXPECT_EQ(reported, 19u);
}

// Single cells of Table 1, read off the paper: a column that slips would show.
TEST(PaperRows, TheTableIsThePapers) {
  const auto cell = [](const char* set, const char* row) {
    return *PaperFigures(Set(set), Row(row));
  };
  EXPECT_EQ(cell("mnist", "monolithic").loss, 0.0905);
  EXPECT_EQ(cell("mnist", "mix_rate_percent=10").accuracy, 0.8853);
  EXPECT_EQ(cell("fashion-mnist", "update_rate_M=1").accuracy, 0.8685);
  EXPECT_EQ(cell("fashion-mnist", "reply_drop_percent=100").loss, 0.3812);
  EXPECT_EQ(cell("cifar-10", "update_rate_M=0").loss, 3.3870);
  EXPECT_EQ(cell("cifar-10", "reply_drop_percent=50").accuracy, 0.6692);
}

TEST(PaperRows, AreSelectedByNameAndByFigure) {
  const auto names = [](const auto& rows) {
    std::vector<std::string> list;
    for (const PaperRow& row : *rows) list.push_back(row.Name());
    return list;
  };
  EXPECT_EQ(SelectRows(std::nullopt, {})->size(), 20u);
  EXPECT_THAT(names(SelectRows(1, {})),
              ElementsAre("monolithic", "update_rate_M=0", "update_rate_M=1", "update_rate_M=2",
                          "update_rate_M=5"));
  EXPECT_EQ(SelectRows(2, {})->size(), 10u);
  EXPECT_EQ(SelectRows(3, {})->size(), 5u);
  EXPECT_THAT(names(SelectRows(std::nullopt, {"reply_drop_percent=0", "mix_rate_percent=30"})),
              ElementsAre("mix_rate_percent=30", "reply_drop_percent=0"));
  for (const int figure : {0, 4}) {
    const auto wrong = SelectRows(figure, {});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::kUsage);
  }
  const auto unknown = SelectRows(std::nullopt, {"mix_rate_percent=15"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().Format(), HasSubstr("'mix_rate_percent=15'"));
  EXPECT_THAT(unknown.error().Format(), HasSubstr("reply_drop_percent=25"));
}

TEST(PaperRows, AnUnknownDataSetIsAnErrorOfUse) {
  const auto set = FindDataset("imagenet");
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kUsage);
  EXPECT_THAT(set.error().Format(), HasSubstr("fashion-mnist"));
}

TEST(PaperRows, TheBuiltInSettingsAreThePapersConditions) {
  for (const char* name : {"mnist", "fashion-mnist", "cifar-10"}) {
    const config::Experiment base = Base(name);
    EXPECT_EQ(base.init, config::Experiment::Init::kDistinct);
    EXPECT_EQ(base.node.train.optimizer.kind, optim::Settings::Kind::kAdam);
    EXPECT_EQ(base.node.train.until.epochs, 100);
    EXPECT_EQ(base.node.data.validation_last, 5000u);
    EXPECT_FALSE(base.node.consensus.limit_in_flight);
    EXPECT_FALSE(base.node.consensus.gamma.has_value());  // 1/(M+1)
    EXPECT_EQ(base.node.consensus.sends, 1u);
  }
}

TEST(PaperRows, ARowChangesWhatItIsAboutAndNothingElse) {
  const config::Experiment base = Base("mnist");
  const auto of = [&base](const char* name) { return ExperimentOf(Row(name), base); };

  const config::Experiment sharing = of("update_rate_M=5");
  EXPECT_EQ(sharing.nodes, 8u);
  EXPECT_EQ(sharing.node.consensus.sends, 5u);
  EXPECT_EQ(sharing.partition.kind, data::PartitionSettings::Kind::kIid);
  EXPECT_EQ(sharing.node.faults.deltas_drop, 0);

  const config::Experiment biased = of("mix_rate_percent=30");
  EXPECT_EQ(biased.nodes, 10u);
  EXPECT_EQ(biased.partition.kind, data::PartitionSettings::Kind::kMixRate);
  EXPECT_DOUBLE_EQ(biased.partition.rate, 0.3);
  EXPECT_EQ(biased.node.consensus.sends, 1u);

  const config::Experiment lossy = of("reply_drop_percent=75");
  EXPECT_EQ(lossy.nodes, 8u);
  EXPECT_DOUBLE_EQ(lossy.node.faults.deltas_drop, 0.75);
  EXPECT_EQ(lossy.node.faults.weights_drop, 0);
  EXPECT_EQ(lossy.node.consensus.sends, 1u);

  EXPECT_EQ(GroupOf(Row("monolithic")), Group::kMonolithic);
  EXPECT_EQ(GroupOf(Row("update_rate_M=0")), Group::kConsensus);
  std::set<std::string> hashes;
  for (const PaperRow& row : PaperRows()) {
    const config::Experiment experiment = ExperimentOf(row, base);
    EXPECT_TRUE(config::Expand(experiment)) << row.Name();
    EXPECT_EQ(experiment.node.consensus.batches, base.node.consensus.batches);
    hashes.insert(SettingsHash(experiment, GroupOf(row)));
  }
  // M = 1 and no replies dropped are one experiment, which the paper shows twice; and the
  // monolithic one differs from them by its group alone.
  EXPECT_EQ(hashes.size(), 19u);
}

TEST(PaperRows, ACurveHasAtMostTwentyPoints) {
  for (const double epochs : {100.0, 40.0, 3.0, 0.5}) {
    config::Experiment base = Base("mnist");
    base.node.train.until.epochs = epochs;
    const auto& evaluate = ExperimentOf(Row("update_rate_M=1"), base).node.train.evaluate;
    const std::uint64_t batches_per_epoch = 215;
    const double batches = epochs * batches_per_epoch;
    EXPECT_LE(batches / static_cast<double>(evaluate.Batches(batches_per_epoch)), 20.0) << epochs;
  }
}

TEST(PaperCells, LossIsBetterBelowAndAccuracyAbove) {
  EXPECT_EQ(CompareLoss(0.3527, 0.3528).standing, Standing::kBetter);
  EXPECT_EQ(CompareLoss(0.3529, 0.3528).standing, Standing::kWorse);
  EXPECT_EQ(CompareAccuracy(0.8833, 0.8832).standing, Standing::kBetter);
  EXPECT_EQ(CompareAccuracy(0.8831, 0.8832).standing, Standing::kWorse);
  EXPECT_NEAR(CompareAccuracy(0.8731, 0.8832).distance, -0.0101, 1e-12);
  EXPECT_NEAR(CompareLoss(0.2528, 0.3528).distance, -0.1, 1e-12);
}

TEST(PaperCells, FiguresAreEqualAtTheFourDigitsThatThePaperPrints) {
  EXPECT_EQ(CompareLoss(0.352849, 0.3528).standing, Standing::kEqual);
  EXPECT_EQ(CompareLoss(0.352751, 0.3528).standing, Standing::kEqual);
  EXPECT_EQ(CompareLoss(0.352749, 0.3528).standing, Standing::kBetter);
  EXPECT_EQ(CompareAccuracy(0.883151, 0.8832).standing, Standing::kEqual);
  EXPECT_EQ(CompareAccuracy(0.8832, 0.8832).distance, 0);
}

TEST(PaperCells, WhatIsNoNumberIsWorse) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(CompareLoss(kNan, 0.3).standing, Standing::kWorse);
  EXPECT_EQ(CompareLoss(-std::numeric_limits<double>::infinity(), 0.3).standing, Standing::kWorse);
  EXPECT_EQ(CompareAccuracy(kNan, 0.3).standing, Standing::kWorse);
}

FleetFigures Fleet(double loss, double accuracy) {
  FleetFigures run;
  run.nodes = 8;
  run.best = {loss, accuracy};
  run.lowest_loss = run.best;
  run.last = {loss + 0.1, accuracy - 0.01};
  run.best_epoch = 40;
  run.spread = 0.02;
  run.traffic.bytes_sent = 8'000;
  run.seconds = 2;
  for (int i = 1; i <= 3; ++i) {
    run.curve.push_back({5.0 * i, {loss, accuracy}, {loss, accuracy}, {loss, accuracy}});
  }
  return run;
}

TEST(PaperCells, SeedsAreAveragedWithTheDeviationOfTheSample) {
  const PaperResult result = Combine(Set("fashion-mnist"), Row("update_rate_M=1"),
                                     {Fleet(0.37, 0.86), Fleet(0.35, 0.88), Fleet(0.36, 0.87)});
  EXPECT_EQ(result.accuracy.count, 3u);
  EXPECT_NEAR(result.accuracy.mean, 0.87, 1e-12);
  EXPECT_NEAR(result.accuracy.deviation, 0.01, 1e-12);
  EXPECT_NEAR(result.last_accuracy.mean, 0.86, 1e-12);
  EXPECT_NEAR(result.bytes_a_node, 1000, 1e-9);
  EXPECT_NEAR(result.seconds, 6, 1e-12);
  ASSERT_EQ(result.curve.size(), 3u);
  EXPECT_NEAR(result.curve[1].mean.loss, 0.36, 1e-12);
  EXPECT_NEAR(result.curve[1].low.loss, 0.35, 1e-12);
  EXPECT_NEAR(*result.curve[1].high.accuracy, 0.88, 1e-12);
  EXPECT_EQ(result.accuracy_cell()->standing, Standing::kBetter);  // 0.8685
  EXPECT_EQ(result.loss_cell()->standing, Standing::kBetter);      // 0.3743
}

TEST(FleetFiguresText, GoesToDiskAndBack) {
  FleetFigures run = Fleet(0.37, 0.86);
  run.traffic = {1, 2, 3, 4, 5, 6, 7};
  run.samples = 123456789012;
  run.on_test_set = true;
  run.accuracy_min = 0.85;
  run.curve[1].low.accuracy.reset();
  const std::string text = ToJsonText(run);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const Result<FleetFigures> read = FiguresFromJson(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(ToJsonText(*read), text);
  EXPECT_EQ(read->samples, run.samples);
  EXPECT_EQ(read->traffic.bytes_sent, 7u);
  EXPECT_EQ(read->accuracy_max, std::nullopt);
  EXPECT_EQ(*read->spread, 0.02);
  EXPECT_EQ(read->curve[1].low.accuracy, std::nullopt);
}

TEST(FleetFiguresText, ALossThatIsNoNumberStaysNone) {
  FleetFigures run = Fleet(std::numeric_limits<double>::quiet_NaN(), 0.1);
  const Result<FleetFigures> read = FiguresFromJson(ToJsonText(run));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::isnan(read->best.loss));
}

TEST(FleetFiguresText, OtherTextsAreRefused) {
  const std::string good = ToJsonText(Fleet(0.3, 0.8));
  const std::vector<std::string> others = {"",
                                           "7",
                                           "{}",
                                           "[1]",
                                           good.substr(0, good.size() - 1),
                                           "{\"best\":{},\"last\":{},\"curve\":[[1]],\"nodes\":1,"
                                           "\"samples\":1,\"traffic\":[0,0,0,0,0,0,0]}"};
  for (const std::string& text : others) {
    const Result<FleetFigures> read = FiguresFromJson(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kData);
  }
}

TEST(Averages, OfOneValueHaveNoDeviation) {
  EXPECT_EQ(Average({}).count, 0u);
  EXPECT_EQ(Average({3}).mean, 3);
  EXPECT_EQ(Average({3}).deviation, 0);
  EXPECT_NEAR(Average({1, 3}).deviation, std::sqrt(2.0), 1e-12);
}

}  // namespace
}  // namespace covey::harness
