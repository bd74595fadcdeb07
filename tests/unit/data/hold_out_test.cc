#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "covey/data/dataset.h"
#include "covey/data/partition.h"

namespace covey::data::hold_out_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ParseKeys, ReadsNumbersAndRanges) {
  EXPECT_THAT(*ParseKeys(""), IsEmpty());
  EXPECT_THAT(*ParseKeys(" 7 , 0 - 2,1"), ElementsAre(0, 1, 2, 7));
  EXPECT_EQ(ParseKeys("0-65535")->size(), kMaxKeys);
  for (const char* const text :
       {"-1", "1-", "3-1", "1,", ",1", "a", "1 2", "65536", "0-65536", "99999999999", "1.5"}) {
    EXPECT_FALSE(ParseKeys(text).has_value()) << text;
  }
}

TEST(KeyBeside, SkipsWhatIsHeldOut) {
  EXPECT_EQ(KeyBeside({}, 3), 3u);
  EXPECT_EQ(KeyBeside({0, 1, 2}, 0), 3u);
  EXPECT_EQ(KeyBeside({1, 3}, 0), 0u);
  EXPECT_EQ(KeyBeside({1, 3}, 1), 2u);
  EXPECT_EQ(KeyBeside({1, 3}, 2), 4u);
}

TEST(Hold, TakesKeysAndThenTheLast) {
  const std::vector<std::uint32_t> keys = {0, 1, 0, 2, 2, 0};
  const Result<Held> both = Hold(6, {.keys = "2", .last = 1}, keys);
  ASSERT_TRUE(both.has_value());
  EXPECT_THAT(both->rest, ElementsAre(0, 1, 2));
  EXPECT_THAT(both->test, ElementsAre(3, 4, 5));
  const Result<Held> none = Hold(3, {}, {});
  EXPECT_THAT(none->rest, ElementsAre(0, 1, 2));
  EXPECT_THAT(none->test, IsEmpty());
}

TEST(Hold, RefusesAnEmptySide) {
  const std::vector<std::uint32_t> keys = {0, 0, 0};
  EXPECT_EQ(Hold(3, {.keys = "0"}, keys).error().code, ErrorCode::kData);
  EXPECT_EQ(Hold(3, {.keys = "1"}, keys).error().code, ErrorCode::kData);
  EXPECT_EQ(Hold(3, {.last = 3}, {}).error().code, ErrorCode::kData);
  EXPECT_TRUE(Hold(3, {.last = 2}, {}).has_value());
  EXPECT_EQ(Hold(4, {.keys = "0"}, keys).error().what, "3 keys, wanted one for each of 4 samples");
}

TEST(IsSetAside, TakesAboutItsShareAndMoreOfALargerOne) {
  std::size_t tenth = 0;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::uint8_t sample[3] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8),
                                    9};
    const bool in_tenth = IsSetAside(sample, 0.1);
    tenth += in_tenth ? 1 : 0;
    EXPECT_FALSE(IsSetAside(sample, 0));
    EXPECT_TRUE(IsSetAside(sample, 1));
    EXPECT_TRUE(!in_tenth || IsSetAside(sample, 0.2));
  }
  EXPECT_GT(tenth, 150u);
  EXPECT_LT(tenth, 250u);
  EXPECT_TRUE(IsSetAside({}, 1)) << "a sample of no bytes has a hash too";
}

TEST(PartitionBlocks, AreRunsInOrder) {
  EXPECT_THAT(PartitionBlocks(7, {.index = 0, .count = 3}), ElementsAre(0, 1, 2));
  EXPECT_THAT(PartitionBlocks(7, {.index = 1, .count = 3}), ElementsAre(3, 4));
  EXPECT_THAT(PartitionBlocks(7, {.index = 2, .count = 3}), ElementsAre(5, 6));
}

TEST(Extract, CopiesSomeSamples) {
  const Dataset set = Dataset::FromMemory({.shape = {2},
                                           .rows = {1, 2, 3, 4, 5, 6},
                                           .labels = {0, 1, 2},
                                           .label_names = {"a", "b", "c"}});
  const std::vector<std::uint32_t> rows = {2, 0};
  const Dataset some = Extract(set, rows);
  EXPECT_EQ(some.size(), 2u);
  EXPECT_EQ(some.row(0)[1], 6);
  EXPECT_EQ(some.label(1), 0u);
  EXPECT_EQ(some.classes(), 3u);
  EXPECT_EQ(some.label_names(), set.label_names());
  EXPECT_EQ(some.normalization(), set.normalization());
}

}  // namespace
}  // namespace covey::data::hold_out_test
