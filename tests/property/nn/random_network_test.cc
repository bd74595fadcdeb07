// Property: the fast network's loss and gradient are those of the plain one in
// double, for models drawn from a seed over all kinds of layers, at every
// kernel level; portable numerics give the same bits at all of them, and so
// does any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "covey/nn/network.h"
#include "support/drawn_model.h"
#include "support/levels.h"
#include "support/network_run.h"

namespace covey::nn::random_network_test {
namespace {

using test::AtEveryLevel;
using test::DrawnBatch;
using test::DrawnModel;
using test::ShuffledTasks;

constexpr std::uint64_t kModels = 300;
constexpr test::Dropped kDropped{.seed = 4, .step = 7};

// Draws a model of a few layers that fit together.
class SpecDraw {
 public:
  explicit SpecDraw(std::uint64_t seed) : stream_(seed, 1, Purpose::kTest) {}

  ModelSpec Draw() {
    switch (stream_.Below(4)) {
      case 0:
        spec_.input = {Size(1, 40)};
        break;
      case 1:
        spec_.input = {Size(4, 9), Size(4, 9), Size(1, 5)};
        Images();
        break;
      case 2:
        spec_.input = {Size(1, 6), Size(1, 9)};
        Sequences();
        break;
      default:
        spec_.input = {Size(1, 6)};
        Symbols();
        Sequences();
    }
    while (Chance(0.4)) Flat();
    Last();
    return spec_;
  }

 private:
  std::size_t Size(std::size_t least, std::size_t most) {
    return least + static_cast<std::size_t>(stream_.Below(most - least + 1));
  }
  bool Chance(double probability) { return stream_.Chance(probability); }
  Activation Any() { return static_cast<Activation>(stream_.Below(6)); }  // but softmax
  float Rate() { return stream_.Uniform(0.0f, 0.6f); }

  // Appends the layer if it fits what is there.
  void Try(LayerSpec layer) {
    spec_.layers.push_back(layer);
    spec_.loss = Loss::kMeanSquaredError;
    spec_.layers.push_back(Flatten{});
    const bool fits = Validate(spec_).has_value();
    spec_.layers.pop_back();
    if (!fits) spec_.layers.pop_back();
  }

  void Images() {
    const auto extent = [&](std::size_t most) { return Extent{Size(1, most), Size(1, most)}; };
    for (std::size_t i = Size(1, 4); i-- > 0;) {
      switch (stream_.Below(6)) {
        case 0:
        case 1:
          Try(Conv2d{.filters = Size(1, 18),
                     .kernel = extent(3),
                     .stride = extent(2),
                     .padding = Chance(0.5) ? Padding::kSame : Padding::kValid,
                     .activation = Chance(0.5) ? Activation::kRelu : Any()});
          if (Chance(0.5)) Try(Pool2d{});
          break;
        case 2:
          Try(Pool2d{.kind = Chance(0.5) ? Pool2d::Kind::kMax : Pool2d::Kind::kAverage,
                     .size = extent(3),
                     .stride = extent(3)});
          break;
        case 3:
          Try(GroupNorm{.groups = Size(1, 3), .epsilon = 0.1f});
          break;
        default:
          Anywhere();
      }
    }
    if (Chance(0.3)) Try(GlobalAveragePool{});
  }

  void Sequences() {
    for (std::size_t i = Size(1, 3); i-- > 0;) {
      if (Chance(0.3)) Anywhere();
      Try(Lstm{.units = Size(1, 20),
               .output = Chance(0.6) ? Lstm::Output::kSequence : Lstm::Output::kLast,
               .gates = Chance(0.5) ? Activation::kSigmoid : Activation::kHardSigmoid});
    }
  }

  void Symbols() {
    if (Chance(0.5)) {
      Try(OneHot{.symbols = Size(1, 20)});
    } else {
      Try(Embedding{.symbols = Size(1, 20), .size = Size(1, 9)});
    }
  }

  void Anywhere() {
    switch (stream_.Below(4)) {
      case 0:
        return Try(Activate{Any()});
      case 1:
        return Try(Dropout{Rate()});
      case 2:
        return Try(LayerNorm{.epsilon = 0.1f});
      default:
        return Try(Flatten{});
    }
  }

  void Flat() {
    if (Chance(0.4)) return Anywhere();
    Try(Dense{.units = Size(1, 40), .activation = static_cast<Activation>(stream_.Below(7))});
  }

  void Last() {
    spec_.loss = static_cast<Loss>(stream_.Below(5));
    spec_.huber_delta = stream_.Uniform(0.2f, 2.0f);
    Dense last{.units = Size(2, 12)};
    const bool folds = Chance(0.3);
    if (spec_.loss == Loss::kBinaryCrossEntropy) {
      if (folds) last.activation = Activation::kSigmoid;
    } else if (spec_.loss == Loss::kMeanSquaredError || spec_.loss == Loss::kHuber) {
      if (folds) last.activation = static_cast<Activation>(stream_.Below(7));
    } else if (folds) {
      last.activation = Activation::kSoftmax;
    }
    spec_.layers.push_back(last);
  }

  Stream stream_;
  ModelSpec spec_;
};

struct Outcome {
  double loss = 0;  // mean
  std::uint32_t correct = 0;
  std::vector<float> gradient;
  bool operator==(const Outcome&) const = default;
};

Outcome Train(const ModelSpec& spec, const DrawnModel& drawn, tensor::Tasks* tasks = nullptr) {
  // Room for more samples than come.
  Network network(spec, drawn.batch + 5, tasks, kDropped.seed);
  const DrawnBatch batch(drawn);
  Outcome outcome{.gradient = std::vector<float>(drawn.x.size())};
  const auto loss = network.Forward(drawn.x.view(), batch.View(), kDropped.step);
  network.Gradient(drawn.x.view(), batch.View(), outcome.gradient);
  outcome.loss = loss.loss_sum / static_cast<double>(drawn.batch);
  outcome.correct = loss.correct;
  return outcome;
}

std::size_t BatchOf(std::uint64_t seed) {
  constexpr std::size_t kBatches[] = {1, 7, 16, 33};
  return kBatches[seed % 4];
}

DrawnModel DrawModel(const ModelSpec& spec, std::uint64_t seed) {
  DrawnModel drawn(spec, {.batch = BatchOf(seed), .seed = seed, .weighted = seed % 3 == 0});
  test::DrawDropout(spec, kDropped, drawn);
  return drawn;
}

std::string Trace(const ModelSpec& spec, std::uint64_t seed) {
  return "seed " + std::to_string(seed) + " batch " + std::to_string(BatchOf(seed)) + "\n" +
         Describe(spec);
}

void ExpectNear(const Outcome& fast, const ReferenceResult<double>& plain) {
  EXPECT_NEAR(fast.loss, plain.loss, 1e-5 * (1 + plain.loss));
  EXPECT_EQ(fast.correct, plain.correct);
  double greatest = 0;
  for (const double g : plain.gradient) greatest = std::max(greatest, std::abs(g));
  for (std::size_t i = 0; i < fast.gradient.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(fast.gradient[i]), plain.gradient[i], 4e-5 * greatest) << i;
  }
}

TEST(RandomNetworkProperty, EqualsThePlainOneInDouble) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    ModelSpec spec = SpecDraw(seed).Draw();
    SCOPED_TRACE(Trace(spec, seed));
    ASSERT_TRUE(Validate(spec)) << Validate(spec).error().Format();
    const DrawnModel drawn = DrawModel(spec, seed);
    const auto plain = drawn.Run<double>(WithGradient::kYes);
    AtEveryLevel([&] { ExpectNear(Train(spec, drawn), plain); });
    spec.numerics = tensor::Numerics::kPortable;
    ExpectNear(Train(spec, drawn), plain);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomNetworkProperty, PortableBitsAreThoseOfEveryLevel) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    ModelSpec spec = SpecDraw(seed).Draw();
    spec.numerics = tensor::Numerics::kPortable;
    SCOPED_TRACE(Trace(spec, seed));
    const DrawnModel drawn = DrawModel(spec, seed);
    const Outcome wanted = Train(spec, drawn);
    AtEveryLevel([&] { EXPECT_TRUE(Train(spec, drawn) == wanted); });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomNetworkProperty, ThreadsDoNotChangeBits) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    ModelSpec spec = SpecDraw(seed).Draw();
    SCOPED_TRACE(Trace(spec, seed));
    const DrawnModel drawn = DrawModel(spec, seed);
    for (const tensor::Numerics numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
      spec.numerics = numerics;
      const Outcome wanted = Train(spec, drawn);
      for (const std::size_t width : {1u, 2u, 7u}) {
        ShuffledTasks tasks(width);
        EXPECT_TRUE(Train(spec, drawn, &tasks) == wanted) << "width " << width;
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace covey::nn::random_network_test
