// Networks of layers that work sample by sample - convolution, pooling, normalisation, dropout -
// against the plain network in double, and against themselves in other threads and levels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "covey/nn/network.h"
#include "covey/nn/reference.h"
#include "covey/tensor/dropout.h"
#include "support/drawn_model.h"
#include "support/levels.h"

namespace covey::nn::image_network_test {
namespace {

using test::AtEveryLevel;
using test::DrawnModel;

constexpr std::uint64_t kSeed = 4;
constexpr std::uint64_t kStep = 7;

Conv2d Conv(std::size_t filters, std::size_t kernel, Activation activation = Activation::kRelu) {
  return {.filters = filters, .kernel = {kernel, kernel}, .activation = activation};
}

Pool2d Pool(Pool2d::Kind kind, Extent size, Extent stride = {}) {
  return {.kind = kind, .size = size, .stride = stride};
}

struct Named {
  const char* name;
  ModelSpec spec;
};

std::vector<Named> Models() {
  constexpr auto kMax = Pool2d::Kind::kMax;
  constexpr auto kAverage = Pool2d::Kind::kAverage;
  Conv2d same = Conv(9, 3, Activation::kLinear);
  same.padding = Padding::kSame;
  same.stride = {2, 1};
  Conv2d same_pooled = Conv(17, 4);
  same_pooled.padding = Padding::kSame;
  return {
      {"the paper's, smaller",
       {.input = {14, 14, 3},
        .layers = {Conv(16, 3), Pool(kMax, {2, 2}), Conv(32, 3), Pool(kMax, {2, 2}), Flatten{},
                   Dense{.units = 20, .activation = Activation::kRelu}, Dropout{0.5f},
                   Dense{.units = 10}}}},
      {"same padding, fused",
       {.input = {7, 9, 5}, .layers = {same_pooled, Pool(kMax, {2, 2}), Dense{.units = 3}}}},
      {"strides, no pooling",
       {.input = {9, 8, 2}, .layers = {same, Conv(5, 2), Dense{.units = 4}}}},
      {"pools that overlap",
       {.input = {8, 8, 3},
        .layers = {Conv(6, 3, Activation::kLinear), Pool(kMax, {3, 2}, {2, 1}),
                   Pool(kAverage, {2, 2}, {1, 1}), Dense{.units = 3}}}},
      {"pooling of the samples themselves",
       {.input = {6, 6, 2}, .layers = {Pool(kAverage, {2, 2}), Dense{.units = 2}}}},
      {"dropout of images",
       {.input = {6, 7, 3},
        .layers = {Dropout{0.3f}, Conv(8, 3), Dropout{0.5f}, Dense{.units = 4}}}},
      {"group normalisation",
       {.input = {7, 7, 3},
        .layers = {Conv(12, 3, Activation::kLinear), GroupNorm{.groups = 4}, GlobalAveragePool{},
                   Dense{.units = 5}}}},
      {"layer normalisation",
       {.input = {20},
        .layers = {LayerNorm{}, Dense{.units = 18, .activation = Activation::kRelu}, LayerNorm{},
                   Dense{.units = 6}}}},
      {"layer normalisation by time step",
       {.input = {5, 7}, .layers = {LayerNorm{}, Dense{.units = 3}}}},
  };
}

// Parts last to first, by several workers in turn.
class BackwardTasks final : public tensor::Tasks {
 public:
  std::size_t width() const override { return 3; }
  void Run(std::size_t count, tensor::Task task) override {
    for (std::size_t part = count; part-- > 0;) task(part, part % 3);
  }
};

struct Outcome {
  tensor::LossSum loss;
  tensor::FlatVector gradient;
};

Batch View(const DrawnModel& drawn, std::size_t features, std::vector<const std::uint8_t*>& rows) {
  rows.clear();
  for (std::size_t b = 0; b < tensor::PaddedBatch(drawn.batch); ++b) {
    const std::size_t row = b < drawn.batch ? b : 0;
    rows.push_back(reinterpret_cast<const std::uint8_t*>(drawn.samples.data() + row * features));
  }
  return {.rows = {.rows = rows.data(), .element = tensor::Element::kFloat32},
          .size = drawn.batch,
          .labels = drawn.labels};
}

Outcome Train(const ModelSpec& spec, const DrawnModel& drawn, tensor::Tasks* tasks = nullptr) {
  Network network(spec, drawn.batch + 3, tasks, kSeed);
  std::vector<const std::uint8_t*> rows;
  const Batch batch = View(drawn, Features(spec), rows);
  Outcome outcome{.loss = {}, .gradient = tensor::FlatVector(drawn.x.size())};
  // A pass of another step before it leaves no trace.
  network.Forward(drawn.x.view(), batch, kStep + 1);
  network.Gradient(drawn.x.view(), batch, outcome.gradient.view());
  outcome.loss = network.Forward(drawn.x.view(), batch, kStep);
  network.Gradient(drawn.x.view(), batch, outcome.gradient.view());
  return outcome;
}

// Tells the plain network what each dropout layer multiplies by.
void DrawDropout(const ModelSpec& spec, DrawnModel& drawn) {
  const auto infos = Infer(spec);
  drawn.dropout.assign(spec.layers.size(), {});
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    const auto* dropout = std::get_if<Dropout>(&spec.layers[l]);
    if (dropout == nullptr) continue;
    std::size_t values = drawn.batch;
    for (const std::size_t extent : (*infos)[l].input) values *= extent;
    drawn.dropout[l].assign(values, 1.0f);
    tensor::ApplyDropout(tensor::MaskOf(dropout->rate, kSeed, static_cast<std::uint32_t>(l), kStep),
                         {.rows = 1, .columns = values}, drawn.dropout[l].data(),
                         drawn.dropout[l].data());
  }
}

TEST(ImageNetworkProperty, GradientEqualsPlainInDouble) {
  AtEveryLevel([] {
    for (Named model : Models()) {
      for (const tensor::Numerics numerics :
           {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
        for (const std::size_t batch : {1u, 4u, 11u}) {
          SCOPED_TRACE(model.name + std::string(" batch ") + std::to_string(batch));
          model.spec.numerics = numerics;
          DrawnModel drawn(model.spec, {.batch = batch, .seed = 2, .spread = 0.2f});
          DrawDropout(model.spec, drawn);
          const Outcome fast = Train(model.spec, drawn);
          const auto expected = drawn.Run<double>(WithGradient::kYes);
          EXPECT_NEAR(fast.loss.loss_sum / static_cast<double>(batch), expected.loss,
                      1e-5 * (1 + expected.loss));
          EXPECT_EQ(fast.loss.correct, expected.correct);
          double greatest = 0;
          for (const double g : expected.gradient) greatest = std::max(greatest, std::abs(g));
          for (std::size_t i = 0; i < expected.gradient.size(); ++i) {
            ASSERT_NEAR(static_cast<double>(fast.gradient[i]), expected.gradient[i],
                        5e-5 * greatest)
                << i;
          }
        }
      }
    }
  });
}

bool SameBits(const tensor::FlatVector& a, const tensor::FlatVector& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(ImageNetworkProperty, ThreadsAndOrderOfPartsChangeNoBit) {
  for (const Named& model : Models()) {
    SCOPED_TRACE(model.name);
    const DrawnModel drawn(model.spec, {.batch = 11, .seed = 3});
    BackwardTasks tasks;
    EXPECT_TRUE(
        SameBits(Train(model.spec, drawn).gradient, Train(model.spec, drawn, &tasks).gradient));
  }
}

TEST(ImageNetworkProperty, EvaluationDropsNothing) {
  for (const Named& model : Models()) {
    SCOPED_TRACE(model.name);
    const DrawnModel drawn(model.spec, {.batch = 6, .seed = 5});
    Network network(model.spec, drawn.batch, nullptr, kSeed);
    std::vector<const std::uint8_t*> rows;
    const auto loss =
        network.Evaluate(drawn.x.view(), View(drawn, Features(model.spec), rows)).loss_sum;
    const auto expected = drawn.Run<double>(WithGradient::kNo);
    EXPECT_NEAR(loss / 6, expected.loss, 1e-5 * (1 + expected.loss));
  }
}

}  // namespace
}  // namespace covey::nn::image_network_test
