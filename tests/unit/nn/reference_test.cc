// The plain network's values, worked out by hand (its gradients: property tests).
#include "covey/nn/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace covey::nn::reference_test {
namespace {

using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The outputs of a model on one sample; its loss, a mean squared error against zeros, aside.
Values OutputsOf(std::vector<std::size_t> input, std::vector<LayerSpec> layers, const Values& x,
                 const Values& sample) {
  const ModelSpec spec{
      .input = std::move(input), .layers = std::move(layers), .loss = Loss::kMeanSquaredError};
  const Values targets(Outputs(spec));
  return ReferenceNetwork<double>(spec)
      .Run(x, {.size = 1, .samples = sample, .targets = targets}, WithGradient::kNo)
      .outputs;
}

void ExpectNear(const Values& got, const Values& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12) << i;
}

TEST(Reference, Dense) {
  ExpectNear(OutputsOf({2}, {Dense{.units = 2, .activation = Activation::kRelu}},
                       {1, 2, 3, -4, 0.5, 0}, {10, 20}),
             {50.5, 0});
}

TEST(Reference, Activations) {
  const Values y = {-4, -1, 0, 2, 3};
  const auto activated = [&](Activation activation) {
    return OutputsOf({5}, {Activate{activation}}, {}, y);
  };
  ExpectNear(activated(Activation::kLinear), y);
  ExpectNear(activated(Activation::kRelu), {0, 0, 0, 2, 3});
  const double slope = 0.01f;
  ExpectNear(activated(Activation::kLeakyRelu), {-4 * slope, -slope, 0, 2, 3});
  ExpectNear(activated(Activation::kTanh),
             {std::tanh(-4), std::tanh(-1), 0, std::tanh(2), std::tanh(3)});
  ExpectNear(activated(Activation::kSigmoid), {1 / (1 + std::exp(4)), 1 / (1 + std::exp(1)), 0.5,
                                               1 / (1 + std::exp(-2)), 1 / (1 + std::exp(-3))});
  const double fifth = 0.2f;
  ExpectNear(activated(Activation::kHardSigmoid), {0, 0.5 - fifth, 0.5, 0.5 + 2 * fifth, 1});
  const double sum = std::exp(-4) + std::exp(-1) + 1 + std::exp(2) + std::exp(3);
  ExpectNear(activated(Activation::kSoftmax), {std::exp(-4) / sum, std::exp(-1) / sum, 1 / sum,
                                               std::exp(2) / sum, std::exp(3) / sum});
}

// A 2 x 3 image of two channels; one filter that weighs tap (a, b) of channel c with 10^(2 a + b)
// for c = 0 and with nothing for c = 1.
TEST(Reference, ConvolutionIsACrossCorrelation) {
  const Values image = {1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9};
  const Values x = {1, 0, 10, 0, 100, 0, 1000, 0, 0.5};
  const Conv2d conv{.filters = 1, .kernel = {2, 2}};
  ExpectNear(OutputsOf({2, 3, 2}, {conv, Flatten{}}, x, image), {5421.5, 6532.5});
  // Same: the odd row and column of zeros stand behind.
  Conv2d same = conv;
  same.padding = Padding::kSame;
  ExpectNear(OutputsOf({2, 3, 2}, {same, Flatten{}}, x, image),
             {5421.5, 6532.5, 603.5, 54.5, 65.5, 6.5});
  same.stride = {2, 2};
  ExpectNear(OutputsOf({2, 3, 2}, {same, Flatten{}}, x, image), {5421.5, 603.5});
  // Two filters: channels of the output are fastest.
  const Conv2d two{.filters = 2, .kernel = {1, 1}, .stride = {1, 2}};
  ExpectNear(OutputsOf({2, 3, 2}, {two, Flatten{}}, {1, 0, 0, 1, 0, 0.25}, image),
             {1, 9.25, 3, 9.25, 4, 9.25, 6, 9.25});
}

TEST(Reference, Pools) {
  const Values image = {1, -1, 5, -2, 3, -3, 4, -4, 2, -5, 6, -6};  // 2 x 3, two channels
  using Kind = Pool2d::Kind;
  const auto pooled = [&](const Pool2d& pool) {
    return OutputsOf({2, 3, 2}, {pool, Flatten{}}, {}, image);
  };
  ExpectNear(pooled({.kind = Kind::kMax}), {5, -1});
  ExpectNear(pooled({.kind = Kind::kMax, .stride = {1, 1}}), {5, -1, 6, -2});
  ExpectNear(pooled({.kind = Kind::kAverage, .stride = {1, 1}}), {3, -3, 4, -4});
  ExpectNear(OutputsOf({2, 3, 2}, {GlobalAveragePool{}}, {}, image), {3.5, -3.5});
}

TEST(Reference, NaNPassesReluAndMaximum) {
  EXPECT_TRUE(std::isnan(OutputsOf({1}, {Activate{Activation::kRelu}}, {}, {kNaN})[0]));
  for (std::size_t place = 0; place < 4; ++place) {
    Values image = {1, 2, 3, 4};
    image[place] = kNaN;
    EXPECT_TRUE(std::isnan(OutputsOf({2, 2, 1}, {Pool2d{}, Flatten{}}, {}, image)[0])) << place;
  }
}

TEST(Reference, Symbols) {
  ExpectNear(OutputsOf({2}, {OneHot{.symbols = 3}, Flatten{}}, {}, {2, 0}), {0, 0, 1, 1, 0, 0});
  ExpectNear(
      OutputsOf({2}, {Embedding{.symbols = 3, .size = 2}, Flatten{}}, {1, 2, 3, 4, 5, 6}, {2, 0}),
      {5, 6, 1, 2});
}

// Two channels in each of two groups, over two places.
TEST(Reference, Norms) {
  const Values x = {1, 2, 3, 4, 0.5, 0, 0, 0};
  const Values values = {1, 3, 10, 10, 3, 1, 10, 10};
  const double unit = 1 / std::sqrt(1.25);  // variance 1, epsilon 1/4
  ExpectNear(OutputsOf({2, 1, 4}, {GroupNorm{.groups = 2, .epsilon = 0.25f}, Flatten{}}, x, values),
             {0.5 - unit, 2 * unit, 0, 0, 0.5 + unit, -2 * unit, 0, 0});
  ExpectNear(
      OutputsOf({2, 2}, {LayerNorm{.epsilon = 0.25f}, Flatten{}}, {1, 2, 0.5, 0}, {1, 3, 12, 10}),
      {0.5 - unit, 2 * unit, 0.5 + unit, -2 * unit});
}

// One unit, two steps; each gate has a weight of its own, so that their order matters.
TEST(Reference, LongShortTermMemory) {
  const Values x = {0.1, 0.2, 0.3, 0.4, /*hh*/ 0.5, 0.6, 0.7, 0.8, /*bias*/ 0.01, 1, 0.02, 0.03};
  const Values sample = {1, -2};
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  double c = 0, h = 0;
  Values states;
  for (const double in : sample) {
    const double i = sigmoid(0.1 * in + 0.5 * h + 0.01), f = sigmoid(0.2 * in + 0.6 * h + 1);
    const double g = std::tanh(0.3 * in + 0.7 * h + 0.02), o = sigmoid(0.4 * in + 0.8 * h + 0.03);
    c = f * c + i * g;
    h = o * std::tanh(c);
    states.push_back(h);
  }
  ExpectNear(OutputsOf({2, 1}, {Lstm{.units = 1}}, x, sample), {states[1]});
  const Lstm sequence{.units = 1, .output = Lstm::Output::kSequence};
  ExpectNear(OutputsOf({2, 1}, {sequence, Flatten{}}, x, sample), states);
}

struct LossCase {
  Loss loss;
  double wanted;
  std::uint32_t correct;
};

TEST(Reference, LossesAndWhatCountsAsCorrect) {
  const Values y = {1, -2}, t = {0.75, 0.25}, none;
  const double lse = std::log(std::exp(1) + std::exp(-2));
  const double log1 = std::log(1 + std::exp(-1)), log2 = std::log(1 + std::exp(-2));
  const LossCase cases[] = {
      {Loss::kSparseCategoricalCrossEntropy, lse + 2, 0},
      {Loss::kCategoricalCrossEntropy, 0.75 * (lse - 1) + 0.25 * (lse + 2), 1},
      {Loss::kBinaryCrossEntropy,
       (0.75 * log1 + 0.25 * (1 + log1) + 0.25 * (2 + log2) + 0.75 * log2) / 2, 1},
      {Loss::kMeanSquaredError, (0.0625 + 5.0625) / 2, 0},
      {Loss::kHuber, (0.03125 + 2.25 - 0.5) / 2, 0}};
  const std::vector<std::uint32_t> labels = {1};
  for (const LossCase& test : cases) {
    const ModelSpec spec{.input = {2}, .layers = {Flatten{}}, .loss = test.loss};
    const auto result = ReferenceNetwork<double>(spec).Run(
        none, {.size = 1, .samples = y, .labels = labels, .targets = t}, WithGradient::kNo);
    EXPECT_NEAR(result.loss, test.wanted, 1e-12) << Name(test.loss);
    EXPECT_EQ(result.correct, test.correct) << Name(test.loss);
  }
}

// The loss is the sum of weight times loss over the number of samples, not over that of weights.
TEST(Reference, WeightsScaleLossAndGradient) {
  const ModelSpec spec{
      .input = {1}, .layers = {Dense{.units = 1}}, .loss = Loss::kMeanSquaredError};
  const Values x = {1, 0}, samples = {1, 2}, targets = {0, 0}, weights = {3, 0.5};
  const auto result = ReferenceNetwork<double>(spec).Run(
      x, {.size = 2, .samples = samples, .targets = targets, .weights = weights},
      WithGradient::kYes);
  EXPECT_EQ(result.loss, (3 * 1 + 0.5 * 4) / 2);
  EXPECT_EQ(result.gradient, (Values{(3 * 2 + 0.5 * 8) / 2, (3 * 2 + 0.5 * 4) / 2}));
}

TEST(Reference, DropoutMultipliesByItsFactors) {
  const ModelSpec spec{.input = {2}, .layers = {Dropout{}}, .loss = Loss::kMeanSquaredError};
  const Values samples = {1, 2, 3, 4}, targets(4);
  ReferenceBatch<double> batch{.size = 2, .samples = samples, .targets = targets};
  const ReferenceNetwork<double> network(spec);
  EXPECT_EQ(network.Run({}, batch, WithGradient::kNo).outputs, samples);
  batch.dropout = {{2, 0, 0, 2}};
  EXPECT_EQ(network.Run({}, batch, WithGradient::kNo).outputs, (Values{2, 0, 0, 8}));
}

}  // namespace
}  // namespace covey::nn::reference_test
