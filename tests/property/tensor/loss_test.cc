// Every loss at every level and in both numerics against plain loops in double.
#include "covey/tensor/loss.h"

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

namespace covey::tensor::loss_test {
namespace {

using test::AtEveryLevel;

enum class Kind { kSparse, kTargets, kBinary, kSquared, kHuber };
constexpr Kind kKinds[] = {Kind::kSparse, Kind::kTargets, Kind::kBinary, Kind::kSquared,
                           Kind::kHuber};
constexpr HuberDelta kDelta{0.75f};

struct Case {
  Kind kind = Kind::kSparse;
  std::size_t outputs = 0;
  std::size_t batch = 0;
  bool weighted = false;
  Numerics numerics = Numerics::kFast;

  std::string Name() const {
    return "kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(outputs) +
           " x " + std::to_string(batch) + (weighted ? " weighted " : " ") +
           std::string(tensor::Name(numerics));
  }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Kind kind : kKinds) {
    for (const std::size_t outputs : {1u, 2u, 10u, 17u}) {
      if (kind <= Kind::kTargets && outputs == 1) continue;
      for (const std::size_t batch : {1u, 5u, 16u, 31u, 70u}) {
        for (const bool weighted : {false, true}) {
          for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
            cases.push_back({kind, outputs, batch, weighted, numerics});
          }
        }
      }
    }
  }
  return cases;
}

class Drawn {
 public:
  explicit Drawn(const Case& drawn)
      : c(drawn),
        padded(PaddedBatch(c.batch)),
        outputs(c.outputs * padded),
        targets(c.outputs * padded),
        labels(c.batch),
        weights(c.batch) {
    Stream stream(5, static_cast<std::uint32_t>(c.outputs), Purpose::kTest);
    const float range = c.kind <= Kind::kBinary ? 20.0f : 2.0f;
    for (float& y : outputs.view()) y = stream.Uniform(-range, range);
    for (float& t : targets.view()) t = stream.Uniform(0.0f, 1.0f);
    for (auto& label : labels) label = static_cast<std::uint32_t>(stream.Below(c.outputs));
    for (float& w : weights) w = stream.Uniform(0.0f, 3.0f);
  }

  // Runs the loss over `y` in place.
  LossSum Run(float scale, FlatVector& y) const {
    const LossBatch batch{.outputs = c.outputs,
                          .batch = c.batch,
                          .scale = scale,
                          .weights = c.weighted ? weights.data() : nullptr,
                          .numerics = c.numerics};
    switch (c.kind) {
      case Kind::kSparse:
        return SoftmaxCrossEntropy(batch, labels.data(), y.data());
      case Kind::kTargets:
        return SoftmaxCrossEntropyTargets(batch, targets.data(), y.data());
      case Kind::kBinary:
        return BinaryCrossEntropy(batch, targets.data(), y.data());
      case Kind::kSquared:
        return MeanSquaredError(batch, targets.data(), y.data());
      case Kind::kHuber:
        return Huber(batch, kDelta, targets.data(), y.data());
    }
    return {};
  }

  const Case c;
  std::size_t padded;
  FlatVector outputs, targets;
  std::vector<std::uint32_t> labels;
  std::vector<float> weights;
};

struct Sample {
  double loss = 0;
  bool correct = false;
  std::vector<double> gradient;
};

std::size_t Greatest(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

Sample SoftmaxOracle(const std::vector<double>& y, const std::vector<double>& t) {
  Sample sample;
  double sum = 0, total = 0;
  const double top = y[Greatest(y)];
  for (const double value : y) sum += std::exp(value - top);
  for (const double value : t) total += value;
  for (std::size_t k = 0; k < y.size(); ++k) {
    sample.loss -= t[k] * (y[k] - top - std::log(sum));
    sample.gradient.push_back(total * std::exp(y[k] - top) / sum - t[k]);
  }
  sample.correct = Greatest(y) == Greatest(t);
  return sample;
}

Sample ElementwiseOracle(Kind kind, const std::vector<double>& y, const std::vector<double>& t) {
  const auto count = static_cast<double>(y.size());
  const auto delta = static_cast<double>(kDelta.value);
  Sample sample;
  sample.correct = kind == Kind::kBinary;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double e = y[k] - t[k];
    double loss = 0, slope = 0;
    if (kind == Kind::kBinary) {
      const double s = 1 / (1 + std::exp(-y[k]));
      loss = t[k] * std::log1p(std::exp(-y[k])) + (1 - t[k]) * std::log1p(std::exp(y[k]));
      slope = s - t[k];
      sample.correct = sample.correct && (y[k] > 0) == (t[k] > 0.5);
    } else if (kind == Kind::kSquared) {
      loss = e * e;
      slope = 2 * e;
    } else {
      const bool inside = std::abs(e) <= delta;
      loss = inside ? e * e / 2 : delta * (std::abs(e) - delta / 2);
      slope = inside ? e : std::copysign(delta, e);
    }
    sample.loss += loss / count;
    sample.gradient.push_back(slope / count);
  }
  return sample;
}

Sample Oracle(const Drawn& drawn, std::size_t b) {
  std::vector<double> y, t;
  for (std::size_t k = 0; k < drawn.c.outputs; ++k) {
    y.push_back(static_cast<double>(drawn.outputs[k * drawn.padded + b]));
    t.push_back(drawn.c.kind == Kind::kSparse
                    ? (k == drawn.labels[b] ? 1.0 : 0.0)
                    : static_cast<double>(drawn.targets[k * drawn.padded + b]));
  }
  return drawn.c.kind <= Kind::kTargets ? SoftmaxOracle(y, t)
                                        : ElementwiseOracle(drawn.c.kind, y, t);
}

TEST(LossProperty, EqualsOracle) {
  AtEveryLevel([] {
    for (const Case& c : Cases()) {
      SCOPED_TRACE(c.Name());
      const Drawn drawn(c);
      const double scale = 1.0 / static_cast<double>(c.batch);
      FlatVector gradient = drawn.outputs.Clone();
      const LossSum result = drawn.Run(static_cast<float>(scale), gradient);
      FlatVector kept = drawn.outputs.Clone();
      const LossSum seen = drawn.Run(0, kept);
      double loss = 0, size = 0;
      std::uint32_t correct = 0;
      for (std::size_t b = 0; b < c.batch; ++b) {
        const Sample sample = Oracle(drawn, b);
        const double w = c.weighted ? static_cast<double>(drawn.weights[b]) : 1;
        loss += w * sample.loss;
        size += w * (20 + sample.loss);
        correct += sample.correct ? 1u : 0u;
        for (std::size_t k = 0; k < c.outputs; ++k) {
          ASSERT_NEAR(static_cast<double>(gradient[k * drawn.padded + b]),
                      scale * w * sample.gradient[k],
                      1e-6 * scale * w * static_cast<double>(c.outputs))
              << k << " " << b;
        }
      }
      EXPECT_NEAR(result.loss_sum, loss, 1e-6 * size);
      EXPECT_EQ(result.correct, correct);
      EXPECT_EQ(seen.loss_sum, result.loss_sum);
      EXPECT_EQ(seen.correct, correct);
      for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], drawn.outputs[i]);
      for (std::size_t k = 0; k < c.outputs; ++k) {
        for (std::size_t b = c.batch; b < drawn.padded; ++b) {
          ASSERT_EQ(gradient[k * drawn.padded + b], 0.0f) << k << " " << b;
        }
      }
    }
  });
}

TEST(LossProperty, PortableNumericsHaveTheSameBitsAtEveryLevel) {
  for (const Case& c : Cases()) {
    if (c.numerics != Numerics::kPortable) continue;
    SCOPED_TRACE(c.Name());
    const Drawn drawn(c);
    FlatVector first;
    double loss = 0;
    AtEveryLevel([&] {
      FlatVector y = drawn.outputs.Clone();
      const double sum = drawn.Run(0.01f, y).loss_sum;
      if (first.size() == 0) first = y.Clone(), loss = sum;
      EXPECT_EQ(sum, loss);
      ASSERT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0);
    });
  }
}

TEST(LossProperty, AnyOutputThatIsNotFiniteSpoilsTheLoss) {
  AtEveryLevel([] {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      for (const Kind kind : kKinds) {
        for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
          const Drawn drawn({.kind = kind, .outputs = 3, .batch = 18, .numerics = numerics});
          for (std::size_t k = 0; k < 3; ++k) {
            for (std::size_t b = 0; b < 18; ++b) {
              FlatVector y = drawn.outputs.Clone();
              y[k * drawn.padded + b] = bad;
              EXPECT_FALSE(std::isfinite(drawn.Run(1, y).loss_sum))
                  << drawn.c.Name() << " " << bad << " " << k << " " << b;
            }
          }
        }
      }
    }
  });
}

TEST(LossProperty, WhatLiesInThePaddingDoesNotMatter) {
  AtEveryLevel([] {
    for (const Kind kind : kKinds) {
      const Drawn drawn({.kind = kind, .outputs = 3, .batch = 17});
      FlatVector clean = drawn.outputs.Clone();
      FlatVector dirty = drawn.outputs.Clone();
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t b = 17; b < drawn.padded; ++b) dirty[k * drawn.padded + b] = 3e38f;
      }
      EXPECT_EQ(drawn.Run(1, clean).loss_sum, drawn.Run(1, dirty).loss_sum);
      for (std::size_t i = 0; i < clean.size(); ++i) ASSERT_EQ(clean[i], dirty[i]);
    }
  });
}

TEST(LossProperty, LargeLogitsDoNotOverflow) {
  AtEveryLevel([] {
    for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
      FlatVector y(16), t(16);
      y[0] = 1e30f;
      y[1] = -1e30f;
      t[0] = 1;
      const LossBatch batch{.outputs = 1, .batch = 2, .scale = 1, .numerics = numerics};
      EXPECT_EQ(BinaryCrossEntropy(batch, t.data(), y.data()).loss_sum, 0);
      EXPECT_EQ(y[0], 0);
      EXPECT_EQ(y[1], 0);
    }
  });
}

TEST(LossProperty, TiesGoToTheLowerClass) {
  AtEveryLevel([] {
    FlatVector logits(3 * 16);
    const std::uint32_t labels[] = {0, 0, 1, 2};
    EXPECT_EQ(SoftmaxCrossEntropy({.outputs = 3, .batch = 4}, labels, logits.data()).correct, 2u);
  });
}

TEST(LossDeathTest, ALabelBeyondTheClassesIsAProgrammersError) {
  FlatVector logits(3 * 16);
  const std::uint32_t label = 3;
  EXPECT_DEATH(SoftmaxCrossEntropy({.outputs = 3, .batch = 1}, &label, logits.data()), "3");
}

TEST(LossDeathTest, HuberWantsAPositiveDelta) {
  FlatVector y(16), t(16);
  EXPECT_DEATH(Huber({.outputs = 1, .batch = 1}, {0.0f}, t.data(), y.data()), "delta");
}

}  // namespace
}  // namespace covey::tensor::loss_test
