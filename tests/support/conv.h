// Shapes, a slow oracle and buffers for tests of the convolution kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/conv.h"
#include "covey/tensor/flat_vector.h"

namespace covey::test {

using tensor::ConvInput;
using tensor::ConvShape;
using tensor::Epilogue;
using tensor::FlatVector;
using tensor::Numerics;
using tensor::SampleStride;

// Float sums of a few hundred terms of size 1 against double ones.
inline constexpr double kTolerance = 5e-5;

inline std::string NameOf(const ConvShape& s) {
  const auto n = [](std::size_t value) { return std::to_string(value); };
  return n(s.height) + "x" + n(s.width) + "x" + n(s.channels) + " conv " + n(s.kernel_height) +
         "x" + n(s.kernel_width) + "x" + n(s.filters) + " stride " + n(s.stride_height) + "x" +
         n(s.stride_width) + " pad " + n(s.pad_top) + n(s.pad_bottom) + n(s.pad_left) +
         n(s.pad_right);
}

inline std::vector<ConvShape> ConvShapes() {
  std::vector<ConvShape> shapes = {
      {.height = 1, .width = 1},
      {.height = 8,
       .width = 7,
       .channels = 3,
       .filters = 16,
       .kernel_height = 3,
       .kernel_width = 3},
      {.height = 7,
       .width = 9,
       .channels = 16,
       .filters = 32,
       .kernel_height = 3,
       .kernel_width = 3},
      {.height = 6,
       .width = 6,
       .channels = 8,
       .filters = 35,
       .kernel_height = 3,
       .kernel_width = 3},
      {.height = 5,
       .width = 28,
       .channels = 1,
       .filters = 70,
       .kernel_height = 5,
       .kernel_width = 5},
      {.height = 128, .width = 1, .channels = 6, .filters = 9, .kernel_height = 5},
      {.height = 9,
       .width = 9,
       .channels = 48,
       .filters = 3,
       .kernel_height = 3,
       .kernel_width = 4},
  };
  Stream stream(5, 0, Purpose::kTest);
  const auto draw = [&](std::size_t most) {
    return 1 + static_cast<std::size_t>(stream.Below(most));
  };
  for (int i = 0; i < 40; ++i) {
    ConvShape shape{.height = 1 + draw(9),
                    .width = 1 + draw(9),
                    .channels = draw(20),
                    .filters = draw(40),
                    .kernel_height = draw(5),
                    .kernel_width = draw(5),
                    .stride_height = draw(3),
                    .stride_width = draw(3)};
    if (stream.Chance(0.5)) PadSame(shape);
    if (shape.height + shape.pad_top + shape.pad_bottom < shape.kernel_height) continue;
    if (shape.width + shape.pad_left + shape.pad_right < shape.kernel_width) continue;
    shapes.push_back(shape);
  }
  return shapes;
}

// Plain loops over one sample. Images and outputs [height][width][channels].
struct ConvOracle {
  const ConvShape& s;
  const float* weights;
  const float* bias;

  // Index of a tap in the image, or -1 beyond its edge.
  std::ptrdiff_t At(std::size_t y, std::size_t x, std::size_t a, std::size_t b) const {
    const std::size_t row = y * s.stride_height + a;
    const std::size_t column = x * s.stride_width + b;
    if (row < s.pad_top || row - s.pad_top >= s.height) return -1;
    if (column < s.pad_left || column - s.pad_left >= s.width) return -1;
    return static_cast<std::ptrdiff_t>(((row - s.pad_top) * s.width + column - s.pad_left) *
                                       s.channels);
  }

  template <class Body>  // body(weight index, image index) for each tap inside the image
  void Taps(std::size_t y, std::size_t x, std::size_t f, Body body) const {
    for (std::size_t a = 0; a < s.kernel_height; ++a) {
      for (std::size_t b = 0; b < s.kernel_width; ++b) {
        const std::ptrdiff_t at = At(y, x, a, b);
        if (at < 0) continue;
        for (std::size_t c = 0; c < s.channels; ++c) {
          body(((f * s.kernel_height + a) * s.kernel_width + b) * s.channels + c,
               static_cast<std::size_t>(at) + c);
        }
      }
    }
  }

  double Forward(const float* image, std::size_t y, std::size_t x, std::size_t f) const {
    double sum = static_cast<double>(bias[f]);
    Taps(y, x, f, [&](std::size_t w, std::size_t i) {
      sum += static_cast<double>(weights[w]) * static_cast<double>(image[i]);
    });
    return sum;
  }

  void Backward(const float* image, std::size_t y, std::size_t x, std::size_t f, double delta,
                std::vector<double>& weight_gradient, std::vector<double>& bias_gradient,
                double* input_gradient) const {
    bias_gradient[f] += delta;
    Taps(y, x, f, [&](std::size_t w, std::size_t i) {
      weight_gradient[w] += delta * static_cast<double>(image[i]);
      input_gradient[i] += delta * static_cast<double>(weights[w]);
    });
  }
};

inline constexpr std::size_t kConvSamples = 3;

inline FlatVector Random(std::size_t size, Stream& stream) {
  FlatVector vector(size);
  for (float& value : vector.view()) value = stream.Uniform(-1.0f, 1.0f);
  return vector;
}

struct ConvFixture {
  explicit ConvFixture(const ConvShape& drawn, std::size_t outputs)
      : shape(drawn),
        in_stride(SampleStride(shape.features())),
        out_stride(SampleStride(outputs)),
        stream(9, static_cast<std::uint32_t>(shape.features() + shape.filters), Purpose::kTest),
        images(Random(kConvSamples * in_stride, stream)),
        weights(Random(shape.weights(), stream)),
        bias(Random(shape.filters, stream)),
        delta(Random(kConvSamples * out_stride, stream)),
        packed(PackedConvSize(shape)),
        scratch(ConvScratchSize(shape)),
        output(kConvSamples * out_stride),
        choice(kConvSamples * out_stride, 77),
        sums(2 * ConvGradientSize(shape)),
        input_gradient(kConvSamples * in_stride),
        weight_gradient(shape.weights()),
        bias_gradient(shape.filters),
        expected_weights(shape.weights()),
        expected_bias(shape.filters),
        expected_input(kConvSamples * in_stride),
        oracle{shape, weights.data(), bias.data()} {
    // What a kernel leaves in its scratch must not matter.
    for (float& value : scratch.view()) value = std::numeric_limits<float>::quiet_NaN();
    PackConvWeights(shape, weights.data(), packed.data());
  }

  ConvInput Input(std::size_t first, std::size_t count) const {
    return {.images = images.data() + first * in_stride, .samples = count};
  }

  void ExpectGradients() {
    AddConvGradients(shape, 2, sums.data(), weight_gradient.data(), bias_gradient.data());
    for (std::size_t i = 0; i < shape.weights(); ++i) {
      ASSERT_NEAR(static_cast<double>(weight_gradient[i]), expected_weights[i], kTolerance) << i;
    }
    for (std::size_t f = 0; f < shape.filters; ++f) {
      ASSERT_NEAR(static_cast<double>(bias_gradient[f]), expected_bias[f], kTolerance) << f;
    }
    for (std::size_t i = 0; i < kConvSamples * in_stride; ++i) {
      ASSERT_NEAR(static_cast<double>(input_gradient[i]), expected_input[i], kTolerance) << i;
    }
  }

  // Bits of everything that was computed.
  std::string Bits() {
    std::string bits;
    AddConvGradients(shape, 2, sums.data(), weight_gradient.data(), bias_gradient.data());
    for (const FlatVector* vector : {&output, &input_gradient, &weight_gradient, &bias_gradient}) {
      bits.append(reinterpret_cast<const char*>(vector->data()), vector->size() * sizeof(float));
    }
    bits.append(choice.begin(), choice.end());
    return bits;
  }

  ConvShape shape;
  std::size_t in_stride, out_stride;
  Stream stream;
  FlatVector images, weights, bias, delta, packed, scratch, output;
  std::vector<std::uint8_t> choice;
  FlatVector sums, input_gradient, weight_gradient, bias_gradient;
  std::vector<double> expected_weights, expected_bias, expected_input;
  ConvOracle oracle;
};

inline void RunGeneral(Numerics numerics, Epilogue epilogue, ConvFixture& f) {
  ConvForward(numerics, f.shape, f.Input(0, kConvSamples), f.packed.data(), f.bias.data(), epilogue,
              f.scratch.data(), f.output.data());
  // Two parts: the sums of one sample, and of the others.
  ConvBackward(numerics, f.shape, f.Input(0, 1), f.packed.data(), f.delta.data(), f.scratch.data(),
               f.sums.data(), f.input_gradient.data());
  ConvBackward(numerics, f.shape, f.Input(1, kConvSamples - 1), f.packed.data(),
               f.delta.data() + f.out_stride, f.scratch.data(),
               f.sums.data() + ConvGradientSize(f.shape), f.input_gradient.data() + f.in_stride);
}

inline void RunPooled(Numerics numerics, ConvFixture& f) {
  ConvPoolForward(numerics, f.shape, f.Input(0, kConvSamples), f.packed.data(), f.bias.data(),
                  f.scratch.data(), f.output.data(), f.choice.data());
  ConvPoolBackward(numerics, f.shape, f.Input(0, 1), f.packed.data(), f.delta.data(),
                   f.choice.data(), f.scratch.data(), f.sums.data(), f.input_gradient.data());
  ConvPoolBackward(numerics, f.shape, f.Input(1, kConvSamples - 1), f.packed.data(),
                   f.delta.data() + f.out_stride, f.choice.data() + f.out_stride, f.scratch.data(),
                   f.sums.data() + ConvGradientSize(f.shape),
                   f.input_gradient.data() + f.in_stride);
}

}  // namespace covey::test
