// N follows whether what sets peers apart is always the same.
#include "covey/consensus/adaptive_round.h"

#include <gtest/gtest.h>

#include <vector>

#include "covey/base/random.h"

namespace covey::consensus {
namespace {

constexpr std::size_t kSize = 5000;

// Models of peers that lie at `offset` plus or minus `noise` from x in every coordinate, of which a
// pull takes `share`.
void Pull(AdaptiveRound& round, float offset, float noise, std::uint32_t models,
          float share = 0.5f) {
  Stream stream(7, 0, Purpose::kTest);
  std::vector<float> x(kSize, 1.0f);
  for (std::uint32_t model = 0; model < models; ++model) {
    round.BeginPull(x);
    for (float& value : x) {
      const float coin = stream.Below(2) == 0 ? -1.0f : 1.0f;
      value += share * (offset + noise * coin);
    }
    round.EndPull(x, static_cast<double>(share));
  }
}

TEST(AdaptiveRound, RoundsGrowWhereDifferencesAreNoise) {
  AdaptiveRound round(2, 12);
  Pull(round, 0, 1, AdaptiveRound::kWindow - 1);
  EXPECT_EQ(round.batches(), 2u);
  Pull(round, 0, 1, 1);
  EXPECT_EQ(round.batches(), 4u);
  Pull(round, 0, 1, 5 * AdaptiveRound::kWindow);
  EXPECT_EQ(round.batches(), 12u) << "the most";
}

TEST(AdaptiveRound, RoundsShrinkWhereTheyAreAlwaysTheSame) {
  AdaptiveRound round(3, 64);
  Pull(round, 0, 1, 4 * AdaptiveRound::kWindow);
  ASSERT_EQ(round.batches(), 48u);
  Pull(round, 1, 1, AdaptiveRound::kWindow);  // p = 1/2
  EXPECT_EQ(round.batches(), 24u);
  Pull(round, 0.5f, 1, 3 * AdaptiveRound::kWindow);  // p = 1/5: between the bounds
  EXPECT_EQ(round.batches(), 24u);
  Pull(round, 1, 1, 8 * AdaptiveRound::kWindow);
  EXPECT_EQ(round.batches(), 3u) << "the least";
}

TEST(AdaptiveRound, CountsWhatAPullLeavesOut) {
  // The same models, of which a smaller share is taken: only u counts.
  AdaptiveRound round(1, 64);
  for (const float share : {0.5f, 0.01f}) Pull(round, 1, 1, AdaptiveRound::kWindow / 2, share);
  EXPECT_EQ(round.batches(), 1u);
  for (const float share : {0.5f, 0.01f}) Pull(round, 0, 1, AdaptiveRound::kWindow / 2, share);
  EXPECT_EQ(round.batches(), 2u);
}

TEST(AdaptiveRound, IsFixedWithoutAMost) {
  for (const std::uint32_t most : {0u, 3u}) {
    AdaptiveRound round(3, most);
    Pull(round, 0, 1, 4 * AdaptiveRound::kWindow);
    EXPECT_EQ(round.batches(), 3u);
  }
}

TEST(AdaptiveRound, EqualModelsAreAlike) {
  AdaptiveRound round(1, 4);
  Pull(round, 0, 0, AdaptiveRound::kWindow);
  EXPECT_EQ(round.batches(), 2u);
}

}  // namespace
}  // namespace covey::consensus
