#include "harness/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace covey::harness::svg {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Ticks, AreRoundAndCoverTheRange) {
  const Ticks ticks = NiceTicks(0.713, 0.884, 5, true);
  EXPECT_LE(ticks.low, 0.713);
  EXPECT_GE(ticks.high, 0.884);
  EXPECT_EQ(ticks.digits, 2);
  ASSERT_GE(ticks.at.size(), 4u);
  EXPECT_NEAR(ticks.at[1] - ticks.at[0], 0.05, 1e-12);
}

TEST(Ticks, WithoutExtendStayInside) {
  const Ticks ticks = NiceTicks(0, 37.5, 10, false);
  EXPECT_EQ(ticks.low, 0);
  EXPECT_EQ(ticks.high, 37.5);
  EXPECT_THAT(ticks.at, ElementsAre(0, 5, 10, 15, 20, 25, 30, 35));
}

TEST(Ticks, DegenerateRangesAreWidened) {
  for (const auto& [low, high] :
       {std::pair{0.5, 0.5}, std::pair{2.0, 1.0}, std::pair{static_cast<double>(NAN), 1.0},
        std::pair{0.0, static_cast<double>(INFINITY)}, std::pair{1e9, 1e9}}) {
    const Ticks ticks = NiceTicks(low, high, 6, true);
    EXPECT_GT(ticks.high, ticks.low);
    EXPECT_GE(ticks.at.size(), 2u);
    EXPECT_LE(ticks.at.size(), 20u);
  }
}

TEST(Scale, IsLinearAndClampedFarOutside) {
  const Scale scale({0, 10}, {100, 0});
  EXPECT_DOUBLE_EQ(scale(0), 100);
  EXPECT_DOUBLE_EQ(scale(5), 50);
  EXPECT_DOUBLE_EQ(scale(10), 0);
  EXPECT_DOUBLE_EQ(scale(1e300), -400);
  EXPECT_DOUBLE_EQ(scale(-1e300), 500);
}

TEST(MoveApart, KeepsOrderGapAndFrame) {
  EXPECT_THAT(MoveApart({50, 52, 51}, 10, 0, 200), ElementsAre(50, 70, 60));
  EXPECT_THAT(MoveApart({98, 99}, 10, 0, 100),
              ElementsAre(DoubleNear(90, 1e-9), DoubleNear(100, 1e-9)));
  EXPECT_THAT(MoveApart({-5, 30}, 10, 0, 100), ElementsAre(0, 30));
  EXPECT_TRUE(MoveApart({}, 10, 0, 100).empty());
}

TEST(Draw, NothingFromNothing) {
  EXPECT_EQ(Draw({}), "");
  Chart chart;
  chart.lines.push_back({.label = "a", .style = "a", .points = {}});
  EXPECT_EQ(Draw(chart), "");
  EXPECT_EQ(DrawStrips("t", {{.label = "a", .style = "a", .values = {}}}), "");
}

TEST(Draw, NamesItsPartsAndEscapesThem) {
  Chart chart{.id = "acc",
              .title = "A <title>",
              .x_label = "epochs",
              .percent = true,
              .areas = {},
              .lines = {},
              .dots = {}};
  chart.lines.push_back({.label = "a & b", .style = "s", .points = {{0, 0.5}, {1, 0.8}, {2, 0.9}}});
  const std::string text = Draw(chart);
  EXPECT_THAT(text, HasSubstr("A &lt;title&gt;"));
  EXPECT_THAT(text, HasSubstr("a &amp; b"));
  EXPECT_THAT(text, HasSubstr("90%"));
  EXPECT_THAT(text, testing::EndsWith("</svg>\n"));
}

TEST(Draw, SurvivesValuesThatAreNotFinite) {
  Chart chart;
  chart.lines.push_back(
      {.label = "a", .style = "s", .points = {{0, NAN}, {1, 1}, {2, INFINITY}, {3, 2}}});
  const std::string text = Draw(chart);
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace covey::harness::svg
