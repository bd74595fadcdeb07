// N follows whether what sets peers apart is always the same.
#include "covey/consensus/pace.h"

#include <gtest/gtest.h>

#include <vector>

#include "covey/base/random.h"

namespace covey::consensus {
namespace {

constexpr std::size_t kSize = 5000;

// Models of peers that lie at `offset` plus or minus `noise` from x in every coordinate, of which a
// pull takes `share`.
void Pull(Pace& pace, float offset, float noise, std::uint32_t models, float share = 0.5f) {
  Stream stream(7, 0, Purpose::kTest);
  std::vector<float> x(kSize, 1.0f);
  for (std::uint32_t model = 0; model < models; ++model) {
    pace.BeginPull(x);
    for (float& value : x) {
      const float coin = stream.Below(2) == 0 ? -1.0f : 1.0f;
      value += share * (offset + noise * coin);
    }
    pace.EndPull(x, static_cast<double>(share));
  }
}

TEST(Pace, RoundsGrowWhereDifferencesAreNoise) {
  Pace pace(2, 12);
  Pull(pace, 0, 1, Pace::kWindow - 1);
  EXPECT_EQ(pace.batches(), 2u);
  Pull(pace, 0, 1, 1);
  EXPECT_EQ(pace.batches(), 4u);
  Pull(pace, 0, 1, 5 * Pace::kWindow);
  EXPECT_EQ(pace.batches(), 12u) << "the most";
}

TEST(Pace, RoundsShrinkWhereTheyAreAlwaysTheSame) {
  Pace pace(3, 64);
  Pull(pace, 0, 1, 4 * Pace::kWindow);
  ASSERT_EQ(pace.batches(), 48u);
  Pull(pace, 1, 1, Pace::kWindow);  // p = 1/2
  EXPECT_EQ(pace.batches(), 24u);
  Pull(pace, 0.5f, 1, 3 * Pace::kWindow);  // p = 1/5: between the bounds
  EXPECT_EQ(pace.batches(), 24u);
  Pull(pace, 1, 1, 8 * Pace::kWindow);
  EXPECT_EQ(pace.batches(), 3u) << "the least";
}

TEST(Pace, CountsWhatAPullLeavesOut) {
  // The same models, of which a smaller share is taken: only u counts.
  Pace pace(1, 64);
  for (const float share : {0.5f, 0.01f}) Pull(pace, 1, 1, Pace::kWindow / 2, share);
  EXPECT_EQ(pace.batches(), 1u);
  for (const float share : {0.5f, 0.01f}) Pull(pace, 0, 1, Pace::kWindow / 2, share);
  EXPECT_EQ(pace.batches(), 2u);
}

TEST(Pace, IsFixedWithoutAMost) {
  for (const std::uint32_t most : {0u, 3u}) {
    Pace pace(3, most);
    Pull(pace, 0, 1, 4 * Pace::kWindow);
    EXPECT_EQ(pace.batches(), 3u);
  }
}

TEST(Pace, EqualModelsAreAlike) {
  Pace pace(1, 4);
  Pull(pace, 0, 0, Pace::kWindow);
  EXPECT_EQ(pace.batches(), 2u);
}

}  // namespace
}  // namespace covey::consensus
