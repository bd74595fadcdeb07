#include "covey/config/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace covey::config {
namespace {

TEST(EditDistance, CountsTheFourSlips) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("batch", "batch"), 0u);
  EXPECT_EQ(EditDistance("batch", "bath"), 1u);
  EXPECT_EQ(EditDistance("bath", "batch"), 1u);
  EXPECT_EQ(EditDistance("batch", "botch"), 1u);
  EXPECT_EQ(EditDistance("batch", "bacth"), 1u);
  EXPECT_EQ(EditDistance("ca", "abc"), 3u);  // each place is touched once: 2 would need two
}

TEST(Nearest, TakesTheClosestOrNone) {
  const std::vector<std::string> keys{"batches", "batch", "beta1", "beta2"};
  EXPECT_EQ(Nearest("batchs", keys), "batches");
  EXPECT_EQ(Nearest("batsh", keys), "batch");
  EXPECT_EQ(Nearest("beta3", keys), "beta1");
  EXPECT_EQ(Nearest("gamma", keys), "");
  EXPECT_EQ(Nearest("rate", {"learning_rate"}), "learning_rate");
  EXPECT_EQ(Nearest("", keys), "");
}

TEST(UnknownKey, NameOfAPaperSaysWhichKeysItIsHere) {
  EXPECT_THAT(Errors(SmallNode("consensus: {mixing: quasi_global}\n")),
              testing::HasSubstr("'train.optimizer.kind' (e.g. quasi_global)"));
}

}  // namespace
}  // namespace covey::config
