// Data that don't fit the model or the settings: each refused with what was got and wanted.
#include "covey/setup/assemble.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/idx_files.h"

namespace covey::setup {
namespace {

using test::WriteIdx;

class AssembleTest : public ::testing::Test {
 protected:
  AssembleTest() {
    WriteIdx(folder_ / "images", {6, 4}, std::vector<std::uint8_t>(24, 3));
    WriteIdx(folder_ / "answers", {6}, {0, 1, 2, 0, 1, 2});
    config_.model.input = {4};
    config_.model.layers = {nn::Dense{.units = 3}};
    config_.data.train.images = folder_ / "images";
    config_.data.train.labels = folder_ / "answers";
    config_.data.cache = folder_ / "cache";
    config_.data.batch = 2;
  }
  Result<Assembly> Try() { return Assemble(config_, {}); }
  Error Refused() {
    const Result<Assembly> made = Try();
    EXPECT_FALSE(made.has_value());
    return made ? Error{} : made.error();
  }
  void ForRegression() {
    config_.model.loss = nn::Loss::kMeanSquaredError;
    config_.data.train.targets = config_.data.train.labels;
    config_.data.train.labels.clear();
  }

  test::TemporaryFolder folder_;
  config::NodeConfig config_;
};

TEST_F(AssembleTest, ABatchMayBeTheWholeShardButNotMore) {
  config_.data.batch = 6;
  ASSERT_TRUE(Try().has_value());
  config_.data.batch = 7;
  const Error error = Refused();
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.where, "data.batch");
  EXPECT_EQ(error.what, "got 7, wanted at most the 6 samples of this node's shard");
  config_.train.optimizer.kind = optim::Settings::Kind::kIrpropPlus;  // 7 is an error for all kinds
  EXPECT_EQ(Refused().where, "data.batch");
  config_.data.batch = 0;  // all
  const Result<Assembly> all = Try();
  ASSERT_TRUE(all.has_value()) << all.error().Format();
  EXPECT_EQ(all->learner.batch, 6u);
  EXPECT_EQ(all->batches_per_epoch, 1u);
  config_.train.optimizer.kind = optim::Settings::Kind::kAdam;
  config_.data.batch = 6;
  config_.data.validation_last = 1;
  EXPECT_EQ(Refused().what, "got 6, wanted at most the 5 samples of this node's shard");
}

TEST_F(AssembleTest, AnEmptyShardIsRefused) {
  config_.data.partition.kind = data::PartitionSettings::Kind::kIid;
  config_.data.partition.part = {.index = 7, .count = 8};
  const Error error = Refused();
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.where, "data.partition");
  EXPECT_EQ(error.what, "iid leaves no sample for part 7 of 8");
  config_.data.validation_last = 6;
  EXPECT_EQ(Refused().code, ErrorCode::kConfig);
}

TEST_F(AssembleTest, ALabelWithoutAUnitIsRefused) {
  config_.model.layers = {nn::Dense{.units = 2}};
  const Error error = Refused();
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.where, folder_ / "answers, byte 10");
  EXPECT_EQ(error.what, "label 2 of sample 2, wanted 0 to 1");
}

TEST_F(AssembleTest, SamplesHaveTheModelsShape) {
  config_.model.input = {2, 3};
  const Error error = Refused();
  EXPECT_EQ(error.where, folder_ / "images");
  EXPECT_EQ(error.what, "a sample is [4]: 4 values, wanted 6 for model.input [2, 3]");
}

TEST_F(AssembleTest, TargetsAreAsManyAsOutputs) {
  ForRegression();
  const Error error = Refused();
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.where, folder_ / "answers");
  EXPECT_EQ(error.what, "1 targets a sample, wanted 3: one for each output of the last layer");
  config_.model.layers = {nn::Dense{.units = 1}};
  const Result<Assembly> made = Try();
  ASSERT_TRUE(made.has_value()) << made.error().Format();
  EXPECT_EQ(made->data.train.outputs(), 1u);
  EXPECT_EQ(made->data.shard.size(), 6u);
}

TEST_F(AssembleTest, NumbersOfANormalizationFitTheSamples) {
  config_.data.train.normalize = data::Normalize::kGiven;
  config_.data.normalization = {.mean = {1, 2, 3}, .std = {1, 1, 1}};
  const Error error = Refused();
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.where, "data.normalization.mean");
  EXPECT_EQ(error.what,
            "3 numbers, wanted 1, 4 (one for each channel) or 4 (one for each feature) for samples "
            "of [4]");
  config_.data.normalization = {.mean = {1, 2, 3, 4}, .std = {1, 1, 1, 2}};
  config_.data.test = config_.data.train;
  const Result<Assembly> made = Try();
  ASSERT_TRUE(made.has_value()) << made.error().Format();
  EXPECT_EQ(made->data.train.normalization().scale, (std::vector<float>{1, 1, 1, 0.5f}));
  EXPECT_EQ(made->data.test->normalization(), made->data.train.normalization());
}

TEST_F(AssembleTest, AFitIsOfTheWholeTrainingFileSoThatPartsAgree) {
  std::vector<std::uint8_t> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  WriteIdx(folder_ / "images", {6, 4}, values);
  config_.data.train.normalize = data::Normalize::kStandard;
  config_.data.validation_last = 2;  // does not count
  config_.data.partition.kind = data::PartitionSettings::Kind::kIid;
  config_.data.partition.part = {.index = 0, .count = 2};
  OpenSets sets;
  const Result<Assembly> one = Assemble(config_, {}, &sets);
  config_.data.partition.part.index = 1;
  const Result<Assembly> two = Assemble(config_, {}, &sets);
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_EQ(one->data.train.normalization().mean, (std::vector<float>{6, 7, 8, 9}));
  EXPECT_EQ(one->links.session.normalization, two->links.session.normalization);
  config_.data.train.normalize = data::Normalize::kUnit;
  EXPECT_NE(Try()->links.session.normalization, one->links.session.normalization);
}

TEST_F(AssembleTest, TablesAreTrainedOnAndTestedAlike) {
  std::ofstream(folder_ / "train.csv") << "dev,a,colour,label\n"
                                          "1,0,red,yes\n2,4,green,no\n1,2,red,maybe\n";
  std::ofstream(folder_ / "test.csv") << "dev,a,colour,label\n1,4,green,no\n";
  config_.data.train = {};
  config_.data.train.csv = folder_ / "train.csv";
  config_.data.train.csv_settings.key = "dev";
  config_.data.train.normalize = data::Normalize::kMinMax;
  config_.data.test.emplace().csv = folder_ / "test.csv";
  config_.model.input = {3};
  config_.data.batch = 1;
  config_.data.partition.kind = data::PartitionSettings::Kind::kKey;
  config_.data.partition.key = 1;
  const Result<Assembly> made = Try();
  ASSERT_TRUE(made.has_value()) << made.error().Format();
  EXPECT_EQ(made->data.shard, (data::Indices{0, 2}));
  EXPECT_EQ(made->data.train.label_names(), (data::LabelNames{"maybe", "no", "yes"}));
  EXPECT_EQ(made->data.test->label(0), 1u) << "numbered as the training file's classes";
  EXPECT_EQ(made->data.test->normalization().scale[0], 0.25f);
  // A node whose table has another column must not exchange with this one.
  std::ofstream(folder_ / "other.csv") << "dev,b,colour,label\n"
                                          "1,0,red,yes\n2,4,green,no\n1,2,red,maybe\n";
  config_.data.train.csv = folder_ / "other.csv";
  config_.data.test.reset();
  const Result<Assembly> other = Try();
  ASSERT_TRUE(other.has_value()) << other.error().Format();
  EXPECT_NE(other->links.session.normalization, made->links.session.normalization);
  EXPECT_EQ(other->links.session.labels, made->links.session.labels);
}

TEST_F(AssembleTest, ANodeWithLiveDataOnlyMayHaveTheNamesOfItsPeers) {
  std::ofstream(folder_ / "train.csv") << "a,colour,label\n0,red,yes\n4,green,no\n";
  config_.data.train = {};
  config_.data.train.csv = folder_ / "train.csv";
  config_.data.train.normalize = data::Normalize::kNone;
  config_.data.labels = {"yes", "no", "maybe"};
  config_.model.input = {3};
  const Result<Assembly> table = Try();
  ASSERT_TRUE(table.has_value()) << table.error().Format();
  config_.data.train.csv.clear();
  config_.data.live.emplace();
  EXPECT_NE(Try()->links.session.normalization, table->links.session.normalization);
  config_.data.train.csv_settings.features = {"a", "colour"};
  config_.data.train.csv_settings.categories = {"colour=green|red"};
  const Result<Assembly> live = Try();
  ASSERT_TRUE(live.has_value()) << live.error().Format();
  EXPECT_EQ(live->links.session.normalization, table->links.session.normalization);
  EXPECT_EQ(live->links.session.labels, table->links.session.labels);
}

TEST_F(AssembleTest, WhatIsHeldOutIsTestedOnAndNothingElse) {
  std::ofstream(folder_ / "train.csv") << "dev,a,label\n1,0,0\n0,4,1\n1,2,2\n2,8,0\n2,6,1\n";
  config_.data.train = {};
  config_.data.train.csv = folder_ / "train.csv";
  config_.data.train.csv_settings.key = "dev";
  config_.data.train.normalize = data::Normalize::kMinMax;
  config_.data.hold_out.keys = "2";
  config_.data.validation_last = 1;
  config_.model.input = {1};
  config_.data.batch = 1;
  OpenSets sets;
  const Result<Assembly> made = Assemble(config_, {}, &sets);
  ASSERT_TRUE(made.has_value()) << made.error().Format();
  EXPECT_EQ(made->data.shard, (data::Indices{0, 1}));
  EXPECT_EQ(made->data.validation, (data::Indices{2}));
  ASSERT_TRUE(made->data.test.has_value());
  EXPECT_EQ(made->data.test->size(), 2u);
  EXPECT_EQ(made->data.train.normalization().scale[0], 0.25f) << "0 to 4: trained rows alone";
  EXPECT_EQ(made->data.test->normalization(), made->data.train.normalization());
  config_.data.partition.kind = data::PartitionSettings::Kind::kKey;
  config_.data.partition.key = 0;
  const Result<Assembly> other = Assemble(config_, {}, &sets);
  ASSERT_TRUE(other.has_value()) << other.error().Format();
  EXPECT_EQ(other->data.shard, (data::Indices{1}));
  EXPECT_EQ(other->data.test->row(0), made->data.test->row(0)) << "nodes of a machine share it";
}

TEST_F(AssembleTest, NodesOfAMachineThatReadAFileInDifferentWaysDoNotShareIt) {
  std::ofstream(folder_ / "train.csv") << "a,b,c,label\n1,0,7,0\n0,4,8,1\n1,2,9,2\n2,8,7,0\n";
  config_.data.train = {};
  config_.data.train.csv = folder_ / "train.csv";
  config_.data.train.csv_settings.ignore = {"c"};
  config_.data.train.normalize = data::Normalize::kStandard;
  config_.data.batch = 1;
  config_.model.input = {2};
  OpenSets sets;
  const Result<Assembly> one = Assemble(config_, {}, &sets);
  ASSERT_TRUE(one.has_value()) << one.error().Format();
  config_.data.train.csv_settings.ignore = {"b"};
  const Result<Assembly> two = Assemble(config_, {}, &sets);
  ASSERT_TRUE(two.has_value()) << two.error().Format();
  EXPECT_EQ(one->data.train.feature_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(two->data.train.feature_names(), (std::vector<std::string>{"a", "c"}));
  EXPECT_NE(one->data.train.normalization(), two->data.train.normalization());
}

TEST_F(AssembleTest, AShareIsSetAsideByContentWhereverASampleStands) {
  constexpr std::uint32_t kRows = 400;
  std::vector<std::uint8_t> rows, backwards, labels(kRows, 1);
  for (std::uint32_t i = 0; i < kRows; ++i) {
    const std::uint32_t value = i / 2;  // every sample twice
    const std::uint8_t row[4] = {static_cast<std::uint8_t>(value), 7,
                                 static_cast<std::uint8_t>(value >> 8), 1};
    rows.insert(rows.end(), row, row + 4);
    backwards.insert(backwards.begin(), row, row + 4);
  }
  WriteIdx(folder_ / "images", {kRows, 4}, rows);
  WriteIdx(folder_ / "answers", {kRows}, labels);
  config_.data.validation_share = 0.25;
  const Result<Assembly> made = Try();
  ASSERT_TRUE(made.has_value()) << made.error().Format();
  const data::Indices& aside = made->data.validation;
  EXPECT_GT(aside.size(), kRows / 8);
  EXPECT_LT(aside.size(), kRows / 2);
  EXPECT_EQ(aside.size() + made->data.shard.size(), kRows);
  for (std::size_t i = 0; i < aside.size(); i += 2) EXPECT_EQ(aside[i] + 1, aside[i + 1]);
  WriteIdx(folder_ / "turned", {kRows, 4}, backwards);
  config_.data.train.images = folder_ / "turned";
  const Result<Assembly> turned = Try();
  ASSERT_TRUE(turned.has_value());
  data::Indices same;
  for (const std::uint32_t row : turned->data.validation) same.insert(same.begin(), 399 - row);
  EXPECT_EQ(same, aside);
  config_.data.validation_share = 1;
  EXPECT_EQ(Refused().code, ErrorCode::kData) << "nothing is left to train on";
}

TEST_F(AssembleTest, NamesOfClassesArePartOfTheHello) {
  const Digest unnamed = Try()->links.session.labels;
  config_.data.labels = {"sit", "stand", "walk"};
  const Result<Assembly> named = Try();
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->data.train.label_names().size(), 3u);
  EXPECT_NE(named->links.session.labels, unnamed);
  EXPECT_EQ(named->links.session.labels_summary, "3 names: sit, stand, walk");
}

TEST_F(AssembleTest, SymbolsAreCheckedAndNeverScaled) {
  config_.model.layers = {nn::OneHot{.symbols = 3}, nn::Lstm{.units = 2}, nn::Dense{.units = 3}};
  const Error error = Refused();
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.where, folder_ / "images");
  EXPECT_EQ(error.what, "element 0 of sample 0 is 3, wanted a symbol: a whole number from 0 to 2");
  config_.model.layers[0] = nn::OneHot{.symbols = 4};
  const Result<Assembly> made = Try();
  ASSERT_TRUE(made.has_value()) << made.error().Format();
  EXPECT_EQ(made->data.train.scale(), 1.0f);
}

TEST_F(AssembleTest, TheTestSetIsCheckedToo) {
  config_.data.test.emplace();
  config_.data.test->images = folder_ / "images";
  config_.data.test->labels = folder_ / "test-labels";
  WriteIdx(folder_ / "test-labels", {6}, {0, 1, 2, 0, 1, 3});
  EXPECT_EQ(Refused().where, folder_ / "test-labels, byte 13");
}

}  // namespace
}  // namespace covey::setup
