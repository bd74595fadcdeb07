// Property: norms of each sample's gradient, and gradients of weighted samples, are those of plain
// gradients taken one by one in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "covey/nn/network.h"
#include "support/drawn_model.h"
#include "support/levels.h"
#include "support/network_run.h"

namespace covey::nn::sample_norms_test {
namespace {

using test::AtEveryLevel;
using test::DrawnBatch;
using test::DrawnModel;

constexpr test::Dropped kDropped{.seed = 3, .step = 11};

std::vector<ModelSpec> Models() {
  const Dense relu{.units = 19, .activation = Activation::kRelu};
  const Dense small{.units = 7, .activation = Activation::kTanh};
  const Lstm sequence{.units = 5, .output = Lstm::Output::kSequence};
  return {
      {.input = {33}, .layers = {relu, Dense{.units = 10}}},
      {.input = {12},
       .layers = {small, Dropout{0.4f}, relu, Dense{.units = 3}},
       .loss = Loss::kHuber},
      {.input = {8, 7, 3},
       .layers = {Conv2d{.filters = 6, .activation = Activation::kRelu}, Pool2d{},
                  Conv2d{.filters = 4, .kernel = {2, 2}, .padding = Padding::kSame}, Dropout{0.3f},
                  GroupNorm{.groups = 2, .epsilon = 0.1f}, Flatten{}, small, Dense{.units = 4}}},
      {.input = {6, 4},
       .layers = {sequence, LayerNorm{.epsilon = 0.1f}, Lstm{.units = 6}, Dense{.units = 3}},
       .loss = Loss::kMeanSquaredError},
      {.input = {9}, .layers = {OneHot{.symbols = 11}, sequence, sequence, Dense{.units = 11}}},
      {.input = {5}, .layers = {Embedding{.symbols = 8, .size = 3}, Lstm{.units = 4}}},
  };
}

double NormOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

// The gradient of each sample's own loss: those of batches with one weight of `size` and otherwise
// 0, so that every sample keeps its place and its dropout.
std::vector<std::vector<double>> OneByOne(const DrawnModel& drawn) {
  std::vector<std::vector<double>> gradients;
  DrawnModel single = drawn.Copy();
  for (std::size_t b = 0; b < drawn.batch; ++b) {
    single.weights.assign(drawn.batch, 0.0f);
    single.weights[b] = static_cast<float>(drawn.batch);
    gradients.push_back(single.Run<double>(WithGradient::kYes).gradient);
  }
  return gradients;
}

struct Norms {
  std::vector<double> values;
  std::vector<float> gradient;  // of the batch, taken after them
};

Norms FastNorms(const ModelSpec& spec, const DrawnModel& drawn, const Batch& batch,
                tensor::Tasks* tasks) {
  Network network(spec, drawn.batch + 3, tasks, kDropped.seed);
  Norms norms{.values = std::vector<double>(drawn.batch),
              .gradient = std::vector<float>(drawn.x.size())};
  for (int again = 0; again < 2; ++again) {
    network.Forward(drawn.x.view(), batch, kDropped.step);
    network.SampleNorms(drawn.x.view(), batch, norms.values, norms.gradient);
    network.Forward(drawn.x.view(), batch, kDropped.step);
    network.Gradient(drawn.x.view(), batch, norms.gradient);
  }
  return norms;
}

TEST(SampleNormsProperty, EqualPlainGradientsOneByOne) {
  for (ModelSpec spec : Models()) {
    for (const std::size_t batch : {1u, 7u, 18u}) {
      SCOPED_TRACE(Summary(spec) + " batch " + std::to_string(batch));
      ASSERT_TRUE(Validate(spec)) << Validate(spec).error().Format();
      DrawnModel drawn(spec, {.batch = batch, .seed = 6, .weighted = true});
      test::DrawDropout(spec, kDropped, drawn);
      const auto gradients = OneByOne(drawn);
      const DrawnBatch rows(drawn);
      AtEveryLevel([&] {
        for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
          spec.numerics = numerics;
          test::ShuffledTasks tasks(3);
          const Norms norms = FastNorms(spec, drawn, rows.View(), &tasks);
          for (std::size_t b = 0; b < batch; ++b) {
            const double wanted = NormOf(gradients[b]);
            EXPECT_NEAR(norms.values[b], wanted, 2e-5 * wanted + 1e-7) << b;
          }
          // The gradient is sum_b w_b grad l_b / size.
          for (std::size_t i = 0; i < norms.gradient.size(); ++i) {
            double sum = 0, scale = 0;
            for (std::size_t b = 0; b < batch; ++b) {
              sum += static_cast<double>(drawn.weights[b]) * gradients[b][i];
              scale = std::max(scale, NormOf(gradients[b]));
            }
            ASSERT_NEAR(static_cast<double>(norms.gradient[i]), sum / static_cast<double>(batch),
                        2e-5 * scale)
                << i;
          }
        }
      });
    }
  }
}

TEST(SampleNormsProperty, PortableBitsAreThoseOfEveryLevel) {
  for (ModelSpec spec : Models()) {
    spec.numerics = tensor::Numerics::kPortable;
    const DrawnModel drawn(spec, {.batch = 9, .seed = 6});
    const DrawnBatch rows(drawn);
    const Norms wanted = FastNorms(spec, drawn, rows.View(), nullptr);
    AtEveryLevel([&] {
      test::ShuffledTasks tasks(7);
      const Norms norms = FastNorms(spec, drawn, rows.View(), &tasks);
      EXPECT_EQ(norms.values, wanted.values) << Summary(spec);
      EXPECT_EQ(norms.gradient, wanted.gradient) << Summary(spec);
    });
  }
}

// What the norms are for: no sample moves the gradient by more than the limit.
TEST(SampleNormsProperty, WeightsFromNormsClipEachSample) {
  const ModelSpec spec = Models()[2];
  constexpr double kLimit = 0.5;
  DrawnModel drawn(spec, {.batch = 5, .seed = 8, .spread = 0.8f});
  test::DrawDropout(spec, kDropped, drawn);
  const DrawnBatch rows(drawn);
  const Norms norms = FastNorms(spec, drawn, rows.View(), nullptr);
  ASSERT_GT(*std::max_element(norms.values.begin(), norms.values.end()), kLimit);
  for (const double norm : norms.values) {
    drawn.weights.push_back(static_cast<float>(std::min(1.0, kLimit / norm)));
  }
  const auto gradients = OneByOne(drawn);
  for (std::size_t b = 0; b < 5; ++b) {
    EXPECT_LE(static_cast<double>(drawn.weights[b]) * NormOf(gradients[b]), kLimit * (1 + 1e-4));
  }
}

// A dense first layer squares rows of every element type.
TEST(SampleNormsProperty, RowsOfBytesAndIntegers) {
  const ModelSpec spec{.input = {21}, .layers = {Dense{.units = 4}}};
  DrawnModel drawn(spec, {.batch = 6, .seed = 2});
  std::vector<std::uint8_t> bytes;
  std::vector<std::int16_t> integers;
  for (std::size_t i = 0; i < drawn.samples.size(); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i * 37 % 256));
    integers.push_back(static_cast<std::int16_t>(bytes.back()));
    drawn.samples[i] = static_cast<float>(bytes.back()) * 0.01f - 0.5f;
  }
  const auto norms_of = [&](tensor::Element element, const void* data) {
    std::vector<const std::uint8_t*> rows(16, static_cast<const std::uint8_t*>(data));
    for (std::size_t b = 0; b < 6; ++b) rows[b] += b * 21 * tensor::BytesOf(element);
    const Batch batch{
        .rows = {.rows = rows.data(), .element = element, .scale = 0.01f, .offset = -0.5f},
        .size = 6,
        .labels = drawn.labels};
    return FastNorms(spec, drawn, batch, nullptr).values;
  };
  const DrawnBatch floats(drawn);
  const auto wanted = FastNorms(spec, drawn, floats.View(), nullptr).values;
  const auto of_bytes = norms_of(tensor::Element::kUint8, bytes.data());
  const auto of_integers = norms_of(tensor::Element::kInt16, integers.data());
  for (std::size_t b = 0; b < 6; ++b) {
    EXPECT_NEAR(of_bytes[b], wanted[b], 1e-5 * wanted[b]);
    EXPECT_NEAR(of_integers[b], wanted[b], 1e-5 * wanted[b]);
  }
}

}  // namespace
}  // namespace covey::nn::sample_norms_test
