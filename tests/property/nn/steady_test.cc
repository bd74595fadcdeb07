// Properties of a network that runs for long: no step allocates, and a number that stops being
// finite reaches the loss and is traced to its layer.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covey/nn/network.h"
#include "support/count_allocations.h"
#include "support/drawn_model.h"
#include "support/levels.h"
#include "support/network_run.h"

namespace covey::nn::steady_test {
namespace {

using test::DrawnBatch;
using test::DrawnModel;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<ModelSpec> Models() {
  const Dense relu{.units = 13, .activation = Activation::kRelu};
  const Lstm sequence{.units = 5, .output = Lstm::Output::kSequence};
  const Conv2d conv{.filters = 5, .activation = Activation::kRelu};
  Conv2d same{.filters = 4, .kernel = {2, 2}, .padding = Padding::kSame};
  return {
      {.input = {20}, .layers = {relu, relu, Dense{.units = 4}}},
      {.input = {12, 10, 2},
       .layers = {conv, Pool2d{}, conv, Pool2d{.size = {2, 2}, .stride = {1, 1}}, same, Flatten{},
                  relu, Dropout{0.3f}, Dense{.units = 4}}},
      {.input = {6, 6, 2},
       .layers = {same, GroupNorm{.groups = 2}, GlobalAveragePool{}, LayerNorm{},
                  Dense{.units = 3}},
       .loss = Loss::kMeanSquaredError},
      {.input = {7},
       .layers = {OneHot{.symbols = 9}, sequence, Lstm{.units = 6}, Dense{.units = 9}}},
      {.input = {7},
       .layers = {Embedding{.symbols = 9, .size = 3}, sequence, LayerNorm{}, Dense{.units = 2}},
       .loss = Loss::kBinaryCrossEntropy},
      {.input = {3, 4}, .layers = {Lstm{.units = 6}}, .loss = Loss::kHuber},
  };
}

TEST(SteadyNetwork, NoStepAllocates) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "ThreadSanitizer has an operator new of its own";
  for (ModelSpec spec : Models()) {
    for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
      spec.numerics = numerics;
      DrawnModel drawn(spec, {.batch = 21, .seed = 1, .weighted = true});
      const DrawnBatch rows(drawn);
      const Batch batch = rows.View();
      Network network(spec, 32);
      tensor::FlatVector gradient(drawn.x.size());
      std::vector<double> norms(batch.size);
      const auto step = [&] {
        network.Forward(drawn.x.view(), batch, 1);
        network.Update(drawn.x.view(), batch, {.kind = tensor::UpdateKind::kSgd, .step = 1e-3f});
        network.Forward(drawn.x.view(), batch, 2);
        network.Gradient(drawn.x.view(), batch, gradient.view());
        network.Forward(drawn.x.view(), batch, 3);
        network.SampleNorms(drawn.x.view(), batch, norms, gradient.view());
        network.Evaluate(drawn.x.view(), batch);
      };
      step();
      const std::size_t before = test::allocations;
      for (int i = 0; i < 3; ++i) step();
      EXPECT_EQ(test::allocations, before) << Describe(spec);
    }
  }
  const std::size_t before = test::allocations;
  ::operator delete(::operator new(1));  // a new-expression could be optimised away
  EXPECT_EQ(test::allocations, before + 1) << "the counter works";
}

TEST(SteadyNetwork, WhatIsNotFiniteReachesTheLossAndIsTracedToItsLayer) {
  test::AtEveryLevel([] {
    for (ModelSpec spec : Models()) {
      const tensor::Layout layout = LayoutOf(spec);
      for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
        spec.numerics = numerics;
        DrawnModel drawn(spec, {.batch = 5, .seed = 1});
        const DrawnBatch rows(drawn);
        Network network(spec, 8);
        network.Forward(drawn.x.view(), rows.View());
        EXPECT_EQ(network.FirstNonFinite(), std::nullopt) << Describe(spec);
        for (const tensor::Slice& slice : layout.slices()) {
          if (slice.name == "embedding1.weight") continue;  // few of its rows are read
          for (const float bad : {kNaN, kInfinity}) {
            if (bad == kInfinity && slice.name.find("lstm") == 0) continue;  // gates saturate
            float& value = drawn.x[slice.offset];
            const float good = value;
            value = bad;
            const auto loss = network.Forward(drawn.x.view(), rows.View());
            EXPECT_FALSE(std::isfinite(loss.loss_sum)) << slice.name << " of " << Describe(spec);
            EXPECT_EQ(network.FirstNonFinite(), slice.name.substr(0, slice.name.find('.')))
                << bad << " in " << slice.name << " of " << Describe(spec);
            value = good;
          }
        }
      }
    }
  });
}

// Rubbish in the padding of a smaller batch is not looked at, and a NaN of an earlier batch is
// forgotten.
TEST(SteadyNetwork, OnlySamplesOfTheLastBatchCount) {
  const ModelSpec spec = Models()[0];
  DrawnModel many(spec, {.batch = 20, .seed = 1});
  many.samples[19 * 20] = kNaN;
  const DrawnModel few(spec, {.batch = 3, .seed = 1});
  const DrawnBatch all(many), some(few);
  Network network(spec, 20);
  EXPECT_TRUE(std::isnan(network.Forward(many.x.view(), all.View()).loss_sum));
  EXPECT_EQ(network.FirstNonFinite(), "dense1");
  EXPECT_TRUE(std::isfinite(network.Forward(few.x.view(), some.View()).loss_sum));
  EXPECT_EQ(network.FirstNonFinite(), std::nullopt);
}

}  // namespace
}  // namespace covey::nn::steady_test
