// A recurrent network on threads: the same bits as on one.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "covey/gradient/workers.h"
#include "covey/nn/network.h"
#include "support/drawn_model.h"

namespace covey::gradient::recurrent_threads_test {
namespace {

struct Trained {
  double loss = 0;
  std::vector<float> gradient;
  bool operator==(const Trained&) const = default;
};

// Two steps on the same memory: what the first one leaves behind must not matter.
Trained Train(const nn::ModelSpec& spec, const test::DrawnModel& drawn, std::size_t threads) {
  const std::size_t features = nn::Features(spec);
  std::vector<const std::uint8_t*> rows;
  for (std::size_t b = 0; b < tensor::PaddedBatch(drawn.batch); ++b) {
    const float* row = drawn.samples.data() + (b < drawn.batch ? b : 0) * features;
    rows.push_back(reinterpret_cast<const std::uint8_t*>(row));
  }
  const nn::Batch batch{.rows = {.rows = rows.data(), .element = tensor::Element::kFloat32},
                        .size = drawn.batch,
                        .labels = drawn.labels};
  Workers workers(threads);
  nn::Network network(spec, drawn.batch, &workers);
  Trained result{.gradient = std::vector<float>(drawn.x.size())};
  for (int step = 0; step < 2; ++step) {
    result.loss = network.Forward(drawn.x.view(), batch).loss_sum;
    network.Gradient(drawn.x.view(), batch, result.gradient);
  }
  return result;
}

TEST(RecurrentThreads, TwoAndSevenThreadsGiveTheBitsOfOne) {
  const nn::Lstm sequence{.units = 19, .output = nn::Lstm::Output::kSequence};
  const nn::Lstm last{.units = 9, .gates = nn::Activation::kHardSigmoid};
  std::vector<nn::ModelSpec> models;
  models.push_back(
      {.input = {6}, .layers = {nn::OneHot{.symbols = 11}, sequence, last, nn::Dense{.units = 5}}});
  models.push_back(
      {.input = {6},
       .layers = {nn::Embedding{.symbols = 11, .size = 3}, sequence, nn::Dense{.units = 5}}});
  models.push_back({.input = {8, 5}, .layers = {sequence, last, nn::Dense{.units = 5}}});
  for (nn::ModelSpec& spec : models) {
    for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
      spec.numerics = numerics;
      SCOPED_TRACE(nn::Summary(spec));
      const test::DrawnModel drawn(spec, {.batch = 101, .seed = 4});
      const Trained one = Train(spec, drawn, 1);
      EXPECT_EQ(Train(spec, drawn, 2), one);
      EXPECT_EQ(Train(spec, drawn, 7), one);
    }
  }
}

}  // namespace
}  // namespace covey::gradient::recurrent_threads_test
