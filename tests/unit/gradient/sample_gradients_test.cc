// Weights and norms of single samples, against gradients taken one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/gradient/trainer.h"
#include "covey/gradient/workers.h"
#include "gradient/small_model.h"
#include "support/levels.h"

namespace covey::gradient {
namespace {

using data::Dataset;
using test::AtEveryLevel;
using Kind = optim::Settings::Kind;

constexpr std::size_t kSamples = 300;  // more than one piece of 256
constexpr std::size_t kClasses = 3;

// below: one more than the greatest value; 0: any byte.
Dataset Noise(std::vector<std::size_t> shape, std::uint32_t below = 0) {
  Dataset::Memory memory;
  std::size_t features = 1;
  for (const std::size_t extent : shape) features *= extent;
  memory.shape = std::move(shape);
  memory.classes = kClasses;
  if (below > 0) memory.normalize = data::Normalize::kNone;
  Stream stream(5, 0, Purpose::kTest);
  for (std::size_t i = 0; i < kSamples; ++i) {
    memory.labels.push_back(static_cast<std::uint8_t>(stream.Below(kClasses)));
    for (std::size_t k = 0; k < features; ++k) {
      memory.rows.push_back(static_cast<std::uint8_t>(stream.Below(below > 0 ? below : 256)));
    }
  }
  return Dataset::FromMemory(std::move(memory));
}

struct Case {
  std::string name;
  nn::ModelSpec spec;
  Dataset dataset;
  Kind kind = Kind::kAdam;
};

std::vector<Case> Cases() {
  nn::ModelSpec dense;
  dense.input = {12};
  dense.layers = {nn::Dense{.units = 10, .activation = nn::Activation::kTanh},
                  nn::Dense{.units = kClasses}};
  nn::ModelSpec conv;
  conv.input = {6, 5, 2};
  nn::Conv2d filters;
  filters.filters = 4;
  filters.kernel = {3, 3};
  filters.activation = nn::Activation::kRelu;
  conv.layers = {filters, nn::Dense{.units = kClasses}};
  nn::ModelSpec lstm;
  lstm.input = {6};
  nn::Lstm first;
  first.units = 5;
  first.output = nn::Lstm::Output::kSequence;
  nn::Lstm second;
  second.units = 4;
  lstm.layers = {nn::OneHot{.symbols = 7}, first, second, nn::Dense{.units = kClasses}};
  // With Rprop the dense one goes through SmallMlp, which has no weights of its own.
  return {{"dense", dense, Noise({12})},
          {"dense, small", dense, Noise({12}), Kind::kIrpropPlus},
          {"conv", conv, Noise({6, 5, 2})},
          {"lstm", lstm, Noise({6}, 7)}};
}

tensor::FlatVector Start(const nn::ModelSpec& spec) {
  tensor::FlatVector x(nn::LayoutOf(spec).size());
  Stream stream(1, 0, Purpose::kInit);
  nn::Initialise(spec, stream, x.view());
  return x;
}

std::vector<std::uint32_t> Rows(std::size_t count) {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(static_cast<std::uint32_t>(i * 7 % 300));
  return rows;
}

using Gradients = std::vector<std::vector<float>>;

Gradients OneByOne(const Case& c, const tensor::FlatVector& x,
                   const std::vector<std::uint32_t>& rows) {
  Trainer trainer(c.spec, {.kind = c.kind}, 1);
  Gradients gradients;
  for (const std::uint32_t& row : rows) {
    gradients.emplace_back(x.size());
    trainer.Gradient(x.view(), c.dataset, {&row, 1}, gradients.back());
  }
  return gradients;
}

double Norm(const std::vector<float>& gradient) {
  double sum = 0;
  for (const float g : gradient) sum += static_cast<double>(g) * static_cast<double>(g);
  return std::sqrt(sum);
}

// Expects: got = sum_b w_b gradients[b] / batch, to what float sums of that many terms lose.
void ExpectWeightedMean(const std::vector<float>& got, const Gradients& gradients,
                        const std::vector<float>& weights, const std::string& name) {
  const auto count = static_cast<double>(gradients.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    double sum = 0;
    double size = 0;
    for (std::size_t b = 0; b < gradients.size(); ++b) {
      const double term = static_cast<double>(weights[b]) * static_cast<double>(gradients[b][i]);
      sum += term;
      size += std::abs(term);
    }
    ASSERT_NEAR(static_cast<double>(got[i]), sum / count, 1e-6 * size / count + 1e-9)
        << name << ' ' << i;
  }
}

TEST(SampleGradients, NormsAreThoseOfOneByOne) {
  AtEveryLevel([] {
    for (const Case& c : Cases()) {
      const tensor::FlatVector x = Start(c.spec);
      for (const std::size_t batch : {std::size_t{1}, std::size_t{33}, kSamples}) {
        const std::vector<std::uint32_t> rows = Rows(batch);
        const Gradients gradients = OneByOne(c, x, rows);
        Trainer trainer(c.spec, {.kind = c.kind}, batch);
        std::vector<double> norms(batch);
        const StepResult result = trainer.SampleNorms(x.view(), c.dataset, rows, norms);
        EXPECT_EQ(result.samples, batch);
        for (std::size_t b = 0; b < batch; ++b) {
          const double norm = Norm(gradients[b]);
          ASSERT_GT(norm, 0);
          ASSERT_NEAR(norms[b], norm, 2e-6 * norm) << c.name << ' ' << b;
        }
      }
    }
  });
}

TEST(SampleGradients, WeightsAreThoseOfTheMean) {
  AtEveryLevel([] {
    for (const Case& c : Cases()) {
      const tensor::FlatVector x = Start(c.spec);
      for (const std::size_t batch : {std::size_t{33}, kSamples}) {
        const std::vector<std::uint32_t> rows = Rows(batch);
        std::vector<float> weights;
        for (std::size_t b = 0; b < batch; ++b) {
          weights.push_back(static_cast<float>(b % 5) * 0.5f - 0.25f);
        }
        Trainer trainer(c.spec, {.kind = c.kind}, batch);
        std::vector<float> got(x.size());
        trainer.Gradient(x.view(), c.dataset, rows, got, weights);
        ExpectWeightedMean(got, OneByOne(c, x, rows), weights, c.name);
      }
    }
  });
}

// What they are for: no sample moves the gradient by more than the limit over the batch.
TEST(SampleGradients, WeightsFromNormsClipEachSample) {
  for (const Case& c : Cases()) {
    const tensor::FlatVector x = Start(c.spec);
    const std::vector<std::uint32_t> rows = Rows(40);
    Trainer trainer(c.spec, {.kind = c.kind}, 40);
    std::vector<double> norms(40);
    trainer.SampleNorms(x.view(), c.dataset, rows, norms);
    std::vector<double> sorted = norms;
    std::sort(sorted.begin(), sorted.end());
    const double limit = sorted[20];
    std::vector<float> weights;
    for (const double norm : norms) {
      weights.push_back(static_cast<float>(std::min(1.0, limit / norm)));
    }
    std::vector<float> got(x.size());
    trainer.Gradient(x.view(), c.dataset, rows, got, weights);
    ExpectWeightedMean(got, OneByOne(c, x, rows), weights, c.name);
    EXPECT_LE(Norm(got), limit * (1 + 1e-5)) << c.name;
  }
}

// The loss of a weighted batch is weighted too; right answers are counted as they are.
TEST(SampleGradients, TheLossIsWeighted) {
  for (const Case& c : Cases()) {
    const tensor::FlatVector x = Start(c.spec);
    const std::vector<std::uint32_t> rows = Rows(kSamples);
    Trainer trainer(c.spec, {.kind = c.kind}, kSamples);
    std::vector<float> out(x.size());
    const StepResult plain = trainer.Gradient(x.view(), c.dataset, rows, out);
    const StepResult twice =
        trainer.Gradient(x.view(), c.dataset, rows, out, std::vector<float>(kSamples, 2.0f));
    EXPECT_NEAR(twice.loss_sum, 2 * plain.loss_sum, 1e-4 * plain.loss_sum) << c.name;
    EXPECT_EQ(twice.correct, plain.correct) << c.name;
  }
}

// Asking for norms leaves no trace in training.
TEST(SampleGradients, StepsAfterwardsAreTheSame) {
  for (const Case& c : Cases()) {
    const std::vector<std::uint32_t> rows = Rows(20);
    tensor::FlatVector a = Start(c.spec);
    tensor::FlatVector b = Start(c.spec);
    Trainer plain(c.spec, {.kind = c.kind}, 20);
    Trainer asked(c.spec, {.kind = c.kind}, 20);
    std::vector<double> norms(20);
    std::vector<float> out(b.size());
    for (int t = 0; t < 3; ++t) {
      plain.Step(a.view(), c.dataset, rows);
      asked.SampleNorms(b.view(), c.dataset, rows, norms);
      asked.Gradient(b.view(), c.dataset, rows, out, std::vector<float>(20, 0.5f));
      asked.Step(b.view(), c.dataset, rows);
    }
    EXPECT_TRUE(std::equal(a.data(), a.data() + a.size(), b.data())) << c.name;
  }
}

TEST(SampleGradients, AreTheSameOnTwoThreads) {
  for (const Case& c : Cases()) {
    const tensor::FlatVector x = Start(c.spec);
    const std::vector<std::uint32_t> rows = Rows(kSamples);
    const std::vector<float> weights(kSamples, 0.75f);
    Workers workers(2);
    Trainer one(c.spec, {.kind = c.kind}, kSamples);
    Trainer two(c.spec, {.kind = c.kind}, kSamples, &workers);
    std::vector<float> a(x.size()), b(x.size());
    std::vector<double> p(kSamples), q(kSamples);
    one.SampleNorms(x.view(), c.dataset, rows, p);
    two.SampleNorms(x.view(), c.dataset, rows, q);
    one.Gradient(x.view(), c.dataset, rows, a, weights);
    two.Gradient(x.view(), c.dataset, rows, b, weights);
    EXPECT_EQ(p, q) << c.name;
    EXPECT_EQ(a, b) << c.name;
  }
}

// A loss that is no number names the layer, also where SmallMlp trained; the next good step
// forgets it.
TEST(SampleGradients, NonFiniteLossNamesTheLayerOnEveryPath) {
  for (const Case& c : Cases()) {
    for (const std::size_t batch : {std::size_t{20}, kSamples}) {
      const tensor::Layout layout = nn::LayoutOf(c.spec);
      tensor::FlatVector x = Start(c.spec);
      Trainer trainer(c.spec, {.kind = c.kind}, batch);
      for (const tensor::Slice& slice : {layout.slices().front(), layout.slices().back()}) {
        const float good = x[slice.offset];
        const std::uint64_t steps = trainer.optimizer().steps();
        x[slice.offset] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_FALSE(trainer.Step(x.view(), c.dataset, Rows(batch)).finite) << c.name;
        EXPECT_EQ(trainer.FirstNonFinite(), slice.name.substr(0, slice.name.find('.'))) << c.name;
        EXPECT_EQ(trainer.optimizer().steps(), steps);
        x[slice.offset] = good;
        EXPECT_TRUE(trainer.Step(x.view(), c.dataset, Rows(batch)).finite) << c.name;
        EXPECT_EQ(trainer.FirstNonFinite(), std::nullopt) << c.name;
      }
    }
  }
}

TEST(SampleGradientsDeathTest, SizesAreChecked) {
  const Case c = Cases().front();
  const tensor::FlatVector x = Start(c.spec);
  Trainer trainer(c.spec, {}, 8);
  std::vector<float> out(x.size());
  std::vector<double> norms(7);
  EXPECT_DEATH(trainer.Gradient(x.view(), c.dataset, Rows(8), out, std::vector<float>(7, 1.0f)),
               "check failed");
  EXPECT_DEATH(trainer.SampleNorms(x.view(), c.dataset, Rows(8), norms), "check failed");
}

}  // namespace
}  // namespace covey::gradient
