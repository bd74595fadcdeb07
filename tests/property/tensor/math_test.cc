// Vector functions of math-inl.h at every level and in both numerics against the double functions
// of the C library.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "covey/tensor/flat_vector.h"
#include "covey/tensor/numerics.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "property/tensor/math_test.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "tensor/math-inl.h"
// clang-format on

#ifndef COVEY_TENSOR_MATH_TEST_FUNCTION_
#define COVEY_TENSOR_MATH_TEST_FUNCTION_
namespace covey::tensor {
enum class Function { kExp, kExpNonPositive, kTanh, kSigmoid, kHardSigmoid, kLog1p, kLog };
}  // namespace covey::tensor
#endif

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

template <class N, class D>
hn::Vec<D> Call(Function function, D d, hn::Vec<D> x) {
  switch (function) {
    case Function::kExp:
      return Exp<N>(d, x);
    case Function::kExpNonPositive:
      return ExpNonPositive<N>(d, x);
    case Function::kTanh:
      return Tanh<N>(d, x);
    case Function::kSigmoid:
      return Sigmoid<N>(d, x);
    case Function::kHardSigmoid:
      return HardSigmoid<N>(d, x);
    case Function::kLog1p:
      return Log1p<N>(d, x);
    case Function::kLog:
      return Log<N>(d, x);
  }
  return x;
}

// y[i] = function(x[i]) for n elements, a multiple of 16.
void Map(Function function, Numerics numerics, const float* x, std::size_t n, float* y) {
  const hn::ScalableTag<float> d;
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      hn::StoreU(Call<decltype(policy)>(function, d, hn::LoadU(d, x + i)), d, y + i);
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include "support/levels.h"

namespace covey::tensor {
namespace {

HWY_EXPORT(Map);

using test::AtEveryLevel;

constexpr Numerics kBoth[] = {Numerics::kFast, Numerics::kPortable};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Range {
  Function function;
  const char* name;
  double (*exact)(double);
  float low, high;
  double max_ulp[2];  // fast, portable
};

// max_ulp: what was measured over these samples at v2, v3 and v4, rounded up to a tenth.
const Range kRanges[] = {
    {Function::kExp, "exp", [](double x) { return std::exp(x); }, -87.3365f, 88.7228f, {1, 1}},
    {Function::kExpNonPositive,
     "exp of x <= 0",
     [](double x) { return std::exp(x); },
     -87.3365f,
     0,
     {1, 1}},
    {Function::kTanh, "tanh", [](double x) { return std::tanh(x); }, -20, 20, {2.5, 2.5}},
    {Function::kSigmoid,
     "sigmoid",
     [](double x) { return 1 / (1 + std::exp(-x)); },
     -87,
     30,
     {2.1, 2.1}},
    {Function::kLog1p, "log1p", [](double x) { return std::log1p(x); }, 0, 1, {1.3, 1.3}},
    {Function::kLog,
     "log",
     [](double x) { return std::log(x); },
     1.17549435e-38f,
     1e38f,
     {0.9, 0.8}},
};

std::vector<float> Mapped(Function function, Numerics numerics, std::vector<float> x) {
  const std::size_t n = x.size();
  x.resize((n + 15) / 16 * 16, 0.5f);
  std::vector<float> y(x.size());
  HWY_DYNAMIC_DISPATCH(Map)(function, numerics, x.data(), x.size(), y.data());
  y.resize(n);
  return y;
}

// About 200,000 numbers of a range: evenly spread ones and, towards zero, ones of every magnitude.
std::vector<float> Samples(float low, float high) {
  std::vector<float> x;
  constexpr int kSteps = 100'000;
  for (int i = 0; i <= kSteps; ++i) {
    const float part = static_cast<float>(i) / static_cast<float>(kSteps);
    x.push_back(low + (high - low) * part);
  }
  for (const float end : {low, high}) {
    for (float value = end; std::abs(value) > 1e-30f; value *= 0.9973f) x.push_back(value);
  }
  std::erase_if(x, [&](float value) { return value < low || value > high; });
  return x;
}

double Ulp(double exact) {
  const double magnitude = std::max(std::abs(exact), 0x1p-126);
  return std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

TEST(MathProperty, IsWithinTheStatedUlpOfTheExactValue) {
  AtEveryLevel([] {
    for (const Range& range : kRanges) {
      for (const Numerics numerics : kBoth) {
        const std::vector<float> x = Samples(range.low, range.high);
        const std::vector<float> y = Mapped(range.function, numerics, x);
        double worst = 0;
        float where = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double exact = range.exact(static_cast<double>(x[i]));
          if (std::abs(exact) < 0x1p-126) continue;
          const double error = std::abs(static_cast<double>(y[i]) - exact) / Ulp(exact);
          if (!(error <= worst)) worst = error, where = x[i];
        }
        const double limit = range.max_ulp[numerics == Numerics::kPortable ? 1 : 0];

        EXPECT_LE(worst, limit) << range.name << "(" << where << ") " << Name(numerics);
      }
    }
  });
}

TEST(MathProperty, PortableFunctionsHaveTheSameBitsAtEveryLevel) {
  for (const Range& range : kRanges) {
    std::vector<float> x = Samples(range.low, range.high);
    for (const float odd : {0.0f, -0.0f, 1e-40f, -1e-40f, 1e30f, -1e30f, kInfinity, -kInfinity}) {
      if (range.function != Function::kLog) x.push_back(odd);
    }
    std::vector<float> first;
    AtEveryLevel([&] {
      const std::vector<float> y = Mapped(range.function, Numerics::kPortable, x);
      if (first.empty()) first = y;
      EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0) << range.name;
    });
  }
}

TEST(MathProperty, ExtremeInputsSaturateAndNanPasses) {
  struct Case {
    Function function;
    float x, y;
  };
  const Case cases[] = {
      {Function::kExp, 88.73f, kInfinity},
      {Function::kExp, 1e30f, kInfinity},
      {Function::kExp, kInfinity, kInfinity},
      {Function::kExp, -87.34f, 0},
      {Function::kExp, -1e30f, 0},
      {Function::kExp, -kInfinity, 0},
      {Function::kExp, 0, 1},
      {Function::kExp, kNan, kNan},
      {Function::kExp, -kNan, kNan},
      {Function::kExpNonPositive, 0, 1},
      {Function::kExpNonPositive, -87.34f, 0},
      {Function::kExpNonPositive, -std::numeric_limits<float>::max(), 0},
      {Function::kExpNonPositive, -kInfinity, 0},
      {Function::kExpNonPositive, kNan, kNan},
      {Function::kTanh, 9.1f, 1},
      {Function::kTanh, -1e30f, -1},
      {Function::kTanh, kInfinity, 1},
      {Function::kTanh, -kInfinity, -1},
      {Function::kTanh, 0, 0},
      {Function::kTanh, 1e-38f, 1e-38f},
      {Function::kTanh, kNan, kNan},
      {Function::kSigmoid, 0, 0.5f},
      {Function::kSigmoid, 1e30f, 1},
      {Function::kSigmoid, kInfinity, 1},
      {Function::kSigmoid, -kInfinity, 0},
      {Function::kSigmoid, -100, 0},
      {Function::kSigmoid, kNan, kNan},
      {Function::kHardSigmoid, 0, 0.5f},
      {Function::kHardSigmoid, 2.5f, 1},
      {Function::kHardSigmoid, -2.5f, 0},
      {Function::kHardSigmoid, kInfinity, 1},
      {Function::kHardSigmoid, -kInfinity, 0},
      {Function::kHardSigmoid, kNan, kNan},
      {Function::kLog1p, 0, 0},
      {Function::kLog1p, kNan, kNan},
      {Function::kLog, 1, 0},
      {Function::kLog, kNan, kNan},
      {Function::kLog, kInfinity, kNan},
  };
  AtEveryLevel([&] {
    for (const Case& c : cases) {
      for (const Numerics numerics : kBoth) {
        const float y = Mapped(c.function, numerics, {c.x})[0];
        const std::string what = std::to_string(static_cast<int>(c.function)) + "(" +
                                 std::to_string(c.x) + ") " + std::string(Name(numerics));
        if (std::isnan(c.y)) {
          EXPECT_TRUE(std::isnan(y)) << what;
        } else {
          EXPECT_EQ(y, c.y) << what;
        }
      }
    }
  });
}

TEST(MathProperty, HardSigmoidEqualsItsFormula) {
  AtEveryLevel([] {
    for (const Numerics numerics : kBoth) {
      const std::vector<float> x = Samples(-4, 4);
      const std::vector<float> y = Mapped(Function::kHardSigmoid, numerics, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double line = 0.2 * static_cast<double>(x[i]) + 0.5;
        const double exact = std::min(std::max(line, 0.0), 1.0);
        ASSERT_NEAR(static_cast<double>(y[i]), exact, 1e-7) << x[i];
      }
    }
  });
}

// What a sample gets must not depend on its place in a batch.
TEST(MathProperty, ResultsDoNotDependOnThePlaceInAVector) {
  AtEveryLevel([] {
    for (const Numerics numerics : kBoth) {
      for (const Range& range : kRanges) {
        std::vector<float> x(17, range.low);
        x[0] = x[16] = range.low + 0.37f * (range.high - range.low);
        const std::vector<float> y = Mapped(range.function, numerics, x);
        const std::vector<float> alone = Mapped(range.function, numerics, {x[0]});
        EXPECT_EQ(y[0], y[16]) << range.name;
        EXPECT_EQ(y[0], alone[0]) << range.name;
      }
    }
  });
}

}  // namespace
}  // namespace covey::tensor
#endif  // HWY_ONCE
