// The fast gradient of small perceptrons against plain loops in double, and against itself over
// levels, threads and ways to give samples.
#include "covey/tensor/small_mlp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/kernels.h"
#include "support/levels.h"
#include "support/scrambled_tasks.h"

namespace covey::tensor::small_mlp_test {
namespace {

using test::AtEveryLevel;
using Loss = SmallMlpShape::Loss;

constexpr Curve kCurves[] = {Curve::kLinear, Curve::kRelu,    Curve::kLeakyRelu,
                             Curve::kTanh,   Curve::kSigmoid, Curve::kHardSigmoid};

double Value(Curve curve, double y) {
  switch (curve) {
    case Curve::kLinear:
      return y;
    case Curve::kRelu:
      return std::max(y, 0.0);
    case Curve::kLeakyRelu:
      return y < 0 ? 0.01 * y : y;
    case Curve::kTanh:
      return std::tanh(y);
    case Curve::kSigmoid:
      return 1 / (1 + std::exp(-y));
    case Curve::kHardSigmoid:
      return std::clamp(0.2 * y + 0.5, 0.0, 1.0);
  }
  return 0;
}

double Slope(Curve curve, double y) {
  switch (curve) {
    case Curve::kLinear:
      return 1;
    case Curve::kRelu:
      return y > 0 ? 1 : 0;
    case Curve::kLeakyRelu:
      return y > 0 ? 1 : 0.01;
    case Curve::kTanh:
      return 1 - std::tanh(y) * std::tanh(y);
    case Curve::kSigmoid:
      return Value(curve, y) * (1 - Value(curve, y));
    case Curve::kHardSigmoid:
      return y > -2.5 && y <= 2.5 ? 0.2 : 0;
  }
  return 0;
}

struct Problem {
  SmallMlpShape shape;
  std::vector<float> x = {}, values = {}, targets = {};
  std::vector<std::uint32_t> labels = {};

  std::size_t outputs() const { return shape.layers.back().units; }
  SampleSet set(std::size_t count) const {
    return {.values = values.data(),
            .targets = targets.data(),
            .labels = labels.data(),
            .count = count};
  }
};

Problem Make(const SmallMlpShape& shape, std::size_t samples, std::uint64_t seed) {
  Problem problem{.shape = shape};
  Stream stream(seed, 0, Purpose::kTest);
  std::size_t inputs = shape.inputs;
  for (const auto& layer : shape.layers) {
    const float width = 2 / std::sqrt(static_cast<float>(inputs));
    for (std::size_t i = 0; i < (inputs + 1) * layer.units; ++i) {
      problem.x.push_back(stream.Uniform(-width, width));
    }
    inputs = layer.units;
  }
  for (std::size_t i = 0; i < samples * shape.inputs; ++i) {
    problem.values.push_back(stream.Uniform(-1.0f, 1.0f));
  }
  for (std::size_t i = 0; i < samples * inputs; ++i) {
    problem.targets.push_back(stream.Uniform(-1.0f, 1.0f));
  }
  for (std::size_t i = 0; i < samples; ++i) {
    problem.labels.push_back(static_cast<std::uint32_t>(stream.Below(inputs)));
  }
  return problem;
}

struct Plain {
  double loss = 0;  // sum
  std::uint64_t correct = 0;
  std::vector<double> gradient;  // of the mean
};

// Adds one sample's loss. Returns: the gradient of its mean by the last layer's outputs.
std::vector<double> PlainLoss(const Problem& p, std::size_t i, const std::vector<double>& y,
                              Plain& plain) {
  std::vector<double> delta(y.size());
  const double outputs = static_cast<double>(y.size());
  if (p.shape.loss == Loss::kMeanSquaredError) {
    for (std::size_t c = 0; c < y.size(); ++c) {
      const double error = y[c] - static_cast<double>(p.targets[i * y.size() + c]);
      plain.loss += error * error / outputs;
      delta[c] = 2 * error / outputs;
    }
    return delta;
  }
  const auto greatest = std::max_element(y.begin(), y.end());
  double sum = 0;
  for (const double one : y) sum += std::exp(one - *greatest);
  plain.loss += std::log(sum) + *greatest - y[p.labels[i]];
  plain.correct += greatest - y.begin() == static_cast<std::ptrdiff_t>(p.labels[i]) ? 1u : 0u;
  for (std::size_t c = 0; c < y.size(); ++c) {
    delta[c] = std::exp(y[c] - *greatest) / sum - (c == p.labels[i] ? 1 : 0);
  }
  return delta;
}

void PlainSample(const Problem& p, std::size_t i, double share, Plain& plain) {
  std::vector<std::vector<double>> sums, outputs;
  const float* sample = p.values.data() + i * p.shape.inputs;
  outputs.emplace_back(sample, sample + p.shape.inputs);
  std::vector<std::size_t> offsets;
  std::size_t at = 0;
  for (const auto& layer : p.shape.layers) {
    const std::vector<double>& in = outputs.back();
    std::vector<double> sum(layer.units), out(layer.units);
    for (std::size_t u = 0; u < layer.units; ++u) {
      sum[u] = static_cast<double>(p.x[at + layer.units * in.size() + u]);
      for (std::size_t k = 0; k < in.size(); ++k) {
        sum[u] += static_cast<double>(p.x[at + u * in.size() + k]) * in[k];
      }
      out[u] = Value(layer.curve, sum[u]);
    }
    offsets.push_back(at);
    at += layer.units * (in.size() + 1);
    sums.push_back(std::move(sum));
    outputs.push_back(std::move(out));
  }
  std::vector<double> delta = PlainLoss(p, i, outputs.back(), plain);
  for (std::size_t l = p.shape.layers.size(); l-- > 0;) {
    const std::vector<double>& in = outputs[l];
    std::vector<double> before(in.size());
    for (std::size_t u = 0; u < delta.size(); ++u) {
      const double d = delta[u] * Slope(p.shape.layers[l].curve, sums[l][u]);
      for (std::size_t k = 0; k < in.size(); ++k) {
        const std::size_t weight = offsets[l] + u * in.size() + k;
        plain.gradient[weight] += share * d * in[k];
        before[k] += d * static_cast<double>(p.x[weight]);
      }
      plain.gradient[offsets[l] + delta.size() * in.size() + u] += share * d;
    }
    delta = std::move(before);
  }
}

Plain RunPlain(const Problem& p, std::size_t count) {
  Plain plain{.gradient = std::vector<double>(p.x.size())};
  for (std::size_t i = 0; i < count; ++i)
    PlainSample(p, i, 1.0 / static_cast<double>(count), plain);
  return plain;
}

void ExpectAsPlain(const Problem& p, std::size_t count) {
  const Plain plain = RunPlain(p, count);
  SmallMlp mlp(p.shape, 1);
  SerialTasks tasks;
  ASSERT_EQ(mlp.parameters(), p.x.size());
  std::vector<float> gradient(p.x.size());
  const LossSum loss = mlp.Gradient(p.x, p.set(count), tasks, gradient);
  EXPECT_NEAR(loss.loss_sum, plain.loss, 2e-6 * (1 + plain.loss));
  EXPECT_EQ(mlp.Loss(p.x, p.set(count), tasks).loss_sum, loss.loss_sum);
  EXPECT_EQ(loss.correct, plain.correct);
  double size = 0;
  for (const double one : plain.gradient) size = std::max(size, std::abs(one));
  EXPECT_GT(size, 0);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(gradient[i]), plain.gradient[i], 1e-5 * (size + 0.01)) << i;
  }
}

TEST(SmallMlp, IsAsPlainLoopsForEveryCurveAndLoss) {
  AtEveryLevel([] {
    std::uint64_t seed = 0;
    for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
      for (const Curve curve : kCurves) {
        for (const Curve last : kCurves) {
          SCOPED_TRACE(static_cast<int>(curve) * 10 + static_cast<int>(last));
          ExpectAsPlain(
              Make({.inputs = 5, .layers = {{11, curve}, {3, last}}, .numerics = numerics}, 40,
                   ++seed),
              40);
        }
        ExpectAsPlain(Make({.inputs = 6,
                            .layers = {{19, curve}, {4, Curve::kLinear}},
                            .loss = Loss::kSoftmaxCrossEntropy,
                            .numerics = numerics},
                           75, ++seed),
                      75);
      }
    }
  });
}

// Every width of a tile and its rests: units and inputs around multiples of vectors, of tiles and
// of four rows.
TEST(SmallMlp, IsAsPlainLoopsForEveryWidth) {
  AtEveryLevel([] {
    std::uint64_t seed = 100;
    for (const std::size_t width : {1u,  2u,  4u,  5u,  7u,  8u,  9u,  15u, 16u,  17u,  31u,
                                    33u, 47u, 49u, 63u, 65u, 79u, 95u, 97u, 111u, 113u, 129u}) {
      SCOPED_TRACE(width);
      ExpectAsPlain(Make({.inputs = width, .layers = {{3, Curve::kTanh}, {2, {}}}}, 33, ++seed),
                    33);
      ExpectAsPlain(Make({.inputs = 3, .layers = {{width, Curve::kTanh}, {2, {}}}}, 31, ++seed),
                    31);
      ExpectAsPlain(Make({.inputs = 2, .layers = {{5, Curve::kTanh}, {width, {}}}}, 32, ++seed),
                    32);
    }
  });
}

TEST(SmallMlp, IsAsPlainLoopsForDeepNetsAndManyParts) {
  SmallMlpShape deep{.inputs = 4};
  for (std::size_t l = 0; l + 1 < kSmallMlpLayers; ++l) {
    deep.layers.push_back({.units = 6 + l, .curve = Curve::kTanh});
  }
  deep.layers.push_back({.units = 2, .curve = Curve::kSigmoid});
  ExpectAsPlain(Make(deep, 1, 1), 1);
  ExpectAsPlain(Make(deep, 513, 2), 513);
  ExpectAsPlain(Make({.inputs = 3, .layers = {{4, Curve::kTanh}, {1, {}}}}, 40'000, 3), 40'000);
}

// 7 workers in any order: the same bits as one.
TEST(SmallMlp, GivesTheSameBitsForAnyNumberOfThreads) {
  AtEveryLevel([] {
    const Problem p =
        Make({.inputs = 13, .layers = {{100, Curve::kSigmoid}, {8, Curve::kSigmoid}}}, 3000, 5);
    SmallMlp one(p.shape, 1);
    SerialTasks serial;
    std::vector<float> expected(p.x.size());
    const double loss = one.Gradient(p.x, p.set(3000), serial, expected).loss_sum;
    for (const std::size_t width : {1u, 2u, 7u}) {
      SmallMlp many(p.shape, width);
      test::ScrambledTasks tasks(width, 17 + width);
      std::vector<float> gradient(p.x.size());
      EXPECT_EQ(many.Gradient(p.x, p.set(3000), tasks, gradient).loss_sum, loss);
      EXPECT_EQ(gradient, expected) << width;
    }
  });
}

TEST(SmallMlp, PortableNumericsGiveTheSameBitsOnEveryLevel) {
  for (const Loss kind : {Loss::kMeanSquaredError, Loss::kSoftmaxCrossEntropy}) {
    const Problem p = Make({.inputs = 13,
                            .layers = {{50, Curve::kTanh}, {20, Curve::kSigmoid}, {8, {}}},
                            .loss = kind,
                            .numerics = Numerics::kPortable},
                           700, 6);
    std::vector<std::vector<float>> gradients;
    std::vector<double> losses;
    AtEveryLevel([&] {
      SmallMlp mlp(p.shape, 1);
      SerialTasks tasks;
      gradients.emplace_back(p.x.size());
      losses.push_back(mlp.Gradient(p.x, p.set(700), tasks, gradients.back()).loss_sum);
    });
    for (const auto& gradient : gradients) EXPECT_EQ(gradient, gradients.front());
    for (const double loss : losses) EXPECT_EQ(loss, losses.front());
  }
}

TEST(SmallMlp, TakesSamplesByIndexAndOfOtherElements) {
  AtEveryLevel([] {
    for (const Element element : {Element::kUint8, Element::kInt16, Element::kFloat32}) {
      Problem p = Make({.inputs = 7, .layers = {{9, Curve::kTanh}, {2, {}}}}, 90, 8);
      Stream stream(9, 0, Purpose::kTest);
      std::vector<std::uint8_t> bytes;
      std::vector<std::int16_t> words;
      std::vector<float> floats;
      for (std::size_t i = 0; i < 90 * 7; ++i) {
        bytes.push_back(static_cast<std::uint8_t>(stream.Below(256)));
        words.push_back(static_cast<std::int16_t>(bytes.back()));
        floats.push_back(static_cast<float>(bytes.back()));
      }
      std::vector<std::uint32_t> index;
      Problem picked = p;
      for (std::uint32_t i = 0; i < 50; ++i) {
        index.push_back((i * 37) % 90);
        for (std::size_t k = 0; k < 7; ++k) {
          picked.values[i * 7 + k] = floats[index.back() * 7 + k] * 0.25f + -1.5f;
        }
        for (std::size_t c = 0; c < 2; ++c) {
          picked.targets[i * 2 + c] = p.targets[index.back() * 2 + c];
        }
      }
      SampleSet set{.values = floats.data(),
                    .element = element,
                    .scale = 0.25f,
                    .offset = -1.5f,
                    .targets = p.targets.data(),
                    .index = index.data(),
                    .count = 50};
      if (element == Element::kUint8) set.values = bytes.data();
      if (element == Element::kInt16) set.values = words.data();
      SmallMlp mlp(p.shape, 1);
      SerialTasks tasks;
      std::vector<float> gradient(p.x.size()), expected(p.x.size());
      const double loss = mlp.Gradient(p.x, set, tasks, gradient).loss_sum;
      EXPECT_EQ(loss, mlp.Gradient(p.x, picked.set(50), tasks, expected).loss_sum);
      EXPECT_EQ(gradient, expected);
    }
  });
}

TEST(SmallMlp, ANaNReachesTheLossAndLeavesNoTrace) {
  AtEveryLevel([] {
    for (const Curve curve : kCurves) {
      Problem p = Make({.inputs = 3, .layers = {{9, curve}, {2, {}}}}, 64, 10);
      const Problem clean = p;
      p.values[40 * 3 + 1] = NAN;
      SmallMlp mlp(p.shape, 1);
      SerialTasks tasks;
      std::vector<float> gradient(p.x.size()), expected(p.x.size());
      EXPECT_TRUE(std::isnan(mlp.Gradient(p.x, p.set(64), tasks, gradient).loss_sum));
      SmallMlp fresh(p.shape, 1);
      fresh.Gradient(p.x, clean.set(5), tasks, expected);
      mlp.Gradient(p.x, clean.set(5), tasks, gradient);
      EXPECT_EQ(gradient, expected) << "of rows that the next block lacks";
    }
  });
}

TEST(SmallMlp, TheLossOfNoSamplesIsZero) {
  const Problem p = Make({.inputs = 3, .layers = {{2, {}}}}, 1, 1);
  SmallMlp mlp(p.shape, 1);
  SerialTasks tasks;
  EXPECT_EQ(mlp.Loss(p.x, p.set(0), tasks).loss_sum, 0);
}

TEST(SmallMlp, LimitsHoldAtTheirEdges) {
  EXPECT_TRUE(IsSmallMlp({.inputs = 1, .layers = {{1, {}}}}));
  EXPECT_FALSE(IsSmallMlp({.inputs = 0, .layers = {{1, {}}}}));
  EXPECT_FALSE(IsSmallMlp({.inputs = 1, .layers = {{0, {}}}}));
  EXPECT_FALSE(IsSmallMlp({.inputs = 1}));
  EXPECT_TRUE(IsSmallMlp({.inputs = kSmallMlpWidth, .layers = {{kSmallMlpParameters / 513, {}}}}));
  EXPECT_FALSE(
      IsSmallMlp({.inputs = kSmallMlpWidth, .layers = {{kSmallMlpParameters / 513 + 1, {}}}}));
  EXPECT_FALSE(IsSmallMlp({.inputs = kSmallMlpWidth + 1, .layers = {{1, {}}}}));
  EXPECT_TRUE(IsSmallMlp({.inputs = 1, .layers = {{kSmallMlpWidth, {}}}}));
  EXPECT_FALSE(IsSmallMlp({.inputs = 1, .layers = {{kSmallMlpWidth + 1, {}}}}));
  SmallMlpShape deep{.inputs = 1};
  deep.layers.assign(kSmallMlpLayers, {.units = 1, .curve = Curve::kRelu});
  EXPECT_TRUE(IsSmallMlp(deep));
  deep.layers.push_back({.units = 1, .curve = Curve::kRelu});
  EXPECT_FALSE(IsSmallMlp(deep));
  EXPECT_FALSE(
      IsSmallMlp({.inputs = 1, .layers = {{2, Curve::kRelu}}, .loss = Loss::kSoftmaxCrossEntropy}));
}

TEST(SmallMlpDeathTest, WhatDoesNotFitIsAProgrammerError) {
  const Problem p = Make({.inputs = 3, .layers = {{2, {}}}}, 4, 1);
  SmallMlp mlp(p.shape, 1);
  SerialTasks tasks;
  std::vector<float> gradient(p.x.size()), less(p.x.size() - 1);
  EXPECT_DEATH(SmallMlp({.inputs = 0, .layers = {{1, {}}}}, 1), "check failed");
  EXPECT_DEATH(mlp.Gradient(less, p.set(4), tasks, gradient), "check failed");
  EXPECT_DEATH(mlp.Gradient(p.x, p.set(4), tasks, less), "check failed");
  EXPECT_DEATH(mlp.Gradient(p.x, p.set(0), tasks, gradient), "check failed");
  EXPECT_DEATH(mlp.Gradient(p.x, {.values = p.values.data(), .count = 4}, tasks, gradient),
               "check failed");
  test::ScrambledTasks two(2, 1);
  EXPECT_DEATH(mlp.Gradient(p.x, p.set(4), two, gradient), "check failed");
}

}  // namespace
}  // namespace covey::tensor::small_mlp_test
