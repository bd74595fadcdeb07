// Networks with LSTM, embedding and one-hot layers against plain loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "covey/nn/network.h"
#include "support/drawn_model.h"
#include "support/levels.h"

namespace covey::nn::recurrent_test {
namespace {

using test::AtEveryLevel;
using test::DrawnModel;

// Parts from the last to the first, as threads might come to them.
class BackwardsTasks final : public tensor::Tasks {
 public:
  std::size_t width() const override { return 3; }
  void Run(std::size_t count, tensor::Task task) override {
    for (std::size_t part = count; part-- > 0;) task(part, part % 3);
  }
};

std::vector<ModelSpec> Models() {
  const Lstm sequence{.units = 11, .output = Lstm::Output::kSequence};
  Lstm last{.units = 6};
  std::vector<ModelSpec> models;
  models.push_back(
      {.input = {7}, .layers = {OneHot{.symbols = 13}, sequence, last, Dense{.units = 5}}});
  models.push_back({.input = {5}, .layers = {OneHot{.symbols = 4}, last, Dense{.units = 3}}});
  models.push_back({.input = {5}, .layers = {OneHot{.symbols = 4}, Dense{.units = 3}}});
  models.push_back(
      {.input = {5}, .layers = {Embedding{.symbols = 9, .size = 3}, sequence, Dense{.units = 3}}});
  last.gates = Activation::kHardSigmoid;
  models.push_back({.input = {12, 6}, .layers = {sequence, last, Dense{.units = 4}}});
  models.push_back({.input = {3, 1}, .layers = {last, Dense{.units = 2}}});
  return models;
}

// The rows of a drawn batch as the network reads them.
class Rows {
 public:
  explicit Rows(const DrawnModel& drawn) : drawn_(drawn) {
    const std::size_t features = drawn.samples.size() / drawn.batch;
    for (std::size_t b = 0; b < tensor::PaddedBatch(drawn.batch); ++b) {
      const float* row = drawn.samples.data() + (b < drawn.batch ? b : 0) * features;
      rows_.push_back(reinterpret_cast<const std::uint8_t*>(row));
    }
  }
  Batch View() const {
    return {.rows = {.rows = rows_.data(), .element = tensor::Element::kFloat32},
            .size = drawn_.batch,
            .labels = drawn_.labels};
  }

 private:
  const DrawnModel& drawn_;
  std::vector<const std::uint8_t*> rows_;
};

struct Trained {
  double loss = 0;  // mean
  std::vector<float> gradient;
  bool operator==(const Trained&) const = default;
};

Trained Train(const ModelSpec& spec, const DrawnModel& drawn, tensor::Tasks* tasks = nullptr,
              std::size_t spare = 0) {
  const Rows rows(drawn);
  Network network(spec, drawn.batch + spare, tasks);
  Trained result{.gradient = std::vector<float>(drawn.x.size())};
  result.loss = network.Forward(drawn.x.view(), rows.View()).loss_sum;
  result.loss /= static_cast<double>(drawn.batch);
  network.Gradient(drawn.x.view(), rows.View(), result.gradient);
  return result;
}

TEST(RecurrentProperty, GradientEqualsPlainLoopsInDouble) {
  AtEveryLevel([] {
    for (ModelSpec spec : Models()) {
      for (const std::size_t batch : {1u, 8u, 37u}) {
        SCOPED_TRACE(Summary(spec) + " batch " + std::to_string(batch));
        const DrawnModel drawn(spec, {.batch = batch, .seed = 5});
        const auto wanted = drawn.Run<double>(WithGradient::kYes);
        double greatest = 0;
        for (const double g : wanted.gradient) greatest = std::max(greatest, std::abs(g));
        for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
          spec.numerics = numerics;
          const Trained got = Train(spec, drawn, nullptr, 30);
          EXPECT_NEAR(got.loss, wanted.loss, 1e-5 * wanted.loss);
          for (std::size_t i = 0; i < got.gradient.size(); ++i) {
            ASSERT_NEAR(static_cast<double>(got.gradient[i]), wanted.gradient[i], 3e-5 * greatest)
                << i;
          }
        }
      }
    }
  });
}

TEST(RecurrentProperty, TheOrderOfThePartsChangesNoBit) {
  AtEveryLevel([] {
    for (const ModelSpec& spec : Models()) {
      SCOPED_TRACE(Summary(spec));
      const DrawnModel drawn(spec, {.batch = 70, .seed = 6});
      BackwardsTasks backwards;
      EXPECT_EQ(Train(spec, drawn, &backwards), Train(spec, drawn));
    }
  });
}

TEST(RecurrentProperty, ALayersParametersAreUpdatedAfterTheWayBackThroughThem) {
  AtEveryLevel([] {
    for (const ModelSpec& spec : Models()) {
      SCOPED_TRACE(Summary(spec));
      const DrawnModel drawn(spec, {.batch = 9, .seed = 8});
      const Trained trained = Train(spec, drawn);
      tensor::FlatVector expected = drawn.x.Clone();
      const tensor::UpdateRule rule{.kind = tensor::UpdateKind::kSgd, .step = 3.0f};
      tensor::ApplyUpdate(rule, 0, trained.gradient, expected.view(), spec.numerics);
      tensor::FlatVector x = drawn.x.Clone();
      const Rows rows(drawn);
      Network network(spec, 9);
      network.Forward(x.view(), rows.View());
      network.Update(x.view(), rows.View(), rule);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], expected[i]) << i;
    }
  });
}

TEST(RecurrentDeathTest, ASymbolOutsideTheAlphabetStopsTheProgram) {
  for (const std::size_t model : {0u, 2u, 3u}) {
    const ModelSpec spec = Models()[model];
    DrawnModel drawn(spec, {.batch = 2, .seed = 9});
    drawn.samples[1] = static_cast<float>(Symbols(spec));
    EXPECT_DEATH(Train(spec, drawn), "symbols");
  }
}

}  // namespace
}  // namespace covey::nn::recurrent_test
