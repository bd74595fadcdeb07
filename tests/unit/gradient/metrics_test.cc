// Metrics of made-up outputs.
#include "gradient/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "covey/tensor/dense.h"

namespace covey::gradient {
namespace {

nn::ModelSpec Model(std::size_t outputs, nn::Loss loss) {
  nn::ModelSpec model;
  model.input = {1};
  model.layers = {nn::Dense{.units = outputs}};
  model.loss = loss;
  return model;
}

// Outputs of samples, each a row, as the network gives them.
std::vector<float> ByFeature(const std::vector<std::vector<float>>& samples) {
  const std::size_t stride = tensor::PaddedBatch(samples.size());
  std::vector<float> outputs(samples.front().size() * stride);
  for (std::size_t b = 0; b < samples.size(); ++b) {
    for (std::size_t c = 0; c < samples[b].size(); ++c) outputs[c * stride + b] = samples[b][c];
  }
  return outputs;
}

Evaluation OfTargets(nn::Loss loss, const std::vector<std::vector<float>>& outputs,
                     const std::vector<std::vector<float>>& targets) {
  Metrics metrics(Model(outputs.front().size(), loss));
  metrics.Reset();
  // In two batches: sums go on.
  for (std::size_t b = 0; b < outputs.size(); ++b) {
    const float* target = targets[b].data();
    metrics.Add(ByFeature({outputs[b]}).data(),
                nn::Batch{.rows = {}, .size = 1, .labels = {}, .targets = &target});
  }
  Evaluation evaluation;
  metrics.Fill(evaluation);
  return evaluation;
}

TEST(Errors, AreThoseOfTheDefinition) {
  const Evaluation got = OfTargets(nn::Loss::kMeanSquaredError, {{1, 10}, {2, 20}, {3, 33}},
                                   {{1, 11}, {0, 20}, {4, 31}});
  ASSERT_TRUE(got.errors);
  EXPECT_DOUBLE_EQ(got.errors->mean_squared, (1.0 + 4 + 1 + 4) / 6);
  EXPECT_DOUBLE_EQ(got.errors->mean_absolute, (1.0 + 2 + 1 + 2) / 6);
  // Targets 1, 0, 4 lie 26/3 around their mean; 11, 20, 31 lie 602/3 around theirs.
  EXPECT_NEAR(*got.errors->r2, 1 - 10 / (26.0 / 3 + 602.0 / 3), 1e-12);
  const double mean = (0.5 + 2 + 2.5) / 3;
  EXPECT_NEAR(got.loss_error, std::sqrt(((0.25 + 4 + 6.25) / 3 - mean * mean) / 3), 1e-12);
  EXPECT_FALSE(got.accuracy);
  EXPECT_FALSE(got.top5);
}

TEST(Errors, ArePerfectOrNoBetterThanTheMean) {
  const std::vector<std::vector<float>> targets = {{1}, {2}, {6}};
  EXPECT_DOUBLE_EQ(*OfTargets(nn::Loss::kHuber, targets, targets).errors->r2, 1);
  EXPECT_NEAR(*OfTargets(nn::Loss::kHuber, {{3}, {3}, {3}}, targets).errors->r2, 0, 1e-12);
  EXPECT_FALSE(OfTargets(nn::Loss::kHuber, {{1}, {2}}, {{5}, {5}}).errors->r2);
}

// Sums are taken from the first target: far from 0 the spread doesn't drown.
TEST(Errors, AreSoundFarFromZero) {
  const float far = 1e6f;
  const Evaluation got = OfTargets(nn::Loss::kMeanSquaredError, {{far}, {far + 1}, {far + 2}},
                                   {{far}, {far + 1}, {far + 3}});
  EXPECT_NEAR(*got.errors->r2, 1 - 1 / (14.0 / 3), 1e-9);
}

TEST(Errors, OfOutputsThatAreNoNumbersAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(
      OfTargets(nn::Loss::kMeanSquaredError, {{nan}, {1}}, {{0}, {1}}).errors->mean_squared));
}

double Top5(const std::vector<float>& outputs, std::uint32_t label) {
  Metrics metrics(Model(outputs.size(), nn::Loss::kSparseCategoricalCrossEntropy));
  metrics.Reset();
  metrics.Add(ByFeature({outputs}).data(), nn::Batch{.rows = {}, .size = 1, .labels = {&label, 1}});
  Evaluation evaluation;
  metrics.Fill(evaluation);
  return evaluation.top5.value_or(-1);
}

TEST(TopFive, CountsTheLabelAmongTheBest) {
  EXPECT_EQ(Top5({7, 6, 5, 4, 3, 2, 1}, 4), 1);
  EXPECT_EQ(Top5({7, 6, 5, 4, 3, 2, 1}, 5), 0);
  EXPECT_EQ(Top5({1, 1, 1, 1, 1, 1}, 4), 1);  // of equals the lower class is the better one
  EXPECT_EQ(Top5({1, 1, 1, 1, 1, 1}, 5), 0);
  EXPECT_EQ(Top5({1, 2, 3, 4, 5}, 0), -1);  // five classes are always among five
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Top5({nan, nan, nan, nan, nan, nan}, 0), 0);
}

TEST(Answer, IsTheGreatestOutputOrTheFirstOfEquals) {
  const std::vector<float> outputs = ByFeature({{1, 3, 2}, {4, 4, 0}, {0, 1, 5}});
  const std::size_t stride = tensor::PaddedBatch(3);
  EXPECT_EQ(Answer(outputs.data(), 3, stride, 0), 1u);
  EXPECT_EQ(Answer(outputs.data(), 3, stride, 1), 0u);
  EXPECT_EQ(Answer(outputs.data(), 3, stride, 2), 2u);
}

}  // namespace
}  // namespace covey::gradient
