#include "covey/log/repeats.h"

#include <gtest/gtest.h>

namespace covey::log {
namespace {

using namespace std::chrono_literals;

TEST(Repeats, FirstPassesTheRestIsCounted) {
  Repeats repeats(60s);
  EXPECT_EQ(repeats.Admit(0s, "a"), "");
  EXPECT_EQ(repeats.Admit(1s, "a"), std::nullopt);
  EXPECT_EQ(repeats.Admit(59999ms, "a"), std::nullopt);
  EXPECT_EQ(repeats.Admit(60s, "a"), " (repeated 2x in 60s)");
  EXPECT_EQ(repeats.Admit(61s, "a"), std::nullopt);
}

TEST(Repeats, NothingLeftOutMeansNoSuffix) {
  Repeats repeats(60s);
  repeats.Admit(0s, "a");
  EXPECT_EQ(repeats.Admit(60s, "a"), "");
}

TEST(Repeats, LongSilenceIsToldInLargerUnits) {
  Repeats repeats(60s);
  repeats.Admit(0s, "a");
  repeats.Admit(1s, "a");
  EXPECT_EQ(repeats.Admit(10min, "a"), " (repeated 1x in 10min)");
  repeats.Admit(10min, "a");
  EXPECT_EQ(repeats.Admit(10min + 3h, "a"), " (repeated 1x in 3h)");
}

TEST(Repeats, KeysAreApart) {
  Repeats repeats(60s);
  EXPECT_EQ(repeats.Admit(0s, "a"), "");
  EXPECT_EQ(repeats.Admit(0s, "b"), "");
}

TEST(Repeats, OldestKeyIsForgottenAtTheLimit) {
  Repeats repeats(60s);
  for (std::size_t i = 0; i < Repeats::kMaxKeys; ++i) {
    repeats.Admit(std::chrono::milliseconds(i), std::to_string(i));
  }
  EXPECT_EQ(repeats.size(), Repeats::kMaxKeys);
  EXPECT_EQ(repeats.Admit(1s, "one more"), "");
  EXPECT_EQ(repeats.size(), Repeats::kMaxKeys);
  EXPECT_EQ(repeats.Admit(1s, "1"), std::nullopt);  // still known
  EXPECT_EQ(repeats.Admit(1s, "0"), "");            // forgotten: passes as a first one
}

}  // namespace
}  // namespace covey::log
