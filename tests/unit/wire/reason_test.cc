#include "covey/wire/reason.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace covey::wire {
namespace {

TEST(Reason, EveryOneHasItsOwnName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kReasons; ++i) names.insert(Name(static_cast<Reason>(i)));
  EXPECT_EQ(names.size(), kReasons);
  EXPECT_FALSE(names.contains(""));
}

TEST(Reason, NamesStandBesideTheirValues) {
  EXPECT_EQ(Name(Reason::kBusy), "busy");
  EXPECT_EQ(Name(Reason::kModel), "model");
  EXPECT_EQ(Name(Reason::kUnsolicited), "unsolicited");
  EXPECT_EQ(Name(Reason::kNotFinite), "not_finite");
  EXPECT_EQ(Name(Reason::kLinkLost), "link_lost");
}

TEST(Reason, ValuesOfLaterVersionsAreUnknown) {
  EXPECT_EQ(Name(Reason::kCount), "unknown");
  EXPECT_EQ(Name(static_cast<Reason>(255)), "unknown");
}

}  // namespace
}  // namespace covey::wire
