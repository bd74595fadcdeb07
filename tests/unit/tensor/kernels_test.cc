#include "covey/tensor/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "covey/base/random.h"
#include "support/levels.h"

namespace covey::tensor::kernels_test {
namespace {

using test::AtEveryLevel;

std::vector<float> Random(std::size_t n, std::uint64_t seed) {
  Stream stream(seed, 0, Purpose::kTest);
  std::vector<float> values(n);
  for (float& value : values) value = stream.Uniform(-2.0f, 2.0f);
  return values;
}

TEST(KernelLevel, EveryLevelCanBeForcedAndGivenBack) {
  const auto levels = KernelLevels();
  ASSERT_FALSE(levels.empty());
  for (const auto level : levels) {
    ASSERT_TRUE(SetKernelLevel(level));
    EXPECT_EQ(KernelLevel(), level);
  }
  EXPECT_FALSE(SetKernelLevel("v9"));
  EXPECT_EQ(KernelLevel(), levels.back()) << "a refused level changes nothing";
  ASSERT_TRUE(SetKernelLevel(""));
  EXPECT_EQ(KernelLevel(), levels.front());
  EXPECT_EQ(KernelLevels(), levels) << "forcing a level does not hide the others";
}

TEST(Axpy, EqualsScalarLoopAtEverySize) {
  AtEveryLevel([] {
    for (std::size_t n = 0; n < 70; ++n) {
      const auto x = Random(n, 1);
      auto y = Random(n, 2);
      auto expected = y;
      for (std::size_t i = 0; i < n; ++i) expected[i] += 0.75f * x[i];
      Axpy(0.75f, x, y);
      EXPECT_EQ(y, expected) << n;
    }
  });
}

TEST(Norms, SumInDouble) {
  AtEveryLevel([] {
    for (std::size_t n = 0; n < 70; ++n) {
      const auto a = Random(n, 3);
      const auto b = Random(n, 4);
      double norm = 0;
      double distance = 0;
      for (std::size_t i = 0; i < n; ++i) {
        norm += static_cast<double>(a[i]) * static_cast<double>(a[i]);
        const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        distance += d * d;
      }
      EXPECT_NEAR(SquaredNorm(a), norm, 1e-14 * (norm + 1)) << n;
      EXPECT_NEAR(SquaredDistance(a, b), distance, 1e-14 * (distance + 1)) << n;
    }
    // 1e30^2 overflows a float.
    EXPECT_NEAR(SquaredNorm(std::vector<float>(33, 1e30f)) / 33e60, 1.0, 1e-6);
  });
}

TEST(AllFinite, CatchesEveryBadValueInEveryPosition) {
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       -std::numeric_limits<float>::quiet_NaN(),
                       std::bit_cast<float>(0x7f800001u),  // signalling NaN, smallest payload
                       std::bit_cast<float>(0xffffffffu),
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(),
                       0x1p64f,
                       -0x1p64f,
                       std::numeric_limits<float>::max()};
  AtEveryLevel([&] {
    for (const std::size_t n : {1u, 2u, 7u, 15u, 16u, 17u, 33u, 64u, 67u}) {
      auto x = Random(n, 5);
      ASSERT_TRUE(AllFinite(x));
      for (std::size_t i = 0; i < n; ++i) {
        const float kept = x[i];
        for (const float value : bad) {
          x[i] = value;
          EXPECT_FALSE(AllFinite(x)) << n << " " << i << " " << value;
        }
        x[i] = kept;
      }
    }
  });
}

TEST(AllFinite, TakesEverythingBelowTheLimit) {
  AtEveryLevel([] {
    const float limit = std::nextafter(0x1p64f, 0.0f);
    EXPECT_TRUE(AllFinite(std::vector<float>{limit, -limit, 0.0f, -0.0f,
                                             std::numeric_limits<float>::denorm_min(), 1e-30f}));
    EXPECT_TRUE(AllFinite({}));
  });
}

}  // namespace
}  // namespace covey::tensor::kernels_test
