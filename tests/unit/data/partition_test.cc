// Partitions: edges and settings. Disjointness, completeness and shares over many cases are
// property tests.
#include "covey/data/partition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace covey::data {
namespace {

std::vector<std::uint8_t> CyclicLabels(std::size_t n, std::uint32_t classes) {
  std::vector<std::uint8_t> labels(n);
  for (std::size_t i = 0; i < n; ++i) labels[i] = static_cast<std::uint8_t>(i % classes);
  return labels;
}

std::vector<std::size_t> Histogram(const Indices& mine, Labels labels, std::uint32_t classes) {
  std::vector<std::size_t> count(classes);
  for (const std::uint32_t i : mine) ++count[labels[i]];
  return count;
}

TEST(Range, IsHalfOpen) {
  EXPECT_EQ(Range(2, 5), (Indices{2, 3, 4}));
  EXPECT_TRUE(Range(3, 3).empty());
}

TEST(PartitionIid, OnePartIsEverything) {
  EXPECT_EQ(PartitionIid(5, Part{0, 1}, 7), Range(0, 5));
  EXPECT_TRUE(PartitionIid(0, Part{0, 3}, 7).empty());
}

TEST(PartitionIid, IsFixedBySeed) {
  const Indices once = PartitionIid(1000, Part{1, 8}, 7);
  EXPECT_EQ(once, PartitionIid(1000, Part{1, 8}, 7));
  EXPECT_NE(once, PartitionIid(1000, Part{1, 8}, 8));
  EXPECT_NE(once, Range(125, 250)) << "not shuffled";
}

// Paper, experiment 2: set i keeps (100 - r) % of class i and gets an equal part of each other
// class.
TEST(PartitionMixRate, PaperExperiment2SharesOfEachClass) {
  const auto labels = CyclicLabels(10 * 900, 10);
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Indices mine = PartitionMixRate(labels, 10, Part{i, 10}, 0.1, 3);
    std::vector<std::size_t> wanted(10, 10);  // 90 given away over 9 others
    wanted[i] = 810;
    EXPECT_EQ(Histogram(mine, labels, 10), wanted) << i;
  }
}

TEST(PartitionMixRate, RateZeroGivesOnlyTheOwnClass) {
  const auto labels = CyclicLabels(100, 10);
  for (std::uint32_t i = 0; i < 10; ++i) {
    const auto count = Histogram(PartitionMixRate(labels, 10, Part{i, 10}, 0, 3), labels, 10);
    EXPECT_EQ(count[i], 10u);
    EXPECT_EQ(std::accumulate(count.begin(), count.end(), std::size_t{0}), 10u);
  }
}

TEST(PartitionMixRate, RateOneKeepsNothingOfTheOwnClass) {
  const auto labels = CyclicLabels(900, 10);
  const auto count = Histogram(PartitionMixRate(labels, 10, Part{4, 10}, 1, 3), labels, 10);
  EXPECT_EQ(count[4], 0u);
  EXPECT_EQ(count[5], 10u);
}

TEST(PartitionMixRate, OtherCountsCutTheSortedDataIntoRuns) {
  const auto labels = CyclicLabels(1000, 10);
  // Five runs of two classes each.
  const auto count = Histogram(PartitionMixRate(labels, 10, Part{1, 5}, 0, 3), labels, 10);
  EXPECT_EQ(count, (std::vector<std::size_t>{0, 0, 100, 100, 0, 0, 0, 0, 0, 0}));
  // Eight runs of 125: one class and a quarter.
  const auto eighth = Histogram(PartitionMixRate(labels, 10, Part{0, 8}, 0, 3), labels, 10);
  EXPECT_EQ(eighth, (std::vector<std::size_t>{100, 25, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(PartitionMixRate, OnePartKeepsAllAtAnyRate) {
  const auto labels = CyclicLabels(50, 10);
  EXPECT_EQ(PartitionMixRate(labels, 10, Part{0, 1}, 1, 3), Range(0, 50));
  EXPECT_EQ(PartitionMixRate(std::vector<std::uint8_t>(50, 0), 1, Part{0, 1}, 0.5, 3),
            Range(0, 50));
}

TEST(PartitionDirichlet, LargeAlphaIsNearlyEven) {
  const auto labels = CyclicLabels(10000, 10);
  const auto count = Histogram(PartitionDirichlet(labels, 10, Part{2, 4}, 1e6, 3), labels, 10);
  for (const std::size_t c : count) EXPECT_NEAR(static_cast<double>(c), 250, 3);
}

TEST(PartitionDirichlet, SmallAlphaGivesEachClassToOnePart) {
  const auto labels = CyclicLabels(1000, 10);
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (const std::size_t c :
         Histogram(PartitionDirichlet(labels, 10, Part{i, 4}, 1e-4, 3), labels, 10)) {
      EXPECT_TRUE(c == 0 || c == 100) << c;
    }
  }
}

TEST(PartitionByKey, TakesTheSamplesOfOneKey) {
  const std::vector<std::uint32_t> keys = {4, 1, 4, 4, 2};
  EXPECT_EQ(PartitionByKey(keys, 4), (Indices{0, 2, 3}));
  EXPECT_TRUE(PartitionByKey(keys, 3).empty());
}

TEST(SplitLast, TakesTheTail) {
  const auto split = SplitLast(60000, 5000);
  ASSERT_TRUE(split);
  EXPECT_EQ(split->train.size(), 55000u);
  EXPECT_EQ(split->validation.front(), 55000u);
  EXPECT_EQ(split->validation.back(), 59999u);
  EXPECT_TRUE(SplitLast(10, 0)->validation.empty());
  EXPECT_TRUE(SplitLast(10, 9));
  EXPECT_EQ(SplitLast(10, 10).error().code, ErrorCode::kConfig);
  EXPECT_FALSE(SplitLast(0, 0));
}

PartitionSettings Settings(PartitionSettings::Kind kind) {
  PartitionSettings settings;
  settings.kind = kind;
  settings.part = Part{0, 4};
  settings.key_file = "keys";
  return settings;
}

TEST(PartitionSettings, WordsAndNamesAgree) {
  using Kind = PartitionSettings::Kind;
  for (const Kind kind : {Kind::kAll, Kind::kIid, Kind::kMixRate, Kind::kDirichlet, Kind::kKey}) {
    EXPECT_EQ(ParsePartitionKind(Name(kind)).value(), kind);
  }
  EXPECT_EQ(ParsePartitionKind("random").error().code, ErrorCode::kConfig);
}

TEST(PartitionSettings, LimitsAreInclusive) {
  using Kind = PartitionSettings::Kind;
  PartitionSettings mix = Settings(Kind::kMixRate);
  for (const double rate : {0.0, 1.0}) {
    mix.rate = rate;
    EXPECT_TRUE(Validate(mix)) << rate;
  }
  for (const double rate : {-1e-9, 1.0000001, std::nan("")}) {
    mix.rate = rate;
    EXPECT_FALSE(Validate(mix)) << rate;
  }
  PartitionSettings dirichlet = Settings(Kind::kDirichlet);
  for (const double alpha : {1e-4, 1e6}) {
    dirichlet.alpha = alpha;
    EXPECT_TRUE(Validate(dirichlet)) << alpha;
  }
  for (const double alpha : {0.0, 0.99e-4, 1.01e6, std::numeric_limits<double>::infinity()}) {
    dirichlet.alpha = alpha;
    EXPECT_FALSE(Validate(dirichlet)) << alpha;
  }
  PartitionSettings iid = Settings(Kind::kIid);
  iid.part = Part{3, 4};
  EXPECT_TRUE(Validate(iid));
  iid.part = Part{4, 4};
  EXPECT_FALSE(Validate(iid));
  iid.part = Part{0, 0};
  EXPECT_FALSE(Validate(iid));
  PartitionSettings key = Settings(Kind::kKey);
  key.key_file.clear();  // the keys of the data set
  EXPECT_TRUE(Validate(key));
}

TEST(Partition, FollowsTheSettings) {
  using Kind = PartitionSettings::Kind;
  const auto labels = CyclicLabels(40, 4);
  const std::vector<std::uint32_t> keys(50, 0);  // as long as the data set with its validation tail
  EXPECT_EQ(Partition(labels, 4, Settings(Kind::kAll)).value(), Range(0, 40));
  EXPECT_EQ(Partition(labels, 4, Settings(Kind::kIid)).value(), PartitionIid(40, Part{0, 4}, 0));
  EXPECT_EQ(Partition(labels, 4, Settings(Kind::kMixRate)).value(),
            PartitionMixRate(labels, 4, Part{0, 4}, 0.1, 0));
  EXPECT_EQ(Partition(labels, 4, Settings(Kind::kKey), keys).value(), Range(0, 40));
}

TEST(Partition, RefusesAnEmptyShardAndTooFewKeys) {
  using Kind = PartitionSettings::Kind;
  const auto labels = CyclicLabels(3, 3);
  PartitionSettings iid = Settings(Kind::kIid);
  iid.part = Part{3, 4};
  const auto empty = Partition(labels, 3, iid);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kData);
  EXPECT_NE(empty.error().what.find("part 3 of 4"), std::string::npos);
  const std::vector<std::uint32_t> keys(2);
  EXPECT_EQ(Partition(labels, 3, Settings(Kind::kKey), keys).error().code, ErrorCode::kData);
}

}  // namespace
}  // namespace covey::data
