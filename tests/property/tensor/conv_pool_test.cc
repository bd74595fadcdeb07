// The pooled convolution at every level against plain loops in double, over odd shapes; the
// portable one against itself bit by bit.
#include "covey/tensor/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/conv.h"
#include "support/levels.h"

namespace covey::tensor::conv_pool_test {
namespace {

using test::AtEveryLevel;
using Fixture = test::ConvFixture;
using test::ConvShapes;
using test::kConvSamples;
using test::kTolerance;
using test::NameOf;
using test::RunPooled;

// One pooling window of the oracle.
struct Window {
  double greatest = 0;
  double second = 0;
  std::uint8_t choice = kNoChoice;
};

Window Look(const Fixture& f, const float* image, std::size_t py, std::size_t px, std::size_t k) {
  Window window;
  for (std::uint8_t i = 0; i < 4; ++i) {
    const double value = f.oracle.Forward(image, 2 * py + i / 2, 2 * px + i % 2, k);
    if (value > window.greatest) {
      window.second = window.greatest;
      window.greatest = value;
      window.choice = i;
    } else {
      window.second = std::max(window.second, value);
    }
  }
  return window;
}

TEST(ConvPoolProperty, EqualsOracle) {
  AtEveryLevel([] {
    for (const ConvShape& shape : ConvShapes()) {
      if (shape.pooled() == 0) continue;
      for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
        SCOPED_TRACE(NameOf(shape));
        Fixture f(shape, shape.pooled());
        RunPooled(numerics, f);
        for (std::size_t n = 0; n < kConvSamples; ++n) {
          const float* image = f.images.data() + n * f.in_stride;
          std::size_t at = n * f.out_stride;
          for (std::size_t py = 0; py < shape.pooled_height(); ++py) {
            for (std::size_t px = 0; px < shape.pooled_width(); ++px) {
              for (std::size_t k = 0; k < shape.filters; ++k, ++at) {
                const Window window = Look(f, image, py, px, k);
                ASSERT_NEAR(static_cast<double>(f.output[at]), window.greatest, kTolerance);
                const std::uint8_t choice = f.choice[at];
                if (window.greatest - window.second > kTolerance) {
                  ASSERT_EQ(choice, window.choice) << n << " " << py << " " << px << " " << k;
                }
                if (choice == kNoChoice) continue;
                f.oracle.Backward(image, 2 * py + choice / 2, 2 * px + choice % 2, k,
                                  static_cast<double>(f.delta[at]), f.expected_weights,
                                  f.expected_bias, f.expected_input.data() + n * f.in_stride);
              }
            }
          }
          for (; at < (n + 1) * f.out_stride; ++at) {
            ASSERT_EQ(f.output[at], 0) << at;
            ASSERT_EQ(f.choice[at], 77) << at;
          }
        }
        f.ExpectGradients();
      }
    }
  });
}

TEST(ConvPoolProperty, PortableGivesTheSameBitsAtEveryLevel) {
  for (const ConvShape& shape : ConvShapes()) {
    if (shape.pooled() == 0) continue;
    SCOPED_TRACE(NameOf(shape));
    std::string first;
    AtEveryLevel([&] {
      Fixture f(shape, shape.pooled());
      RunPooled(Numerics::kPortable, f);
      const std::string bits = f.Bits();
      if (first.empty()) first = bits;
      ASSERT_TRUE(bits == first);
    });
  }
}

TEST(ConvPoolProperty, ASampleDoesNotDependOnTheOthers) {
  const ConvShape shape{
      .height = 9, .width = 8, .channels = 5, .filters = 18, .kernel_height = 3, .kernel_width = 3};
  AtEveryLevel([&] {
    Fixture f(shape, shape.pooled());
    RunPooled(Numerics::kFast, f);
    FlatVector alone(f.out_stride);
    ConvPoolForward(Numerics::kFast, shape, f.Input(2, 1), f.packed.data(), f.bias.data(),
                    f.scratch.data(), alone.data(), f.choice.data());
    for (std::size_t i = 0; i < shape.pooled(); ++i) {
      ASSERT_EQ(alone[i], f.output[2 * f.out_stride + i]) << i;
    }
  });
}

TEST(ConvPoolProperty, NaNReachesTheOutput) {
  const ConvShape shape{
      .height = 8, .width = 8, .channels = 3, .filters = 20, .kernel_height = 3, .kernel_width = 3};
  AtEveryLevel([&] {
    // In each window that sees it, whichever of the four it is.
    for (std::size_t pixel = 0; pixel < 64; ++pixel) {
      Fixture f(shape, shape.pooled());
      f.images[pixel * 3] = std::numeric_limits<float>::quiet_NaN();
      ConvPoolForward(Numerics::kPortable, shape, f.Input(0, 1), f.packed.data(), f.bias.data(),
                      f.scratch.data(), f.output.data(), f.choice.data());
      for (std::size_t i = 0; i < shape.pooled(); ++i) {
        const std::size_t row = i / shape.filters / 3 * 2;
        const std::size_t column = i / shape.filters % 3 * 2;
        const bool sees = pixel / 8 >= row && pixel / 8 < row + 4 && pixel % 8 >= column &&
                          pixel % 8 < column + 4;
        ASSERT_EQ(std::isnan(f.output[i]), sees) << pixel << " " << i;
      }
    }
  });
}

TEST(ConvPoolProperty, OfEqualValuesTheFirstPasses) {
  const ConvShape shape{.height = 4, .width = 4, .channels = 1, .filters = 5};
  AtEveryLevel([&] {
    Fixture f(shape, shape.pooled());
    std::fill(f.images.view().begin(), f.images.view().end(), 0.5f);
    for (const float bias : {1.0f, 0.0f}) {
      std::fill(f.weights.view().begin(), f.weights.view().end(), 0.0f);
      std::fill(f.bias.view().begin(), f.bias.view().end(), bias);
      PackConvWeights(shape, f.weights.data(), f.packed.data());
      RunPooled(Numerics::kFast, f);
      for (std::size_t i = 0; i < shape.pooled(); ++i) {
        EXPECT_EQ(f.choice[i], bias > 0 ? 0 : kNoChoice);
      }
    }
  });
}

}  // namespace
}  // namespace covey::tensor::conv_pool_test
