// Every dense kernel at every level against plain loops in double, over odd shapes.
#include "covey/tensor/dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "covey/base/random.h"
#include "support/levels.h"

namespace covey::tensor {
namespace {

using test::AtEveryLevel;

// Float sums of a few hundred terms of size 1 against double ones.
constexpr double kTolerance = 2e-5;

struct Case {
  DenseShape shape;
  bool bytes = false;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const bool bytes : {false, true}) {
    for (const DenseShape& shape : std::initializer_list<DenseShape>{{1, 1, 1},
                                                                     {13, 1, 3},
                                                                     {1, 13, 16},
                                                                     {7, 12, 17},
                                                                     {16, 4, 32},
                                                                     {112, 13, 5},
                                                                     {113, 6, 33},
                                                                     {130, 3, 48},
                                                                     {225, 14, 31},
                                                                     {49, 29, 64},
                                                                     {100, 10, 100}}) {
      cases.push_back({shape, bytes});
    }
    Stream stream(11, bytes, Purpose::kTest);
    for (int i = 0; i < 12; ++i) {
      cases.push_back({{.inputs = 1 + static_cast<std::size_t>(stream.Below(140)),
                        .units = 1 + static_cast<std::size_t>(stream.Below(30)),
                        .batch = 1 + static_cast<std::size_t>(stream.Below(70))},
                       bytes});
    }
  }
  return cases;
}

// Everything that a layer needs, drawn at random; the input as seen by the oracle is in `values`
// [inputs][batch].
struct Fixture {
  explicit Fixture(const Case& drawn)
      : shape(drawn.shape),
        padded(PaddedBatch(shape.batch)),
        weights(shape.units * shape.inputs + 1),
        bias(shape.units),
        activations(shape.inputs * padded),
        delta(shape.units * padded),
        scratch(DenseScratchSize(shape.batch)) {
    Stream stream(3, static_cast<std::uint32_t>(shape.inputs), Purpose::kTest);
    for (float& w : weights.view()) w = stream.Uniform(-1.0f, 1.0f);
    for (float& b : bias.view()) b = stream.Uniform(-1.0f, 1.0f);
    for (float& a : activations.view()) a = std::max(stream.Uniform(-1.0f, 1.0f), 0.0f);
    for (std::size_t u = 0; u < shape.units; ++u) {
      for (std::size_t b = 0; b < shape.batch; ++b) {
        delta[u * padded + b] = stream.Uniform(-1.0f, 1.0f);
      }
    }
    input.activations = activations.data();
    if (!drawn.bytes) return;
    // One allocation a row, of exactly its size, so that a sanitizer sees any read past its end.
    for (std::size_t b = 0; b < shape.batch; ++b) {
      bytes.emplace_back(shape.inputs);
      for (auto& byte : bytes.back()) byte = static_cast<std::uint8_t>(stream.Next32());
    }
    for (std::size_t b = 0; b < padded; ++b) rows.push_back(bytes[b < shape.batch ? b : 0].data());
    input = {.rows = rows.data(), .scale = 1.0f / 255, .offset = -0.25f};
  }

  double Value(std::size_t k, std::size_t b) const {
    if (input.activations != nullptr) return static_cast<double>(activations[k * padded + b]);
    return bytes[b][k] * static_cast<double>(input.scale) + static_cast<double>(input.offset);
  }

  // At an odd address: rows of weights are not aligned in general.
  float* Weights() { return weights.data() + 1; }

  DenseShape shape;
  std::size_t padded;
  FlatVector weights, bias, activations, delta, scratch;
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<const std::uint8_t*> rows;
  DenseInput input;
};

std::string NameOf(const Case& c) {
  return std::to_string(c.shape.inputs) + "-" + std::to_string(c.shape.units) + " x " +
         std::to_string(c.shape.batch) + (c.bytes ? " bytes" : " floats");
}

TEST(DenseProperty, ForwardEqualsOracle) {
  AtEveryLevel([] {
    for (const Case& c : Cases()) {
      SCOPED_TRACE(NameOf(c));
      Fixture f(c);
      for (const Epilogue epilogue : {Epilogue::kLinear, Epilogue::kRelu}) {
        FlatVector out(f.shape.units * f.padded);
        DenseForward(f.shape, f.input, f.Weights(), f.bias.data(), epilogue, f.scratch.data(),
                     out.data());
        for (std::size_t u = 0; u < f.shape.units; ++u) {
          for (std::size_t b = 0; b < f.shape.batch; ++b) {
            double sum = static_cast<double>(f.bias[u]);
            for (std::size_t k = 0; k < f.shape.inputs; ++k) {
              sum += static_cast<double>(f.Weights()[u * f.shape.inputs + k]) * f.Value(k, b);
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
    for (const Case& c : Cases()) {
      if (c.bytes) continue;
      SCOPED_TRACE(NameOf(c));
      Fixture f(c);
      for (const bool masked : {false, true}) {
        FlatVector out(f.shape.inputs * f.padded);
        DenseBackward(f.shape, f.Weights(), f.delta.data(), masked ? f.activations.data() : nullptr,
                      out.data());
        for (std::size_t k = 0; k < f.shape.inputs; ++k) {
          for (std::size_t b = 0; b < f.padded; ++b) {
            double sum = 0;
            for (std::size_t u = 0; u < f.shape.units; ++u) {
              sum += static_cast<double>(f.Weights()[u * f.shape.inputs + k]) *
                     static_cast<double>(f.delta[u * f.padded + b]);
            }
            if (masked && f.activations[k * f.padded + b] <= 0) sum = 0;
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
    for (const Case& c : Cases()) {
      SCOPED_TRACE(NameOf(c));
      Fixture f(c);
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
    for (const Case& c : Cases()) {
      SCOPED_TRACE(NameOf(c));
      Fixture f(c);
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
           {UpdateKind::kSgd, UpdateKind::kMomentum, UpdateKind::kAdam, UpdateKind::kQuasiGlobal}) {
        FlatVector x1 = x.Clone(), m1 = first.Clone(), v1 = second.Clone();
        FlatVector x2 = x.Clone(), m2 = first.Clone(), v2 = second.Clone();
        UpdateRule rule{.kind = kind,
                        .step = 0.01f,
                        .decay = 0.9f,
                        .beta1 = 0.9f,
                        .beta2 = 0.999f,
                        .epsilon = 1e-7f};
        rule.first = m1.data();
        rule.second = v1.data();
        DenseUpdate(f.shape, f.input, f.delta.data(), rule,
                    {.x = x1.data(), .weights = 0, .bias = bias}, f.scratch.data());
        rule.first = m2.data();
        rule.second = v2.data();
        ApplyUpdate(rule, 0, gradient.view(), x2.view());
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(x1[i], x2[i]) << i << " rule " << static_cast<int>(kind);
          ASSERT_EQ(m1[i], m2[i]) << i;
          ASSERT_EQ(v1[i], v2[i]) << i;
        }
      }
    }
  });
}

TEST(DenseProperty, SoftmaxCrossEntropyEqualsOracle) {
  AtEveryLevel([] {
    Stream stream(5, 0, Purpose::kTest);
    for (const std::size_t classes : {2u, 3u, 10u, 17u}) {
      for (const std::size_t batch : {1u, 5u, 16u, 31u, 32u, 70u}) {
        const std::size_t padded = PaddedBatch(batch);
        FlatVector logits(classes * padded);
        for (float& logit : logits.view()) logit = stream.Uniform(-20.0f, 20.0f);
        std::vector<std::uint32_t> labels(batch);
        for (auto& label : labels) label = static_cast<std::uint32_t>(stream.Below(classes));
        FlatVector kept = logits.Clone();
        const float scale = 1.0f / static_cast<float>(batch);
        const auto seen = SoftmaxCrossEntropy(classes, batch, labels.data(), 0, kept.data());
        FlatVector delta = logits.Clone();
        const auto result = SoftmaxCrossEntropy(classes, batch, labels.data(), scale, delta.data());
        double loss = 0;
        std::uint32_t correct = 0;
        for (std::size_t b = 0; b < batch; ++b) {
          std::vector<double> y(classes);
          for (std::size_t k = 0; k < classes; ++k)
            y[k] = static_cast<double>(logits[k * padded + b]);
          const auto top = std::max_element(y.begin(), y.end());
          double sum = 0;
          for (const double value : y) sum += std::exp(value - *top);
          loss += std::log(sum) + *top - y[labels[b]];
          correct += top - y.begin() == static_cast<std::ptrdiff_t>(labels[b]) ? 1u : 0u;
          for (std::size_t k = 0; k < classes; ++k) {
            const double p = std::exp(y[k] - *top) / sum - (k == labels[b] ? 1 : 0);
            ASSERT_NEAR(static_cast<double>(delta[k * padded + b]), static_cast<double>(scale) * p,
                        5e-7 * static_cast<double>(scale))
                << k << " " << b;
          }
        }
        EXPECT_NEAR(result.loss_sum, loss, 1e-5 * static_cast<double>(batch));
        EXPECT_EQ(result.correct, correct);
        EXPECT_EQ(seen.loss_sum, result.loss_sum);
        EXPECT_EQ(seen.correct, correct);
        for (std::size_t i = 0; i < logits.size(); ++i) ASSERT_EQ(kept[i], logits[i]);
        for (std::size_t k = 0; k < classes; ++k) {
          for (std::size_t b = batch; b < padded; ++b) ASSERT_EQ(delta[k * padded + b], 0.0f);
        }
      }
    }
  });
}

TEST(DenseProperty, AnyLogitThatIsNotFiniteSpoilsTheLoss) {
  AtEveryLevel([] {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t b = 0; b < 18; ++b) {
          FlatVector logits(3 * PaddedBatch(18));
          logits[k * PaddedBatch(18) + b] = bad;
          const std::vector<std::uint32_t> labels(18, 1);
          const auto result = SoftmaxCrossEntropy(3, 18, labels.data(), 1, logits.data());
          EXPECT_FALSE(std::isfinite(result.loss_sum)) << bad << " " << k << " " << b;
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

TEST(DenseProperty, TiesGoToTheLowerClass) {
  AtEveryLevel([] {
    FlatVector logits(3 * 16);
    const std::uint32_t labels[] = {0, 0, 1, 2};
    EXPECT_EQ(SoftmaxCrossEntropy(3, 4, labels, 0, logits.data()).correct, 2u);
  });
}

}  // namespace
}  // namespace covey::tensor
