// The fast network against the plain one.
#include "covey/nn/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "covey/base/random.h"
#include "covey/nn/reference.h"
#include "support/levels.h"

namespace covey::nn::network_test {
namespace {

using test::AtEveryLevel;

ModelSpec Stack(std::size_t inputs, std::vector<std::size_t> units) {
  ModelSpec spec{.input = {inputs}, .layers = {}};
  for (const std::size_t count : units) {
    spec.layers.push_back(Dense{.units = count, .activation = Activation::kRelu});
  }
  std::get<Dense>(spec.layers.back()).activation = Activation::kLinear;
  return spec;
}

std::vector<ModelSpec> Stacks() {
  std::vector<ModelSpec> stacks = {
      Stack(1, {2}),        Stack(13, {100, 8}),   Stack(5, {1, 2}),     Stack(17, {3, 1, 4}),
      Stack(120, {19, 10}), Stack(33, {31, 7, 5}), Stack(784, {72, 10}), Stack(3, {130, 120, 2})};
  stacks.push_back(Stack(9, {6, 4}));
  std::get<Dense>(stacks.back().layers[0]).activation = Activation::kLinear;
  return stacks;
}

// A random model and batch, as bytes for the fast network and as scalars for the plain one.
struct Drawn {
  Drawn(const ModelSpec& spec, std::size_t batch, std::uint64_t seed)
      : x(LayoutOf(spec).size()), labels(batch), features(Features(spec)) {
    Stream stream(seed, 0, Purpose::kTest);
    for (float& value : x.view()) value = stream.Uniform(-0.5f, 0.5f);
    bytes.resize(batch * features);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(stream.Next32());
    for (auto& label : labels) label = static_cast<std::uint32_t>(stream.Below(Outputs(spec)));
    for (std::size_t b = 0; b < tensor::PaddedBatch(batch); ++b) {
      rows.push_back(bytes.data() + (b < batch ? b : 0) * features);
    }
  }

  Batch View() const {
    return {.rows = {.rows = rows.data(), .scale = 1.0f / 255},
            .size = labels.size(),
            .labels = labels};
  }

  template <class T>
  std::vector<T> Samples() const {
    std::vector<T> samples;
    for (const auto byte : bytes)
      samples.push_back(static_cast<T>(byte) * static_cast<T>(1.0f / 255));
    return samples;
  }

  template <class T>
  std::vector<T> Parameters() const {
    return std::vector<T>(x.data(), x.data() + x.size());
  }

  tensor::FlatVector x;
  std::vector<std::uint32_t> labels;
  std::size_t features;
  std::vector<std::uint8_t> bytes;
  std::vector<const std::uint8_t*> rows;
};

TEST(NetworkProperty, FastGradientEqualsPlainInDouble) {
  AtEveryLevel([] {
    for (const ModelSpec& spec : Stacks()) {
      for (const std::size_t batch : {1u, 2u, 15u, 16u, 17u, 33u, 300u}) {
        if (Features(spec) * batch > 30000) continue;
        SCOPED_TRACE(Summary(spec) + " batch " + std::to_string(batch));
        const Drawn drawn(spec, batch, 5);
        Network network(spec, batch);
        tensor::FlatVector gradient(drawn.x.size());
        const auto fast = network.Forward(drawn.x.view(), drawn.View());
        network.Gradient(drawn.x.view(), drawn.View(), gradient.view());

        const ReferenceNetwork<double> plain(spec);
        const auto parameters = drawn.Parameters<double>();
        const auto samples = drawn.Samples<double>();
        const auto expected = plain.Run(parameters, samples, drawn.labels, WithGradient::kYes);
        const auto count = static_cast<double>(batch);
        EXPECT_NEAR(fast.loss_sum / count, expected.loss, 2e-6 * (1 + expected.loss));
        EXPECT_EQ(fast.correct, expected.correct);
        double greatest = 0;
        for (const double g : expected.gradient) greatest = std::max(greatest, std::abs(g));
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          ASSERT_NEAR(static_cast<double>(gradient[i]), expected.gradient[i], 2e-5 * greatest) << i;
        }
      }
    }
  });
}

TEST(NetworkProperty, EvaluateEqualsForwardAndASmallerBatchFits) {
  AtEveryLevel([] {
    const ModelSpec spec = Stack(33, {31, 7, 5});
    Network network(spec, 40);
    for (const std::size_t batch : {40u, 1u, 39u}) {
      const Drawn drawn(spec, batch, 6);
      const auto a = network.Evaluate(drawn.x.view(), drawn.View());
      const auto b = network.Forward(drawn.x.view(), drawn.View());
      EXPECT_EQ(a.loss_sum, b.loss_sum);
      EXPECT_EQ(a.correct, b.correct);
    }
  });
}

// A layer's weights are updated only after the gradient of the layer before has passed through
// them.
TEST(NetworkProperty, UpdateUsesTheWeightsOfTheForwardPass) {
  AtEveryLevel([] {
    const ModelSpec spec = Stack(20, {12, 9, 4});
    const Drawn drawn(spec, 10, 8);
    Network network(spec, 10);
    tensor::FlatVector gradient(drawn.x.size());
    network.Forward(drawn.x.view(), drawn.View());
    network.Gradient(drawn.x.view(), drawn.View(), gradient.view());
    tensor::FlatVector expected = drawn.x.Clone();
    const tensor::UpdateRule rule{.kind = tensor::UpdateKind::kSgd, .step = 3.0f};
    tensor::ApplyUpdate(rule, 0, gradient.view(), expected.view(), spec.numerics);
    tensor::FlatVector x = drawn.x.Clone();
    network.Forward(x.view(), drawn.View());
    network.Update(x.view(), drawn.View(), rule);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], expected[i]) << i;
  });
}

TEST(NetworkProperty, LevelsAgree) {
  const ModelSpec spec = Stack(120, {19, 10});
  const Drawn drawn(spec, 32, 9);
  std::vector<std::vector<float>> gradients;
  AtEveryLevel([&] {
    Network network(spec, 32);
    std::vector<float> gradient(drawn.x.size());
    network.Forward(drawn.x.view(), drawn.View());
    network.Gradient(drawn.x.view(), drawn.View(), gradient);
    gradients.push_back(gradient);
    std::vector<float> again(drawn.x.size());
    network.Forward(drawn.x.view(), drawn.View());
    network.Gradient(drawn.x.view(), drawn.View(), again);
    EXPECT_EQ(gradient, again) << "same level, same bits";
  });
  for (const auto& gradient : gradients) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_NEAR(gradient[i], gradients[0][i], 1e-6f) << i;
    }
  }
}

}  // namespace
}  // namespace covey::nn::network_test
