// Normalisation at every level against plain loops in double, its gradients against the formula's
// derivation by differences; portable: the same bits at all levels.
#include "covey/tensor/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/conv.h"
#include "support/levels.h"

namespace covey::tensor::norm_test {
namespace {

using test::AtEveryLevel;

constexpr std::size_t kSamples = 2;
constexpr double kTolerance = 2e-5;

const NormShape kShapes[] = {
    {.instances = 1, .places = 9, .channels = 4, .groups = 2},
    {.instances = 1, .places = 30, .channels = 16, .groups = 16},  // by channel
    {.instances = 1, .places = 25, .channels = 36, .groups = 3},
    {.instances = 1, .places = 1, .channels = 50, .groups = 1},
    {.instances = 7, .places = 1, .channels = 50, .groups = 1},  // layer normalisation
    {.instances = 3, .places = 1, .channels = 5, .groups = 1, .epsilon = 0.1f},
    {.instances = 4, .places = 1, .channels = 1, .groups = 1},  // variance 0
};

struct Fixture {
  explicit Fixture(const NormShape& drawn)
      : s(drawn),
        stride(SampleStride(s.features())),
        input(kSamples * stride),
        delta(kSamples * stride),
        output(kSamples * stride),
        gradient(kSamples * stride),
        weight(s.channels),
        bias(s.channels),
        weight_sums(s.channels),
        bias_sums(s.channels),
        statistics(kSamples * s.statistics()),
        scratch(NormScratchSize(s)) {
    Stream stream(8, static_cast<std::uint32_t>(s.features()), Purpose::kTest);
    for (FlatVector* vector : {&input, &delta, &weight, &bias}) {
      for (float& value : vector->view()) value = stream.Uniform(-1.0f, 1.0f);
    }
    for (float& value : input.view()) value += 3;  // a mean that matters
  }

  void Run(Numerics numerics) {
    NormForward(numerics, s, kSamples, input.data(), weight.data(), bias.data(), scratch.data(),
                statistics.data(), output.data());
    NormBackward(numerics, s, kSamples, input.data(), weight.data(), statistics.data(),
                 delta.data(), scratch.data(), weight_sums.data(), bias_sums.data(),
                 gradient.data());
  }

  std::vector<double> Inputs() const { return {input.data(), input.data() + input.size()}; }

  // The output in double for `x` in place of the input; h is the normalised value.
  template <class Body>  // body(index, channel, h)
  void Forward(const std::vector<double>& x, Body body) const {
    const std::size_t width = s.channels / s.groups;
    for (std::size_t n = 0; n < kSamples * s.instances; ++n) {
      const std::size_t base = n / s.instances * stride + n % s.instances * s.places * s.channels;
      for (std::size_t g = 0; g < s.groups; ++g) {
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < s.places * width; ++i) {
          members.push_back(base + i / width * s.channels + g * width + i % width);
        }
        double mean = 0;
        for (const std::size_t i : members) mean += x[i];
        mean /= static_cast<double>(members.size());
        double variance = static_cast<double>(s.epsilon) * static_cast<double>(members.size());
        for (const std::size_t i : members) variance += (x[i] - mean) * (x[i] - mean);
        variance /= static_cast<double>(members.size());
        for (const std::size_t i : members) {
          body(i, (i - base) % s.channels, (x[i] - mean) / std::sqrt(variance));
        }
      }
    }
  }

  // sum of delta * output: what the gradients are gradients of.
  double Objective(const std::vector<double>& x) const {
    double sum = 0;
    Forward(x, [&](std::size_t i, std::size_t c, double h) {
      sum += static_cast<double>(delta[i]) *
             (h * static_cast<double>(weight[c]) + static_cast<double>(bias[c]));
    });
    return sum;
  }

  NormShape s;
  std::size_t stride;
  FlatVector input, delta, output, gradient, weight, bias, weight_sums, bias_sums, statistics,
      scratch;
};

TEST(NormProperty, EqualsOracle) {
  AtEveryLevel([] {
    for (const NormShape& shape : kShapes) {
      for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
        SCOPED_TRACE(shape.channels);
        Fixture f(shape);
        f.Run(numerics);
        std::vector<double> weights(shape.channels);
        std::vector<double> biases(shape.channels);
        f.Forward(f.Inputs(), [&](std::size_t i, std::size_t c, double h) {
          const double y = h * static_cast<double>(f.weight[c]) + static_cast<double>(f.bias[c]);
          ASSERT_NEAR(static_cast<double>(f.output[i]), y, kTolerance) << i;
          weights[c] += static_cast<double>(f.delta[i]) * h;
          biases[c] += static_cast<double>(f.delta[i]);
        });
        for (std::size_t c = 0; c < shape.channels; ++c) {
          ASSERT_NEAR(static_cast<double>(f.weight_sums[c]), weights[c], kTolerance) << c;
          ASSERT_NEAR(static_cast<double>(f.bias_sums[c]), biases[c], kTolerance) << c;
        }
      }
    }
  });
}

TEST(NormProperty, InputGradientIsTheCentralDifference) {
  constexpr double kStep = 1e-4;
  AtEveryLevel([] {
    for (const NormShape& shape : kShapes) {
      SCOPED_TRACE(shape.channels);
      Fixture f(shape);
      f.Run(Numerics::kFast);
      std::vector<double> x = f.Inputs();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double middle = x[i];
        x[i] = middle + kStep;
        const double above = f.Objective(x);
        x[i] = middle - kStep;
        const double below = f.Objective(x);
        x[i] = middle;
        const double numeric = (above - below) / (2 * kStep);
        ASSERT_NEAR(static_cast<double>(f.gradient[i]), numeric, 2e-4) << i;
      }
    }
  });
}

TEST(NormProperty, PortableGivesTheSameBitsAtEveryLevel) {
  for (const NormShape& shape : kShapes) {
    std::string first;
    AtEveryLevel([&] {
      Fixture f(shape);
      f.Run(Numerics::kPortable);
      std::string bits;
      for (const FlatVector* v : {&f.output, &f.gradient, &f.weight_sums, &f.bias_sums}) {
        bits.append(reinterpret_cast<const char*>(v->data()), v->size() * sizeof(float));
      }
      if (first.empty()) first = bits;
      ASSERT_TRUE(bits == first);
    });
  }
}

TEST(NormProperty, GradientMayReplaceDelta) {
  for (const NormShape& shape : kShapes) {
    Fixture apart(shape);
    apart.Run(Numerics::kFast);
    Fixture f(shape);
    NormForward(Numerics::kFast, shape, kSamples, f.input.data(), f.weight.data(), f.bias.data(),
                f.scratch.data(), f.statistics.data(), f.output.data());
    NormBackward(Numerics::kFast, shape, kSamples, f.input.data(), f.weight.data(),
                 f.statistics.data(), f.delta.data(), f.scratch.data(), f.weight_sums.data(),
                 f.bias_sums.data(), f.delta.data());
    for (std::size_t i = 0; i < shape.features(); ++i) EXPECT_EQ(f.delta[i], apart.gradient[i]);
  }
}

}  // namespace
}  // namespace covey::tensor::norm_test
