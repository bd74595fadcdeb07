// Every dense kernel at every level against plain loops in double, over odd shapes.
#include "covey/tensor/dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

#include "covey/base/random.h"
#include "support/dense_case.h"
#include "support/levels.h"

namespace covey::tensor::dense_test {
namespace {

using test::AtEveryLevel;
using test::DenseCase;
using test::DenseCases;
using test::DenseLayer;

// Float sums of a few hundred terms of size 1 against double ones.
constexpr double kTolerance = 2e-5;

TEST(DenseProperty, ForwardEqualsOracle) {
  AtEveryLevel([] {
    for (const DenseCase& c : DenseCases()) {
      SCOPED_TRACE(c.Name());
      DenseLayer f(c);
      for (const Epilogue epilogue : {Epilogue::kLinear, Epilogue::kRelu}) {
        FlatVector out(f.shape.units * f.padded);
        DenseForward(f.shape, f.input, f.weights(), f.bias.data(), epilogue, f.scratch.data(),
                     out.data());
        for (std::size_t u = 0; u < f.shape.units; ++u) {
          for (std::size_t b = 0; b < f.shape.batch; ++b) {
            double sum = static_cast<double>(f.bias[u]);
            for (std::size_t k = 0; k < f.shape.inputs; ++k) {
              sum += static_cast<double>(f.weights()[u * f.shape.inputs + k]) * f.Value(k, b);
            }
            if (epilogue == Epilogue::kRelu) sum = std::max(sum, 0.0);
            ASSERT_NEAR(static_cast<double>(out[u * f.padded + b]), sum, kTolerance)
                << u << " " << b;
          }
        }
      }
    }
  });
}

TEST(DenseProperty, BackwardEqualsOracle) {
  AtEveryLevel([] {
    for (const DenseCase& c : DenseCases()) {
      if (c.form != DenseCase::Form::kFeatures) continue;
      SCOPED_TRACE(c.Name());
      DenseLayer f(c);
      for (const bool masked : {false, true}) {
        FlatVector out(f.shape.inputs * f.padded);
        DenseBackward(f.shape, f.weights(), f.delta.data(),
                      masked ? f.activations().data() : nullptr, out.data());
        for (std::size_t k = 0; k < f.shape.inputs; ++k) {
          for (std::size_t b = 0; b < f.padded; ++b) {
            double sum = 0;
            for (std::size_t u = 0; u < f.shape.units; ++u) {
              sum += static_cast<double>(f.weights()[u * f.shape.inputs + k]) *
                     static_cast<double>(f.delta[u * f.padded + b]);
            }
            if (masked && f.activations()[k * f.padded + b] <= 0) sum = 0;
            ASSERT_NEAR(static_cast<double>(out[k * f.padded + b]), sum, kTolerance)
                << k << " " << b << " (padding must be zero)";
          }
        }
      }
    }
  });
}

TEST(DenseProperty, StoredGradientEqualsOracleAndNothingElseIsWritten) {
  AtEveryLevel([] {
    for (const DenseCase& c : DenseCases()) {
      SCOPED_TRACE(c.Name());
      DenseLayer f(c);
      const std::size_t size = f.shape.units * f.shape.inputs;
      // [guard, weights, guard, bias, guard]
      std::vector<float> out(size + f.shape.units + 3, 77.0f);
      const DenseParameters at{.x = out.data(), .weights = 1, .bias = size + 2};
      DenseUpdate(f.shape, f.input, f.delta.data(),
                  {.kind = UpdateKind::kStore, .first = out.data()}, at, f.scratch.data());
      for (std::size_t u = 0; u < f.shape.units; ++u) {
        double db = 0;
        for (std::size_t b = 0; b < f.shape.batch; ++b) {
          db += static_cast<double>(f.delta[u * f.padded + b]);
        }
        ASSERT_NEAR(static_cast<double>(out[at.bias + u]), db, kTolerance) << u;
        for (std::size_t k = 0; k < f.shape.inputs; ++k) {
          double dw = 0;
          for (std::size_t b = 0; b < f.shape.batch; ++b) {
            dw += static_cast<double>(f.delta[u * f.padded + b]) * f.Value(k, b);
          }
          ASSERT_NEAR(static_cast<double>(out[at.weights + u * f.shape.inputs + k]), dw, kTolerance)
              << u << " " << k;
        }
      }
      for (const std::size_t guard : {std::size_t{0}, size + 1, size + f.shape.units + 2}) {
        ASSERT_EQ(out[guard], 77.0f) << guard;
      }
    }
  });
}

// Fusing must not change what an optimizer does: the fused update equals store, then ApplyUpdate,
// bit for bit.
TEST(DenseProperty, FusedUpdateEqualsStoreThenApply) {
  AtEveryLevel([] {
    for (const DenseCase& c : DenseCases()) {
      SCOPED_TRACE(c.Name());
      DenseLayer f(c);
      const std::size_t size = f.shape.units * (f.shape.inputs + 1);
      const std::size_t bias = f.shape.units * f.shape.inputs;
      FlatVector x(size), first(size), second(size), gradient(size);
      Stream stream(9, 0, Purpose::kTest);
      for (std::size_t i = 0; i < size; ++i) {
        x[i] = stream.Uniform(-1.0f, 1.0f);
        first[i] = stream.Uniform(-1.0f, 1.0f);
        second[i] = stream.Uniform(0.0f, 1.0f);
      }
      DenseUpdate(f.shape, f.input, f.delta.data(),
                  {.kind = UpdateKind::kStore, .first = gradient.data()},
                  {.x = gradient.data(), .weights = 0, .bias = bias}, f.scratch.data());
      for (const UpdateKind kind :
           {UpdateKind::kSgd, UpdateKind::kMomentum, UpdateKind::kNesterov, UpdateKind::kAdam,
            UpdateKind::kRmsProp, UpdateKind::kRmsPropMomentum, UpdateKind::kQuasiGlobal,
            UpdateKind::kBackprop}) {
        FlatVector x1 = x.Clone(), m1 = first.Clone(), v1 = second.Clone();
        FlatVector x2 = x.Clone(), m2 = first.Clone(), v2 = second.Clone();
        UpdateRule rule{.kind = kind,
                        .step = 0.01f,
                        .decay = 0.9f,
                        .beta1 = 0.9f,
                        .beta2 = 0.999f,
                        .epsilon = 1e-7f,
                        .l2 = 0.01f,
                        .keep = 0.999f};
        rule.first = m1.data();
        rule.second = v1.data();
        DenseUpdate(f.shape, f.input, f.delta.data(), rule,
                    {.x = x1.data(), .weights = 0, .bias = bias}, f.scratch.data());
        rule.first = m2.data();
        rule.second = v2.data();
        ApplyUpdate(rule, 0, gradient.view(), x2.view(), f.shape.numerics);
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(x1[i], x2[i]) << i << " rule " << static_cast<int>(kind);
          ASSERT_EQ(m1[i], m2[i]) << i;
          ASSERT_EQ(v1[i], v2[i]) << i;
        }
      }
    }
  });
}

TEST(DenseProperty, ReluLetsNanThrough) {
  AtEveryLevel([] {
    const float weight = 1;
    const float bias = std::numeric_limits<float>::quiet_NaN();
    FlatVector in(16), out(16), scratch(DenseScratchSize(1));
    DenseForward({.inputs = 1, .units = 1, .batch = 1}, {.activations = in.data()}, &weight, &bias,
                 Epilogue::kRelu, scratch.data(), out.data());
    EXPECT_TRUE(std::isnan(out[0]));
  });
}

// Threads share a layer by units, or the gradient of its input by inputs: not a bit may change.
TEST(DenseProperty, RangesOfALayerEqualTheWhole) {
  AtEveryLevel([] {
    for (const DenseCase& c : DenseCases()) {
      SCOPED_TRACE(c.Name());
      DenseLayer f(c);
      const auto [inputs, units, padded] = std::tuple(f.shape.inputs, f.shape.units, f.padded);
      FlatVector whole(units * padded), parts(units * padded);
      DenseForward(f.shape, f.input, f.weights(), f.bias.data(), Epilogue::kRelu, f.scratch.data(),
                   whole.data());
      FlatVector gradient(units * (inputs + 1)), pieces(units * (inputs + 1));
      const std::size_t bias = units * inputs;
      DenseUpdate(f.shape, f.input, f.delta.data(),
                  {.kind = UpdateKind::kStore, .first = gradient.data()},
                  {.x = gradient.data(), .weights = 0, .bias = bias}, f.scratch.data());
      for (std::size_t u = 0; u < units; u += 5) {
        DenseShape range = f.shape;
        range.units = std::min<std::size_t>(5, units - u);
        DenseForward(range, f.input, f.weights() + u * inputs, f.bias.data() + u, Epilogue::kRelu,
                     f.scratch.data(), parts.data() + u * padded);
        DenseUpdate(range, f.input, f.delta.data() + u * padded,
                    {.kind = UpdateKind::kStore, .first = pieces.data()},
                    {.x = pieces.data(), .weights = u * inputs, .bias = bias + u},
                    f.scratch.data());
      }
      FlatVector before(inputs * padded), joined(inputs * padded);
      DenseBackward(f.shape, f.weights(), f.delta.data(), f.activations().data(), before.data());
      for (std::size_t k = 0; k < inputs; k += 7) {
        DenseShape range = f.shape;
        range.inputs = std::min<std::size_t>(7, inputs - k);
        range.weight_stride = inputs;
        DenseBackward(range, f.weights() + k, f.delta.data(), f.activations().data() + k * padded,
                      joined.data() + k * padded);
      }
      const auto same = [](const FlatVector& a, const FlatVector& b) {
        return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
      };
      EXPECT_TRUE(same(whole, parts));
      EXPECT_TRUE(same(gradient, pieces));
      EXPECT_TRUE(same(before, joined));
    }
  });
}

// What one level computes for a case: everything, one vector behind the other.
std::vector<float> Everything(const DenseCase& c) {
  DenseLayer f(c);
  FlatVector out(f.shape.units * f.padded);
  DenseForward(f.shape, f.input, f.weights(), f.bias.data(), Epilogue::kRelu, f.scratch.data(),
               out.data());
  FlatVector before(f.shape.inputs * f.padded);
  DenseBackward(f.shape, f.weights(), f.delta.data(), f.activations().data(), before.data());
  const std::size_t size = f.shape.units * (f.shape.inputs + 1);
  FlatVector x(size), m(size), v(size);
  Stream stream(13, 0, Purpose::kTest);
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = stream.Uniform(-1.0f, 1.0f);
    m[i] = stream.Uniform(-1.0f, 1.0f);
    v[i] = stream.Uniform(0.0f, 1.0f);
  }
  DenseUpdate(f.shape, f.input, f.delta.data(),
              {.kind = UpdateKind::kAdam,
               .step = 0.01f,
               .beta1 = 0.9f,
               .beta2 = 0.999f,
               .epsilon = 1e-7f,
               .first = m.data(),
               .second = v.data()},
              {.x = x.data(), .weights = 0, .bias = f.shape.units * f.shape.inputs},
              f.scratch.data());
  std::vector<float> all;
  for (std::size_t u = 0; u < f.shape.units; ++u) {
    all.insert(all.end(), out.data() + u * f.padded, out.data() + u * f.padded + f.shape.batch);
  }
  for (const FlatVector* one : {&before, &x, &m, &v}) {
    all.insert(all.end(), one->view().begin(), one->view().end());
  }
  return all;
}

TEST(DenseProperty, PortableNumericsHaveTheSameBitsAtEveryLevel) {
  for (const DenseCase& c : DenseCases()) {
    if (c.shape.numerics != Numerics::kPortable) continue;
    SCOPED_TRACE(c.Name());
    std::vector<float> first;
    AtEveryLevel([&] {
      const std::vector<float> all = Everything(c);
      if (first.empty()) first = all;
      ASSERT_EQ(std::memcmp(first.data(), all.data(), all.size() * sizeof(float)), 0);
    });
  }
}

// The order of portable sums is that of these loops, nothing fused.
TEST(DenseProperty, PortableNumericsEqualPlainLoopsBitForBit) {
  AtEveryLevel([] {
    for (const DenseCase& c : DenseCases()) {
      if (c.shape.numerics != Numerics::kPortable || c.form != DenseCase::Form::kFeatures) continue;
      SCOPED_TRACE(c.Name());
      DenseLayer f(c);
      const float* input = f.activations().data();
      FlatVector out(f.shape.units * f.padded);
      DenseForward(f.shape, f.input, f.weights(), f.bias.data(), Epilogue::kLinear,
                   f.scratch.data(), out.data());
      FlatVector gradient(f.shape.units * (f.shape.inputs + 1));
      const std::size_t bias = f.shape.units * f.shape.inputs;
      DenseUpdate(f.shape, f.input, f.delta.data(),
                  {.kind = UpdateKind::kStore, .first = gradient.data()},
                  {.x = gradient.data(), .weights = 0, .bias = bias}, f.scratch.data());
      for (std::size_t u = 0; u < f.shape.units; ++u) {
        float db = 0;
        for (std::size_t b = 0; b < f.shape.batch; ++b) {
          db += f.delta[u * f.padded + b];
          float y = f.bias[u];
          for (std::size_t k = 0; k < f.shape.inputs; ++k) {
            y += f.weights()[u * f.shape.inputs + k] * input[k * f.padded + b];
          }
          ASSERT_EQ(out[u * f.padded + b], y);
        }
        ASSERT_EQ(gradient[bias + u], db);
        for (std::size_t k = 0; k < f.shape.inputs; ++k) {
          float dw = 0;
          for (std::size_t b = 0; b < f.shape.batch; ++b) {
            dw += f.delta[u * f.padded + b] * input[k * f.padded + b];
          }
          ASSERT_EQ(gradient[u * f.shape.inputs + k], dw);
        }
      }
    }
  });
}

}  // namespace
}  // namespace covey::tensor::dense_test
