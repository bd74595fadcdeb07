// Activations at every level and in both numerics against plain loops in double.
#include "covey/tensor/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/flat_vector.h"
#include "support/levels.h"

namespace covey::tensor::activation_test {
namespace {

using test::AtEveryLevel;

constexpr float kSlope = 0.1f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<Activation> Activations() {
  std::vector<Activation> all;
  for (const Function function : {Function::kLinear, Function::kRelu, Function::kLeakyRelu,
                                  Function::kTanh, Function::kSigmoid, Function::kHardSigmoid}) {
    for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
      all.push_back({.function = function, .numerics = numerics, .slope = kSlope});
    }
  }
  return all;
}

std::string NameOf(const Activation& activation) {
  return "function " + std::to_string(static_cast<int>(activation.function)) + " " +
         std::string(Name(activation.numerics));
}

double Exact(Function function, double y) {
  switch (function) {
    case Function::kLinear:
      return y;
    case Function::kRelu:
      return std::max(y, 0.0);
    case Function::kLeakyRelu:
      return y < 0 ? static_cast<double>(kSlope) * y : y;
    case Function::kTanh:
      return std::tanh(y);
    case Function::kSigmoid:
      return 1 / (1 + std::exp(-y));
    case Function::kHardSigmoid:
      return std::clamp(0.2 * y + 0.5, 0.0, 1.0);
  }
  return 0;
}

std::vector<float> Random(std::size_t count, float range, std::uint32_t which) {
  Stream stream(7, which, Purpose::kTest);
  std::vector<float> values(count);
  for (float& value : values) value = stream.Uniform(-range, range);
  return values;
}

TEST(ActivationProperty, ForwardEqualsOracleAtEverySize) {
  AtEveryLevel([] {
    for (const Activation& activation : Activations()) {
      SCOPED_TRACE(NameOf(activation));
      for (std::size_t count = 0; count < 70; ++count) {
        const std::vector<float> y = Random(count, 6, 1);
        std::vector<float> z = y;
        z.push_back(77);
        Activate(activation, count, z.data());
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_NEAR(static_cast<double>(z[i]),
                      Exact(activation.function, static_cast<double>(y[i])), 4e-7)
              << y[i];
        }
        ASSERT_EQ(z[count], 77) << "written past the end";
      }
    }
  });
}

// Against the central difference, away from kinks.
TEST(ActivationProperty, GradientIsTheDerivative) {
  AtEveryLevel([] {
    for (const Activation& activation : Activations()) {
      SCOPED_TRACE(NameOf(activation));
      for (const std::size_t count : {1u, 15u, 16u, 67u}) {
        std::vector<float> y = Random(count, 4, 2);
        for (float& value : y) {
          for (const float kink : {0.0f, -2.5f, 2.5f}) {
            if (std::abs(value - kink) < 1e-3f) value = kink + 0.1f;
          }
        }
        std::vector<float> z = y;
        Activate(activation, count, z.data());
        const std::vector<float> d = Random(count, 1, 3);
        std::vector<float> gradient = d;
        gradient.push_back(77);
        ActivationGradient(activation, count, z.data(), gradient.data());
        for (std::size_t i = 0; i < count; ++i) {
          constexpr double kStep = 1e-4;
          const auto at = static_cast<double>(y[i]);
          const double slope =
              (Exact(activation.function, at + kStep) - Exact(activation.function, at - kStep)) /
              (2 * kStep);
          ASSERT_NEAR(static_cast<double>(gradient[i]), static_cast<double>(d[i]) * slope, 2e-6)
              << y[i];
        }
        ASSERT_EQ(gradient[count], 77) << "written past the end";
      }
    }
  });
}

TEST(ActivationProperty, KinksTakeTheStatedSide) {
  AtEveryLevel([] {
    for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
      const auto slope = [&](Function function, float z) {
        float d = 1;
        ActivationGradient({.function = function, .numerics = numerics}, 1, &z, &d);
        return d;
      };
      EXPECT_EQ(slope(Function::kRelu, 0), 0);
      EXPECT_EQ(slope(Function::kLeakyRelu, 0), 0.01f);
      EXPECT_EQ(slope(Function::kHardSigmoid, 0), 0);
      EXPECT_EQ(slope(Function::kHardSigmoid, 1), 0);
    }
  });
}

TEST(ActivationProperty, NanPasses) {
  AtEveryLevel([] {
    for (const Activation& activation : Activations()) {
      for (const std::size_t count : {1u, 16u}) {
        std::vector<float> y(count, kNan);
        Activate(activation, count, y.data());
        for (const float value : y) EXPECT_TRUE(std::isnan(value)) << NameOf(activation);
      }
    }
  });
}

TEST(ActivationProperty, PortableNumericsHaveTheSameBitsAtEveryLevel) {
  for (const Activation& activation : Activations()) {
    if (activation.numerics != Numerics::kPortable) continue;
    std::vector<float> first;
    AtEveryLevel([&] {
      std::vector<float> z = Random(1000, 12, 4);
      Activate(activation, z.size(), z.data());
      std::vector<float> d = Random(1000, 1, 5);
      ActivationGradient(activation, z.size(), z.data(), d.data());
      z.insert(z.end(), d.begin(), d.end());
      if (first.empty()) first = z;
      EXPECT_EQ(std::memcmp(first.data(), z.data(), z.size() * sizeof(float)), 0)
          << NameOf(activation);
    });
  }
}

TEST(ActivationDeathTest, ASlopeThatHidesTheSignIsRefused) {
  float z = 1, d = 1;
  EXPECT_DEATH(ActivationGradient({.function = Function::kLeakyRelu, .slope = 0}, 1, &z, &d),
               "slope");
}

std::vector<SoftmaxShape> SoftmaxShapes() {
  std::vector<SoftmaxShape> shapes;
  for (const std::size_t features : {1u, 2u, 10u, 33u}) {
    for (const std::size_t batch : {1u, 16u, 37u}) {
      for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
        shapes.push_back({features, batch, numerics});
      }
    }
  }
  return shapes;
}

TEST(SoftmaxProperty, EqualsOracle) {
  AtEveryLevel([] {
    for (const SoftmaxShape& shape : SoftmaxShapes()) {
      SCOPED_TRACE(std::to_string(shape.features) + " x " + std::to_string(shape.batch));
      const std::size_t padded = PaddedBatch(shape.batch);
      const std::vector<float> y = Random(shape.features * padded, 20, 6);
      const std::vector<float> d = Random(shape.features * padded, 1, 7);
      FlatVector z(y.size()), gradient(y.size());
      std::copy(y.begin(), y.end(), z.data());
      std::copy(d.begin(), d.end(), gradient.data());
      Softmax(shape, z.data());
      SoftmaxGradient(shape, z.data(), gradient.data());
      for (std::size_t b = 0; b < padded; ++b) {
        double top = -1e9, sum = 0, inner = 0;
        std::vector<double> p(shape.features);
        for (std::size_t c = 0; c < shape.features; ++c) {
          top = std::max(top, static_cast<double>(y[c * padded + b]));
        }
        for (std::size_t c = 0; c < shape.features; ++c) {
          p[c] = std::exp(static_cast<double>(y[c * padded + b]) - top);
          sum += p[c];
        }
        for (std::size_t c = 0; c < shape.features; ++c) {
          p[c] /= sum;
          inner += p[c] * static_cast<double>(d[c * padded + b]);
        }
        for (std::size_t c = 0; c < shape.features; ++c) {
          const std::size_t at = c * padded + b;
          ASSERT_NEAR(static_cast<double>(z[at]), p[c], 1e-6);
          ASSERT_NEAR(static_cast<double>(gradient[at]),
                      p[c] * (static_cast<double>(d[at]) - inner), 1e-6);
        }
      }
    }
  });
}

TEST(SoftmaxProperty, PortableNumericsHaveTheSameBitsAtEveryLevel) {
  for (const SoftmaxShape& shape : SoftmaxShapes()) {
    if (shape.numerics != Numerics::kPortable) continue;
    std::vector<float> first;
    AtEveryLevel([&] {
      const std::size_t size = shape.features * PaddedBatch(shape.batch);
      FlatVector z(2 * size);
      const std::vector<float> values = Random(2 * size, 20, 8);
      std::copy(values.begin(), values.end(), z.data());
      Softmax(shape, z.data());
      SoftmaxGradient(shape, z.data(), z.data() + size);
      if (first.empty()) first.assign(z.data(), z.data() + 2 * size);
      EXPECT_EQ(std::memcmp(first.data(), z.data(), 2 * size * sizeof(float)), 0);
    });
  }
}

TEST(SoftmaxProperty, NanPasses) {
  AtEveryLevel([] {
    for (std::size_t k = 0; k < 3; ++k) {
      FlatVector y(3 * 16);
      y[k * 16] = kNan;
      Softmax({.features = 3, .batch = 1}, y.data());
      for (std::size_t c = 0; c < 3; ++c) EXPECT_TRUE(std::isnan(y[c * 16])) << k << c;
    }
  });
}

}  // namespace
}  // namespace covey::tensor::activation_test
