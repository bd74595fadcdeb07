// The general convolution at every level against plain loops in double, over odd shapes; the
// portable one against itself bit by bit.
#include "covey/tensor/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/conv.h"
#include "support/levels.h"

namespace covey::tensor::conv_test {
namespace {

using test::AtEveryLevel;
using Fixture = test::ConvFixture;
using test::ConvShapes;
using test::kConvSamples;
using test::kTolerance;
using test::NameOf;
using test::RunGeneral;

TEST(ConvProperty, EqualsOracle) {
  AtEveryLevel([] {
    for (const ConvShape& shape : ConvShapes()) {
      for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
        for (const Epilogue epilogue : {Epilogue::kLinear, Epilogue::kRelu}) {
          SCOPED_TRACE(NameOf(shape));
          Fixture f(shape, shape.outputs());
          RunGeneral(numerics, epilogue, f);
          for (std::size_t n = 0; n < kConvSamples; ++n) {
            const float* image = f.images.data() + n * f.in_stride;
            std::size_t at = n * f.out_stride;
            for (std::size_t y = 0; y < shape.out_height(); ++y) {
              for (std::size_t x = 0; x < shape.out_width(); ++x) {
                for (std::size_t k = 0; k < shape.filters; ++k, ++at) {
                  double value = f.oracle.Forward(image, y, x, k);
                  if (epilogue == Epilogue::kRelu) value = std::max(value, 0.0);
                  ASSERT_NEAR(static_cast<double>(f.output[at]), value, kTolerance)
                      << n << " " << y << " " << x << " " << k;
                  f.oracle.Backward(image, y, x, k, static_cast<double>(f.delta[at]),
                                    f.expected_weights, f.expected_bias,
                                    f.expected_input.data() + n * f.in_stride);
                }
              }
            }
            for (; at < (n + 1) * f.out_stride; ++at) ASSERT_EQ(f.output[at], 0) << at;
          }
          f.ExpectGradients();
        }
      }
    }
  });
}

TEST(ConvProperty, PortableGivesTheSameBitsAtEveryLevel) {
  for (const ConvShape& shape : ConvShapes()) {
    SCOPED_TRACE(NameOf(shape));
    std::string first;
    AtEveryLevel([&] {
      Fixture f(shape, shape.outputs());
      RunGeneral(Numerics::kPortable, Epilogue::kRelu, f);
      const std::string bits = f.Bits();
      if (first.empty()) first = bits;
      ASSERT_TRUE(bits == first);
    });
  }
}

TEST(ConvProperty, NaNReachesTheOutput) {
  const ConvShape shape{
      .height = 8, .width = 8, .channels = 3, .filters = 20, .kernel_height = 3, .kernel_width = 3};
  AtEveryLevel([&] {
    for (const std::size_t at : {std::size_t{0}, std::size_t{77}, shape.weights() - 1}) {
      // As a weight of one filter: all of its outputs; others stay numbers.
      Fixture f(shape, shape.outputs());
      f.weights[at] = std::numeric_limits<float>::quiet_NaN();
      PackConvWeights(shape, f.weights.data(), f.packed.data());
      const std::size_t filter = at / (shape.weights() / shape.filters);
      ConvForward(Numerics::kFast, shape, f.Input(0, 1), f.packed.data(), f.bias.data(),
                  Epilogue::kRelu, f.scratch.data(), f.output.data());
      for (std::size_t i = 0; i < shape.outputs(); ++i) {
        ASSERT_EQ(std::isnan(f.output[i]), i % shape.filters == filter) << i;
      }
    }
  });
}

TEST(ConvProperty, PaddingSameAsInKeras) {
  ConvShape shape{.height = 5, .width = 6, .kernel_height = 3, .kernel_width = 4};
  PadSame(shape);
  EXPECT_EQ(shape.pad_top, 1u);
  EXPECT_EQ(shape.pad_bottom, 1u);
  EXPECT_EQ(shape.pad_left, 1u);  // an odd zero stands behind
  EXPECT_EQ(shape.pad_right, 2u);
  EXPECT_EQ(shape.out_height(), 5u);
  EXPECT_EQ(shape.out_width(), 6u);
  shape = {.height = 5,
           .width = 6,
           .kernel_height = 3,
           .kernel_width = 1,
           .stride_height = 2,
           .stride_width = 4};
  PadSame(shape);
  EXPECT_EQ(shape.pad_top + shape.pad_bottom, 2u);
  EXPECT_EQ(shape.pad_left + shape.pad_right, 0u);  // the stride skips more than the kernel covers
  EXPECT_EQ(shape.out_height(), 3u);
  EXPECT_EQ(shape.out_width(), 2u);
}

}  // namespace
}  // namespace covey::tensor::conv_test
