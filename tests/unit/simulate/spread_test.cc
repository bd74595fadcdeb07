#include <gtest/gtest.h>

#include <vector>

#include "covey/simulate/fleet.h"

namespace covey::simulate {
namespace {

TEST(Spread, IsTheMeanDistanceFromTheMeanRelativeToItsNorm) {
  const std::vector<float> a = {1, 2};
  const std::vector<float> b = {3, 2};
  // mean (2, 2): distances 1 and 1, norm sqrt(8)
  EXPECT_DOUBLE_EQ(Spread({a, b}), 1 / std::sqrt(8.0));
  EXPECT_EQ(Spread({a, a}), 0);
  EXPECT_EQ(Spread({a}), 0);
  EXPECT_EQ(Spread({}), 0);
}

}  // namespace
}  // namespace covey::simulate
