// Steps that need the whole gradient first: clipping, resilient propagation, batches up to the
// whole shard, on one thread and several.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <variant>
#include <vector>

#include "covey/base/random.h"
#include "covey/gradient/trainer.h"
#include "covey/gradient/workers.h"
#include "gradient/small_model.h"
#include "support/levels.h"
#include "support/scrambled_tasks.h"

namespace covey::gradient::batch_training_test {
namespace {

using data::Dataset;
using test::AtEveryLevel;
using Kind = optim::Settings::Kind;

constexpr std::size_t kFeatures = 12;
constexpr std::size_t kClasses = 3;
constexpr std::size_t kSamples = 700;

Dataset Noise() {
  Dataset::Memory memory;
  memory.shape = {kFeatures};
  memory.classes = kClasses;
  Stream stream(5, 0, Purpose::kTest);
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto label = static_cast<std::size_t>(stream.Below(kClasses));
    memory.labels.push_back(static_cast<std::uint8_t>(label));
    for (std::size_t k = 0; k < kFeatures; ++k) {
      memory.rows.push_back(
          static_cast<std::uint8_t>((k % kClasses == label ? 60 : 0) + stream.Below(190)));
    }
  }
  return Dataset::FromMemory(std::move(memory));
}

// Narrow fits SmallMlp; Wide does not and goes through a network.
nn::ModelSpec Narrow() {
  nn::ModelSpec spec;
  spec.input = {kFeatures};
  spec.layers = {nn::Dense{.units = 10, .activation = nn::Activation::kRelu},
                 nn::Dense{.units = kClasses}};
  return spec;
}

nn::ModelSpec Wide() {
  nn::ModelSpec spec = Narrow();
  spec.layers.front() =
      nn::Dense{.units = tensor::kSmallMlpWidth + 1, .activation = nn::Activation::kRelu};
  return spec;
}

tensor::FlatVector Start(const nn::ModelSpec& spec) {
  tensor::FlatVector x(nn::LayoutOf(spec).size());
  Stream stream(1, 0, Purpose::kInit);
  nn::Initialise(spec, stream, x.view());
  return x;
}

std::vector<std::uint32_t> Rows(std::size_t count) {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(static_cast<std::uint32_t>(i * 37 % kSamples));
  }
  return rows;
}

std::vector<float> Values(const tensor::FlatVector& x) { return {x.data(), x.data() + x.size()}; }

// Returns: x after some steps.
std::vector<float> Train(const nn::ModelSpec& spec, const optim::Settings& settings,
                         std::size_t batch, tensor::Tasks* tasks = nullptr) {
  const Dataset dataset = Noise();
  tensor::FlatVector x = Start(spec);
  Trainer trainer(spec, settings, batch, tasks);
  for (int t = 0; t < 4; ++t) {
    EXPECT_TRUE(trainer.Step(x.view(), dataset, Rows(batch)).finite);
  }
  return Values(x);
}

// A limit that is never reached makes the trainer store the gradient: the same bits as fused.
TEST(BatchTraining, StoredAndFusedGradientsGiveTheSameSteps) {
  AtEveryLevel([] {
    for (const Kind kind : {Kind::kAdam, Kind::kRmsProp, Kind::kBackprop, Kind::kSgd}) {
      const optim::Settings fused{.kind = kind, .learning_rate = 0.01f};
      optim::Settings stored = fused;
      stored.clip.norm = 1e9f;
      EXPECT_EQ(Train(Wide(), fused, 48), Train(Wide(), stored, 48)) << optim::Name(kind);
    }
  });
}

TEST(BatchTraining, SmallModelsAndNetworksAgree) {
  AtEveryLevel([] {
    const Dataset dataset = Noise();
    const nn::ModelSpec spec = Narrow();
    ASSERT_TRUE(SmallShapeOf(spec));
    const tensor::FlatVector x = Start(spec);
    Trainer network(spec, {}, 200);
    Trainer small(spec, {.kind = Kind::kIrpropPlus}, 200);
    std::vector<float> a(x.size()), b(x.size());
    const StepResult ra = network.Gradient(x.view(), dataset, Rows(200), a);
    const StepResult rb = small.Gradient(x.view(), dataset, Rows(200), b);
    EXPECT_NEAR(ra.loss_sum, rb.loss_sum, 1e-4 * ra.loss_sum);
    EXPECT_EQ(ra.correct, rb.correct);
    EXPECT_EQ(ra.samples, rb.samples);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6f) << i;
  });
}

TEST(BatchTraining, PiecesAddUpToTheWhole) {
  AtEveryLevel([] {
    const Dataset dataset = Noise();
    const nn::ModelSpec spec = Wide();
    ASSERT_FALSE(SmallShapeOf(spec));
    const tensor::FlatVector x = Start(spec);
    Trainer whole(spec, {}, kSamples);
    std::vector<float> gradient(x.size());
    const StepResult result = whole.Gradient(x.view(), dataset, Rows(kSamples), gradient);
    EXPECT_EQ(result.samples, kSamples);
    std::vector<double> mean(x.size());
    double loss = 0;
    Trainer some(spec, {}, 100);
    for (std::size_t at = 0; at < kSamples; at += 100) {
      std::vector<float> part(x.size());
      const auto rows = Rows(kSamples);
      loss += some.Gradient(x.view(), dataset, std::span(rows).subspan(at, 100), part).loss_sum;
      for (std::size_t i = 0; i < part.size(); ++i) mean[i] += static_cast<double>(part[i]) / 7;
    }
    EXPECT_NEAR(result.loss_sum, loss, 1e-4 * loss);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(gradient[i]), mean[i], 1e-6) << i;
    }
  });
}

TEST(BatchTraining, TheNumberOfThreadsChangesNoBit) {
  for (const nn::ModelSpec& spec : {Narrow(), Wide()}) {
    for (const Kind kind : {Kind::kIrpropPlus, Kind::kBackprop}) {
      const optim::Settings settings{.kind = kind, .learning_rate = 0.05f};
      const auto expected = Train(spec, settings, kSamples);
      for (const std::size_t width : {1u, 2u, 7u}) {
        test::ScrambledTasks scrambled(width, width);
        EXPECT_EQ(Train(spec, settings, kSamples, &scrambled), expected) << width;
        Workers workers(width);
        EXPECT_EQ(Train(spec, settings, kSamples, &workers), expected) << width;
      }
    }
  }
}

TEST(BatchTraining, ResilientPropagationLowersTheLoss) {
  const Dataset dataset = Noise();
  for (const nn::ModelSpec& spec : {Narrow(), Wide()}) {
    for (const Kind kind :
         {Kind::kRpropMinus, Kind::kRpropPlus, Kind::kIrpropMinus, Kind::kIrpropPlus}) {
      tensor::FlatVector x = Start(spec);
      Trainer trainer(spec, {.kind = kind, .step_initial = 0.001f}, kSamples);
      const double before = trainer.Step(x.view(), dataset, Rows(kSamples)).loss_sum;
      for (int t = 0; t < 40; ++t) trainer.Step(x.view(), dataset, Rows(kSamples));
      const double after = trainer.Step(x.view(), dataset, Rows(kSamples)).loss_sum;
      EXPECT_LT(after, 0.5 * before) << optim::Name(kind);
      EXPECT_EQ(trainer.optimizer().steps(), 42u);
    }
  }
}

TEST(BatchTraining, ALossThatIsNotFiniteChangesNothing) {
  const Dataset dataset = Noise();
  for (const nn::ModelSpec& spec : {Narrow(), Wide()}) {
    for (const std::size_t batch : {std::size_t{20}, kSamples}) {
      tensor::FlatVector x = Start(spec);
      x[1] = NAN;
      const auto before = Values(x);
      Trainer trainer(spec, {.kind = Kind::kIrpropPlus}, batch);
      EXPECT_FALSE(trainer.Step(x.view(), dataset, Rows(batch)).finite);
      EXPECT_EQ(trainer.optimizer().steps(), 0u);
      const auto after = Values(x);
      EXPECT_EQ(0, std::memcmp(before.data(), after.data(), before.size() * sizeof(float)));
    }
  }
}

TEST(SmallModel, IsWhatTheKernelCanDo) {
  nn::ModelSpec spec = Narrow();
  const nn::Dense softmax{.units = kClasses, .activation = nn::Activation::kSoftmax};
  spec.layers = {nn::Flatten{}, softmax};
  ASSERT_TRUE(SmallShapeOf(spec));
  EXPECT_EQ(SmallShapeOf(spec)->layers.size(), 1u);
  EXPECT_EQ(SmallShapeOf(spec)->layers.back().curve, tensor::Curve::kLinear) << "in the loss";
  spec.layers = {nn::Dense{.units = 4}, nn::Dropout{}, softmax};
  EXPECT_FALSE(SmallShapeOf(spec));
  spec = Narrow();
  spec.loss = nn::Loss::kMeanSquaredError;
  ASSERT_TRUE(SmallShapeOf(spec));
  EXPECT_EQ(SmallShapeOf(spec)->loss, tensor::SmallMlpShape::Loss::kMeanSquaredError);
  spec.loss = nn::Loss::kHuber;
  EXPECT_FALSE(SmallShapeOf(spec));
}

TEST(BatchTrainingDeathTest, MismatchesAreProgrammerErrors) {
  const Dataset dataset = Noise();
  const nn::ModelSpec spec = Narrow();
  tensor::FlatVector x = Start(spec);
  Trainer trainer(spec, {.kind = Kind::kIrpropPlus}, 10);
  EXPECT_DEATH(trainer.Step(x.view(), dataset, Rows(11)), "check failed");
  EXPECT_DEATH(trainer.Step(x.view(), dataset, {}), "check failed");
  EXPECT_DEATH(trainer.Step(x.view(), dataset, std::vector<std::uint32_t>{kSamples}),
               "check failed");
  nn::ModelSpec other = Narrow();
  other.input = {kFeatures + 1};
  tensor::FlatVector y = Start(other);
  Trainer misfit(other, {.kind = Kind::kIrpropPlus}, 10);
  EXPECT_DEATH(misfit.Step(y.view(), dataset, Rows(10)), "check failed");
}

}  // namespace
}  // namespace covey::gradient::batch_training_test
