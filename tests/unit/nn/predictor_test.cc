#include "covey/nn/predictor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covey/nn/reference.h"
#include "support/drawn_model.h"

namespace covey::nn {
namespace {

// The same as the plain network's outputs, after what the loss does itself.
void ExpectAnswers(const ModelSpec& spec, std::size_t samples) {
  const test::DrawnModel drawn(spec, {.batch = samples, .seed = 3});
  auto wanted = drawn.Run<double>(WithGradient::kNo).outputs;
  const std::size_t classes = Outputs(spec);
  for (std::size_t b = 0; b < samples && IsClassification(spec); ++b) {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(wanted[b * classes + c]);
    for (std::size_t c = 0; c < classes; ++c) {
      double& value = wanted[b * classes + c];
      const bool binary = spec.loss == Loss::kBinaryCrossEntropy;
      value = binary ? 1 / (1 + std::exp(-value)) : std::exp(value) / sum;
    }
  }
  Predictor predictor(spec, {0}, {1});
  std::vector<float> got(samples * classes);
  predictor.Run(drawn.x.view(), drawn.samples, got);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(got[i]), wanted[i], 1e-6) << i;
  }
}

TEST(Predictor, AnswersAreThoseOfThePlainNetwork) {
  for (const std::size_t samples :
       {std::size_t{1}, std::size_t{3}, Predictor::kBatch, Predictor::kBatch + 1}) {
    ExpectAnswers({{6}, {Dense{5, Activation::kRelu}, Dense{3}}}, samples);
    ExpectAnswers({{6}, {Dense{3, Activation::kSoftmax}}}, samples);
    ExpectAnswers({{6}, {Dense{4}}, Loss::kBinaryCrossEntropy}, samples);
    ExpectAnswers({{6}, {Dense{4, Activation::kTanh}, Dense{2}}, Loss::kMeanSquaredError}, samples);
    ExpectAnswers({{5}, {OneHot{4}, Lstm{.units = 3}, Dense{4}}}, samples);
  }
}

TEST(Predictor, ScalesEachFeature) {
  const ModelSpec spec{{2}, {Dense{1}}, Loss::kMeanSquaredError};
  const std::vector<float> x{1, 10, 0.5f};  // y = v0 + 10 v1 + 0.5
  Predictor predictor(spec, {1, -1}, {2, 3});
  const std::vector<float> raw{4, 5};
  std::vector<float> out(1);
  predictor.Run(x, raw, out);
  EXPECT_FLOAT_EQ(out[0], 6 + 10 * 18 + 0.5f);
}

TEST(Predictor, NamesWhatItCannotRead) {
  const Predictor numbers({{2}, {Dense{2}}}, {0}, {1});
  using Flaw = Predictor::Flaw;
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(numbers.Check(std::vector<float>{1, 2}).flaw, Flaw::kNone);
  EXPECT_EQ(numbers.Check(std::vector<float>{1, infinite}).flaw, Flaw::kNotFinite);
  EXPECT_EQ(numbers.Check(std::vector<float>{1, 2, NAN, 0}).at, 2u);
  const Predictor symbols({{2}, {OneHot{3}, Dense{2}}}, {0}, {1});
  EXPECT_EQ(symbols.Check(std::vector<float>{0, 2}).flaw, Flaw::kNone);
  EXPECT_EQ(symbols.Check(std::vector<float>{0, 3}).flaw, Flaw::kNoSymbol);
  EXPECT_EQ(symbols.Check(std::vector<float>{-1, 2}).flaw, Flaw::kNoSymbol);
  EXPECT_EQ(symbols.Check(std::vector<float>{0, 1.5f}).flaw, Flaw::kNoSymbol);
}

TEST(Predictor, LargestAreInOrder) {
  const std::vector<float> values{1, 5, 3, 5};
  EXPECT_EQ(Largest(values, 3), (std::vector<std::size_t>{1, 3, 2}));
  EXPECT_EQ(Largest(values, 9).size(), 4u);
  EXPECT_TRUE(Largest(values, 0).empty());
}

}  // namespace
}  // namespace covey::nn
