// Dropout: the share it drops, the same mask on every level, layout and way.
#include "covey/tensor/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/levels.h"

namespace covey::tensor::dropout_test {
namespace {

using test::AtEveryLevel;

std::vector<float> Drop(float rate, std::size_t count, std::uint64_t seed = 1,
                        std::uint32_t layer = 0, std::uint64_t step = 0) {
  std::vector<float> values(count, 1.0f);
  ApplyDropout(MaskOf(rate, seed, layer, step), {.rows = 1, .columns = count}, values.data(),
               values.data());
  return values;
}

std::size_t Dropped(const std::vector<float>& values) {
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), 0.0f));
}

TEST(DropoutProperty, DropsItsShareAndScalesTheRest) {
  constexpr std::size_t kCount = 200000;
  for (const float rate : {0.0f, 0.1f, 0.5f, 0.9f}) {
    const std::vector<float> values = Drop(rate, kCount);
    for (const float value : values) ASSERT_TRUE(value == 0 || value == 1.0f / (1.0f - rate));
    const double p = static_cast<double>(rate);
    const double deviation = std::sqrt(p * (1 - p) * static_cast<double>(kCount));
    EXPECT_NEAR(static_cast<double>(Dropped(values)), p * static_cast<double>(kCount),
                4 * deviation);
  }
}

// Bits of neighbours, and of the same element in the next step, are independent.
TEST(DropoutProperty, NeighboursAgreeAsOftenAsChanceSays) {
  constexpr std::size_t kCount = 100000;
  const std::vector<float> now = Drop(0.5f, kCount);
  const std::vector<float> then = Drop(0.5f, kCount, 1, 0, 1);
  for (const std::size_t lag : {1u, 2u, 3u, 16u, 128u, 1152u}) {
    std::size_t agree = 0;
    for (std::size_t i = lag; i < kCount; ++i) agree += now[i] == now[i - lag] ? 1u : 0u;
    EXPECT_NEAR(static_cast<double>(agree), (kCount - static_cast<double>(lag)) / 2, 650) << lag;
  }
  std::size_t agree = 0;
  for (std::size_t i = 0; i < kCount; ++i) agree += now[i] == then[i] ? 1u : 0u;
  EXPECT_NEAR(static_cast<double>(agree), kCount / 2.0, 650);
}

TEST(DropoutProperty, SeedLayerAndStepChangeTheMask) {
  const std::vector<float> mask = Drop(0.5f, 256);
  EXPECT_EQ(mask, Drop(0.5f, 256));
  EXPECT_NE(mask, Drop(0.5f, 256, 2));
  EXPECT_NE(mask, Drop(0.5f, 256, 1, 1));
  for (std::uint64_t step = 1; step < 5; ++step) EXPECT_NE(mask, Drop(0.5f, 256, 1, 0, step));
  EXPECT_NE(Drop(0.5f, 256, 1, 0, 1), Drop(0.5f, 256, 1, 0, 2));
}

TEST(DropoutProperty, SameMaskAtEveryLevelAndForEachLayout) {
  constexpr std::size_t kSamples = 21;
  constexpr std::size_t kFeatures = 37;
  std::vector<float> first;
  AtEveryLevel([&] {
    const DropoutMask mask = MaskOf(0.3f, 5, 2, 9);
    std::vector<float> by_sample(kSamples * kFeatures, 1.0f);
    // In parts, as threads do it.
    for (std::size_t n = 0; n < kSamples; n += 8) {
      const std::size_t rows = std::min<std::size_t>(8, kSamples - n);
      float* part = by_sample.data() + n * kFeatures;
      ApplyDropout(mask,
                   {.rows = rows,
                    .columns = kFeatures,
                    .stride = kFeatures,
                    .first = static_cast<std::uint32_t>(n * kFeatures),
                    .row_step = kFeatures},
                   part, part);
    }
    if (first.empty()) first = by_sample;
    ASSERT_EQ(by_sample, first);
    std::vector<float> by_feature(kFeatures * 32, 1.0f);
    ApplyDropout(mask,
                 {.rows = kFeatures,
                  .columns = kSamples,
                  .stride = 32,
                  .row_step = 1,
                  .column_step = kFeatures},
                 by_feature.data(), by_feature.data());
    for (std::size_t n = 0; n < kSamples; ++n) {
      for (std::size_t k = 0; k < kFeatures; ++k) {
        ASSERT_EQ(by_feature[k * 32 + n], by_sample[n * kFeatures + k]) << n << " " << k;
      }
    }
    for (std::size_t k = 0; k < kFeatures; ++k) {  // nothing beyond the columns
      for (std::size_t n = kSamples; n < 32; ++n) ASSERT_EQ(by_feature[k * 32 + n], 1.0f);
    }
  });
}

}  // namespace
}  // namespace covey::tensor::dropout_test
