#include "covey/simulate/paths.h"

#include <gtest/gtest.h>

namespace covey::simulate {
namespace {

using std::chrono::seconds;

config::FaultSettings Split(bool one_way, const std::string& groups = "0-1 | 2, 3") {
  config::FaultSettings faults;
  faults.partitions.push_back(
      {.at = seconds(10), .lasts = seconds(60), .groups = groups, .one_way = one_way});
  return faults;
}

TEST(Paths, APartitionHoldsFromItsBeginningToItsEnd) {
  Paths paths = Paths::Make(Split(false), 1, 5).value();
  EXPECT_EQ(paths.MoveTo({}), seconds(10));
  EXPECT_TRUE(paths.BothWays(0, 2));
  EXPECT_EQ(paths.MoveTo(seconds(10)), seconds(70));
  EXPECT_FALSE(paths.Open(0, 2));
  EXPECT_FALSE(paths.Open(2, 0));
  EXPECT_TRUE(paths.BothWays(0, 1));
  EXPECT_TRUE(paths.BothWays(2, 3));
  EXPECT_TRUE(paths.BothWays(4, 0) && paths.BothWays(4, 3)) << "who is not named reaches all";
  paths.MoveTo(seconds(70) - Duration(1));
  EXPECT_FALSE(paths.Open(0, 2));
  EXPECT_EQ(paths.MoveTo(seconds(70)), kNever);
  EXPECT_TRUE(paths.BothWays(0, 2));
}

TEST(Paths, OneWayStopsWhatTheFirstGroupSends) {
  Paths paths = Paths::Make(Split(true), 1, 5).value();
  paths.MoveTo(seconds(20));
  EXPECT_FALSE(paths.Open(0, 2));
  EXPECT_TRUE(paths.Open(2, 0));
  EXPECT_FALSE(paths.BothWays(0, 2)) << "no connection can be made";
}

TEST(Paths, GroupsThatAreNoneAreRefused) {
  for (const char* groups :
       {"0-1", "", "0 | 5", "0 | 0", "a | b", "3-1 | 2", "0 | ", "0-1 2", "0 ||", "1 |2,"}) {
    EXPECT_FALSE(Paths::Make(Split(false, groups), 1, 5)) << groups;
  }
  EXPECT_TRUE(Paths::Make(Split(false, "4|0-2,3"), 1, 5));
  EXPECT_TRUE(Paths::Make(Split(false, "halves"), 1, 5));
  EXPECT_FALSE(Paths::Make(Split(false, "halves"), 1, 1));
}

TEST(Paths, RangeLimitsWhoReachesWhomAndMovementChangesIt) {
  config::FaultSettings faults;
  faults.links.topology.kind = config::TopologySettings::Kind::kDistance;
  faults.links.topology.range = 30;
  faults.links.topology.area = 100;
  Paths still = Paths::Make(faults, 1, 20).value();
  EXPECT_EQ(still.MoveTo({}), kNever);
  const auto near = [](const Paths& paths) {
    std::vector<bool> in;
    for (std::uint32_t i = 0; i < 20; ++i) {
      for (std::uint32_t j = 0; j < i; ++j) {
        EXPECT_EQ(paths.Open(i, j), paths.Open(j, i));
        in.push_back(paths.Open(i, j));
      }
    }
    return in;
  };
  const auto first = near(still);
  const auto count = static_cast<double>(std::count(first.begin(), first.end(), true));
  EXPECT_NEAR(count / 190, 0.2, 0.12) << "about pi r^2 / a^2, less at the borders";

  faults.links.topology.velocity = 2;
  Paths moving = Paths::Make(faults, 1, 20).value();
  EXPECT_EQ(near(moving), first);
  Time next = moving.MoveTo({});
  EXPECT_LT(next, seconds(2));
  while (next < seconds(60)) next = moving.MoveTo(next);
  const auto later = near(moving);
  EXPECT_NE(later, first);
  Paths jump = Paths::Make(faults, 1, 20).value();
  jump.MoveTo(next);
  moving.MoveTo(next);
  EXPECT_EQ(near(jump), near(moving)) << "positions do not depend on how often one looks";
}

}  // namespace
}  // namespace covey::simulate
