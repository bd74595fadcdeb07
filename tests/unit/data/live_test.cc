#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "covey/data/live.h"
#include "covey/data/live_rows.h"

namespace covey::data::live_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LiveForm FormOf(double share = 0) {
  LiveForm form;
  form.like = Dataset::FromMemory({.shape = {2},
                                   .rows = std::vector<std::uint8_t>(8, 0),
                                   .labels = {2},
                                   .classes = 3,
                                   .normalize = Normalize::kNone,
                                   .element = tensor::Element::kFloat32,
                                   .label_names = {"a", "b", "c"}});
  form.classes = 3;
  form.share = share;
  form.csv.label = "label";
  return form;
}

void AddMany(LiveShard& shard, int count, int from = 0) {
  for (int i = from; i < from + count; ++i) {
    const float values[2] = {static_cast<float>(i), 1};
    shard.Add({.values = values, .label = static_cast<std::uint32_t>(i % 3)});
  }
}

std::vector<float> Firsts(const LiveShard::Snapshot& snapshot, const Indices& rows) {
  std::vector<float> firsts;
  for (const std::uint32_t row : rows) {
    float value = 0;
    std::memcpy(&value, snapshot.set.row(row), sizeof value);
    firsts.push_back(value);
  }
  return firsts;
}

TEST(LiveShard, StartsWithWhatIsThere) {
  LiveShard shard(FormOf(), {}, {0}, {});
  EXPECT_EQ(shard.to_train(), 1u);
  AddMany(shard, 2);
  const LiveShard::Snapshot all = shard.Take();
  EXPECT_THAT(Firsts(all, all.shard), ElementsAre(0, 0, 1));
  EXPECT_EQ(all.set.label(0), 2u);
  EXPECT_EQ(all.set.label_names(), (LabelNames{"a", "b", "c"}));
  EXPECT_THAT(shard.histogram(), ElementsAre(1, 1, 1));
}

// Labels are kept in a byte, however many units the model has.
TEST(LiveShard, ClassesBeyondWhatIsKeptAreRefused) {
  LiveForm form = FormOf();
  form.classes = 300;
  LiveShard shard(form, {}, {}, {});
  const float values[2] = {1, 2};
  EXPECT_TRUE(shard.Check({.values = values, .label = 255}));
  const Status status = shard.Check({.values = values, .label = 256});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().Format(), HasSubstr("class 256 is beyond the 256"));
}

TEST(LiveShard, NewestKeepsTheLast) {
  LiveShard shard(FormOf(), {.max_samples = 3, .keep = LiveSettings::Keep::kNewest}, {}, {});
  AddMany(shard, 3);
  EXPECT_EQ(shard.to_train(), 3u);
  AddMany(shard, 8, 3);
  EXPECT_EQ(shard.to_train(), 3u);
  std::vector<float> order;
  shard.ForEach([&](const LiveSample& sample) { order.push_back(sample.values[0]); });
  EXPECT_THAT(order, ElementsAre(8, 9, 10)) << "oldest first";
  EXPECT_THAT(shard.histogram(), ElementsAre(1, 1, 1));
  EXPECT_EQ(shard.seen().train, 11u);
}

TEST(LiveShard, AReservoirTreatsAllAlike) {
  std::vector<int> kept(40);
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    LiveForm form = FormOf();
    form.seed = seed;
    LiveShard shard(form, {.max_samples = 10}, {}, {});
    AddMany(shard, 40);
    const LiveShard::Snapshot all = shard.Take();
    EXPECT_EQ(all.shard.size(), 10u);
    for (const float value : Firsts(all, all.shard)) ++kept[static_cast<std::size_t>(value)];
  }
  // 100 expected, deviation 8.7.
  for (const int times : kept) {
    EXPECT_GT(times, 60);
    EXPECT_LT(times, 140);
  }
}

TEST(LiveShard, AReservoirGoesOnWhereItWas) {
  LiveShard shard(FormOf(), {.max_samples = 5}, {}, {});
  AddMany(shard, 5);
  shard.SetSeen({.train = 1'000'000, .aside = 0});
  AddMany(shard, 20, 100);
  const LiveShard::Snapshot all = shard.Take();
  EXPECT_THAT(Firsts(all, all.shard), ElementsAre(0, 1, 2, 3, 4)) << "20 of a million are nothing";
  shard.SetSeen({.train = 0, .aside = 0});
  EXPECT_EQ(shard.seen().train, 5u) << "never fewer than are there";
}

TEST(LiveShard, WhatIsSetAsideIsNeverTrainedOn) {
  LiveShard shard(FormOf(0.3), {.max_samples = 1000}, {}, {});
  for (int times = 0; times < 3; ++times) AddMany(shard, 200);
  const LiveShard::Snapshot all = shard.Take();
  const std::vector<float> train = Firsts(all, all.shard);
  const std::vector<float> aside = Firsts(all, all.validation);
  EXPECT_EQ(train.size() + aside.size(), 600u);
  EXPECT_GT(aside.size(), 90u);
  EXPECT_LT(aside.size(), 270u);
  const std::set<float> learned(train.begin(), train.end());
  for (const float value : aside) EXPECT_EQ(learned.count(value), 0u);
}

TEST(LiveShard, WhatIsSetAsideIsBoundedToo) {
  LiveShard shard(FormOf(0.5), {.max_samples = 10}, {}, {});
  AddMany(shard, 500);
  EXPECT_EQ(shard.to_train(), 10u);
  EXPECT_EQ(shard.set_aside(), 5u);
}

TEST(LiveShard, ChecksEverySample) {
  LiveForm form = FormOf();
  form.symbols = 4;
  const LiveShard shard(form, {}, {}, {});
  const auto refusal = [&shard](std::vector<float> values, std::uint32_t label) {
    const Status good = shard.Check({.values = values, .label = label});
    return good ? std::string("good") : good.error().Format();
  };
  EXPECT_EQ(refusal({0, 3}, 2), "good");
  EXPECT_THAT(refusal({0, 4}, 2), HasSubstr("no symbol"));
  EXPECT_THAT(refusal({0, 0.5f}, 2), HasSubstr("no symbol"));
  EXPECT_THAT(refusal({0, NAN}, 2), HasSubstr("not finite"));
  EXPECT_THAT(refusal({0, 1}, 3), HasSubstr("class 3 is new: the model has 3"));
  EXPECT_THAT(refusal({0}, 0), HasSubstr("1 values, wanted 2"));
}

class LiveRowsTest : public ::testing::Test {
 protected:
  std::string Begin(const std::string& first) {
    auto rows = LiveRows::Start(first, form_);
    if (!rows) return rows.error().Format();
    rows_.emplace(std::move(*rows));
    return "";
  }
  std::string Row(const std::string& line) {
    const auto sample = rows_->Parse(line);
    if (!sample) return sample.error().Format();
    std::string text;
    for (const float value : sample->values) text += std::to_string(static_cast<int>(value)) + ' ';
    for (const float value : sample->targets) text += '>' + std::to_string(static_cast<int>(value));
    return text + (sample->targets.empty() ? std::to_string(sample->label) : "");
  }

  LiveForm form_ = FormOf();
  std::optional<LiveRows> rows_;
};

TEST_F(LiveRowsTest, ReadsRowsUnderAHeader) {
  ASSERT_EQ(Begin("\xEF\xBB\xBFx; label ;\"y;y\"\r"), "");
  EXPECT_TRUE(rows_->header());
  EXPECT_EQ(Row("1;b;2"), "1 2 1");
  EXPECT_EQ(Row(" 3 ;\"c\"; 4\r"), "3 4 2");
  EXPECT_EQ(Row("1;2;3"), "1 3 2") << "a class by its number";
  EXPECT_THAT(Row("1;d;3"), HasSubstr("class 'd' is new"));
  EXPECT_THAT(Row("1;3;3"), HasSubstr("class '3' is new"));
  EXPECT_THAT(Row("1;;3"), HasSubstr("no value"));
  EXPECT_THAT(Row("x;a;3"), HasSubstr("'x' is no number"));
  EXPECT_THAT(Row("1e39;a;3"), HasSubstr("is no number"));
  EXPECT_THAT(Row("1;a"), HasSubstr("2 cells, wanted 3"));
  EXPECT_THAT(Row("1;\"a;3"), HasSubstr("quote"));
  EXPECT_THAT(Row(std::string("1;a;\0", 5)), testing::Not(HasSubstr("1 3")));
}

TEST_F(LiveRowsTest, ColumnsAreTheNodesOwn) {
  EXPECT_THAT(Begin("x,label"), HasSubstr("1 features, wanted 2"));
  EXPECT_THAT(Begin("x,y,z"), HasSubstr("there is no column 'label'"));
  form_.csv.ignore = {"t"};
  EXPECT_EQ(Begin("t,x,label,y"), "");
  EXPECT_EQ(Row("09:30,1,a,2"), "1 2 0");
  form_.csv.ignore.clear();
  form_.csv.categories = {"x=red|green"};
  EXPECT_EQ(Begin("x,label"), "");
  EXPECT_EQ(Row("green,c"), "0 1 2");
  EXPECT_THAT(Row("blue,c"), HasSubstr("'blue' is not among its values"));
  form_.csv.label = "3";
  form_.csv.categories.clear();
  EXPECT_EQ(Begin("1,2,a"), "");
  EXPECT_FALSE(rows_->header());
  EXPECT_EQ(Row("1,2,a"), "1 2 0");
}

TEST_F(LiveRowsTest, AFirstLineOfQuotesAloneIsAColumnWithoutAName) {
  form_.csv.categories = {"x=red|green"};
  for (const char* line : {"\"\"", "", "\"\"\r"}) {
    EXPECT_THAT(Begin(line), HasSubstr("there is no column 'x'; columns are 1")) << line;
  }
}

TEST_F(LiveRowsTest, NumbersCanBePredicted) {
  Dataset::Memory memory{.shape = {1},
                         .rows = std::vector<std::uint8_t>(4, 0),
                         .labels = {},
                         .element = tensor::Element::kFloat32,
                         .targets = {1, 2},
                         .outputs = 2};
  form_ = {};
  form_.like = Dataset::FromMemory(std::move(memory));
  form_.csv.targets = {"u", "v"};
  EXPECT_EQ(Begin("u,x,v"), "");
  EXPECT_EQ(Row("1,2,3"), "2 >1>3");
  EXPECT_THAT(Row("1,2,nan"), HasSubstr("no value"));
  form_.csv.targets = {"u"};
  EXPECT_THAT(Begin("u,x"), HasSubstr("1 columns to predict, wanted 2"));
}

}  // namespace
}  // namespace covey::data::live_test
