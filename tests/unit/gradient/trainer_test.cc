#include "covey/gradient/trainer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "covey/base/random.h"
#include "covey/gradient/evaluator.h"
#include "covey/nn/reference.h"
#include "support/count_allocations.h"
#include "support/levels.h"

namespace covey::gradient::trainer_test {
namespace {

using data::Dataset;
using test::AtEveryLevel;
using Kind = optim::Settings::Kind;

// Classes are bright stripes at different places, under noise: easy to learn, not trivial.
Dataset Stripes(std::size_t samples, std::size_t features, std::size_t classes) {
  Dataset::Memory memory{.shape = {features},
                         .rows = {},
                         .labels = {},
                         .classes = static_cast<std::uint32_t>(classes)};
  Stream stream(17, 0, Purpose::kTest);
  for (std::size_t i = 0; i < samples; ++i) {
    const auto label = static_cast<std::size_t>(stream.Below(classes));
    memory.labels.push_back(static_cast<std::uint8_t>(label));
    for (std::size_t k = 0; k < features; ++k) {
      const bool bright = k % classes == label;
      memory.rows.push_back(static_cast<std::uint8_t>((bright ? 90 : 0) + stream.Below(160)));
    }
  }
  return Dataset::FromMemory(std::move(memory));
}

nn::ModelSpec Model(std::size_t features, std::size_t hidden, std::size_t classes) {
  return {.input = {features},
          .layers = {nn::Dense{.units = hidden, .activation = nn::Activation::kRelu},
                     nn::Dense{.units = classes}}};
}

tensor::FlatVector Start(const nn::ModelSpec& spec) {
  tensor::FlatVector x(nn::LayoutOf(spec).size());
  Stream stream(1, 0, Purpose::kInit);
  nn::Initialise(spec, stream, x.view());
  return x;
}

std::vector<std::uint32_t> Rows(std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = begin; i < end; ++i) rows.push_back(static_cast<std::uint32_t>(i));
  return rows;
}

optim::Settings Fast(Kind kind) {
  optim::Settings settings{.kind = kind};
  if (kind == Kind::kAdam) settings.learning_rate = 0.01f;
  if (kind == Kind::kSgd) settings.learning_rate = 0.1f, settings.momentum = 0.9f;
  if (kind == Kind::kQuasiGlobal) settings.learning_rate = 0.1f;
  return settings;
}

// One node is plain training: float steps follow a network and an optimizer written out in double.
TEST(Trainer, StepsFollowPlainTrainingInDouble) {
  AtEveryLevel([] {
    const Dataset dataset = Stripes(64, 20, 4);
    const nn::ModelSpec spec = Model(20, 9, 4);
    tensor::FlatVector x = Start(spec);
    std::vector<double> y(x.data(), x.data() + x.size());
    std::vector<double> m(x.size()), v(x.size());
    Trainer trainer(spec, {.learning_rate = 0.01f}, 16);
    const nn::ReferenceNetwork<double> plain(spec);
    for (int t = 1; t <= 12; ++t) {
      const std::size_t first = static_cast<std::size_t>(t) * 5 % 48;
      const auto rows = Rows(first, first + 16 - static_cast<std::size_t>(t) % 3);
      std::vector<double> samples;
      std::vector<std::uint32_t> labels;
      for (const auto row : rows) {
        for (std::size_t k = 0; k < 20; ++k) {
          samples.push_back(dataset.row(row)[k] * static_cast<double>(dataset.scale()) +
                            static_cast<double>(dataset.offset()));
        }
        labels.push_back(dataset.label(row));
      }
      const auto expected = plain.Run(y, samples, labels, nn::WithGradient::kYes);
      const StepResult result = trainer.Step(x.view(), dataset, rows);
      EXPECT_TRUE(result.finite);
      EXPECT_EQ(result.samples, rows.size());
      EXPECT_EQ(result.correct, expected.correct);
      EXPECT_NEAR(result.loss_sum / result.samples, expected.loss, 1e-4);
      const double step = 0.01 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
      for (std::size_t i = 0; i < y.size(); ++i) {
        m[i] += 0.1 * (expected.gradient[i] - m[i]);
        v[i] += 0.001 * (expected.gradient[i] * expected.gradient[i] - v[i]);
        y[i] -= step * m[i] / (std::sqrt(v[i]) + 1e-7);
      }
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      // Adam divides by the gradient's size, so where that is all rounding the two may part by a
      // step or so.
      EXPECT_NEAR(static_cast<double>(x[i]), y[i], 2e-3) << i;
    }
    EXPECT_EQ(trainer.optimizer().steps(), 12u);
  });
}

TEST(Trainer, EveryOptimizerLearns) {
  AtEveryLevel([] {
    const Dataset dataset = Stripes(400, 30, 5);
    const nn::ModelSpec spec = Model(30, 16, 5);
    for (const Kind kind : {Kind::kSgd, Kind::kAdam, Kind::kQuasiGlobal}) {
      Trainer trainer(spec, Fast(kind), 20);
      Evaluator evaluator(spec);
      tensor::FlatVector x = Start(spec);
      EXPECT_LT(evaluator.Run(x.view(), dataset, Rows(300, 400)).accuracy, 0.6);
      for (int epoch = 0; epoch < 12; ++epoch) {
        for (std::size_t first = 0; first < 300; first += 20) {
          ASSERT_TRUE(trainer.Step(x.view(), dataset, Rows(first, first + 20)).finite);
          if (first % 100 == 80) trainer.optimizer().EndRound(x.view());
        }
      }
      const Evaluation after = evaluator.Run(x.view(), dataset, Rows(300, 400));
      EXPECT_GT(after.accuracy, 0.95) << optim::Name(kind);
      EXPECT_LT(after.loss, 0.3) << optim::Name(kind);
    }
  });
}

TEST(Trainer, SteadyStepAllocatesNothing) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "ThreadSanitizer has an operator new of its own";
  const Dataset dataset = Stripes(64, 20, 4);
  const nn::ModelSpec spec = Model(20, 9, 4);
  for (const Kind kind : {Kind::kSgd, Kind::kAdam, Kind::kQuasiGlobal}) {
    Trainer trainer(spec, Fast(kind), 32);
    Evaluator evaluator(spec);
    tensor::FlatVector x = Start(spec);
    tensor::FlatVector gradient(x.size());
    const auto rows = Rows(0, 32);
    trainer.Step(x.view(), dataset, rows);
    const std::size_t before = test::allocations;
    for (int i = 0; i < 5; ++i) {
      trainer.Step(x.view(), dataset, rows);
      trainer.Gradient(x.view(), dataset, rows, gradient.view());
      trainer.optimizer().EndRound(x.view());
      evaluator.Run(x.view(), dataset, rows);
    }
    EXPECT_EQ(test::allocations, before) << optim::Name(kind);
  }
  const std::size_t before = test::allocations;
  ::operator delete(::operator new(1));  // a new-expression could be optimised away
  EXPECT_EQ(test::allocations, before + 1) << "the counter works";
}

TEST(Trainer, ABatchWithoutFiniteLossChangesNothing) {
  AtEveryLevel([] {
    const Dataset dataset = Stripes(64, 20, 4);
    const nn::ModelSpec spec = Model(20, 9, 4);
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38f}) {
      Trainer trainer(spec, {}, 32);
      tensor::FlatVector x = Start(spec);
      const auto rows = Rows(0, 32);
      trainer.Step(x.view(), dataset, rows);
      // Makes logits overflow or NaN, whichever way a unit of the first layer points.
      for (std::size_t i = 0; i < 20; ++i) x[i] = bad;
      x[9 * 20] = bad;
      const tensor::FlatVector before = x.Clone();
      const std::vector<float> m(trainer.optimizer().state()[0].values.begin(),
                                 trainer.optimizer().state()[0].values.end());
      const StepResult result = trainer.Step(x.view(), dataset, rows);
      EXPECT_FALSE(result.finite) << bad;
      EXPECT_EQ(trainer.optimizer().steps(), 1u);
      EXPECT_EQ(std::memcmp(x.data(), before.data(), x.size() * sizeof(float)), 0);
      EXPECT_TRUE(std::equal(m.begin(), m.end(), trainer.optimizer().state()[0].values.begin()));
    }
  });
}

TEST(Trainer, GradientLeavesEverythingAndEqualsTheSgdStep) {
  const Dataset dataset = Stripes(64, 20, 4);
  const nn::ModelSpec spec = Model(20, 9, 4);
  Trainer trainer(spec, {.kind = Kind::kSgd, .learning_rate = 1.0f}, 32);
  tensor::FlatVector x = Start(spec);
  const tensor::FlatVector before = x.Clone();
  tensor::FlatVector gradient(x.size());
  const auto rows = Rows(3, 30);
  const StepResult a = trainer.Gradient(x.view(), dataset, rows, gradient.view());
  EXPECT_EQ(trainer.optimizer().steps(), 0u);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], before[i]);
  const StepResult b = trainer.Step(x.view(), dataset, rows);
  EXPECT_EQ(a.loss_sum, b.loss_sum);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], before[i] - gradient[i]) << i;
}

// Moments of weights that get no gradient end at zero, not at a denormal that slows every later
// step.
TEST(Trainer, MomentsDoNotStayDenormal) {
  AtEveryLevel([] {
    Dataset::Memory black{.shape = {20}, .rows = {}, .labels = {0, 1, 0, 1}, .classes = 4};
    black.rows.assign(4 * 20, 0);
    const Dataset dataset = Dataset::FromMemory(std::move(black));
    for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
      nn::ModelSpec spec = Model(20, 9, 4);
      spec.numerics = numerics;
      Trainer trainer(spec, {}, 4);
      tensor::FlatVector x = Start(spec);
      const auto state = trainer.optimizer().state();
      for (float& m : state[0].values) m = 1e-39f;
      for (float& v : state[1].values) v = 1e-39f;
      trainer.Step(x.view(), dataset, Rows(0, 4));
      for (std::size_t i = 0; i < 9 * 20; ++i) {  // weights of the first layer: their inputs are 0
        ASSERT_EQ(state[0].values[i], 0.0f);
        ASSERT_EQ(state[1].values[i], 0.0f);
      }
    }
    volatile float denormal = 1e-39f;
    EXPECT_GT(denormal * 0.5f, 0.0f) << "the mode of the thread is given back";
  });
}

// WebAssembly keeps denormals, so portable numerics must everywhere: plain descent by a rate so
// small that a step is denormal still moves a weight of zero.
TEST(Trainer, PortableNumericsKeepDenormals) {
  AtEveryLevel([] {
    const Dataset dataset = Stripes(4, 20, 4);
    optim::Settings settings{.kind = optim::Settings::Kind::kSgd, .learning_rate = 1e-38f};
    const auto moved = [&](tensor::Numerics numerics) {
      nn::ModelSpec spec = Model(20, 9, 4);
      spec.numerics = numerics;
      Trainer trainer(spec, settings, 4);
      tensor::FlatVector x(nn::LayoutOf(spec).size());
      trainer.Step(x.view(), dataset, Rows(0, 4));
      bool any = false;
      for (const float value : x.view()) any = any || std::bit_cast<std::uint32_t>(value) << 1 != 0;
      return any;
    };
    EXPECT_TRUE(moved(tensor::Numerics::kPortable));
    EXPECT_FALSE(moved(tensor::Numerics::kFast));
  });
}

TEST(Trainer, RowsNormalisedOneByOneTrainAsTheirValues) {
  const Dataset alike = Stripes(300, 6, 3);  // bytes / 255
  data::Normalization each{.mean = std::vector<float>(6, 0.0f),
                           .scale = std::vector<float>(6, 1.0f / 255.0f)};
  each.mean[5] = 255;  // moves feature 5 by -1
  const Dataset apart = alike.Normalized(data::Normalize::kGiven, each);
  const nn::ModelSpec spec = Model(6, 5, 3);
  // Batches that a network reads, pieces of a large one, and one that SmallMlp would take.
  for (const Kind kind : {Kind::kAdam, Kind::kIrpropPlus}) {
    for (const std::size_t batch : {std::size_t{7}, std::size_t{300}}) {
      optim::Settings settings;
      settings.kind = kind;
      Trainer trainer(spec, settings, batch);
      tensor::FlatVector x = Start(spec);
      tensor::FlatVector moved = Start(spec);
      // What feature 5 loses, the bias of each unit gains.
      const std::span<float> parameters = moved.view();
      for (std::size_t unit = 0; unit < 5; ++unit) {
        parameters[30 + unit] += parameters[unit * 6 + 5];
      }
      const auto rows = Rows(0, batch);
      const double expected = trainer.Step(x.view(), alike, rows).loss_sum;
      Trainer other(spec, settings, batch);
      const double got = other.Step(moved.view(), apart, rows).loss_sum;
      EXPECT_NEAR(got, expected, 1e-4 * expected) << static_cast<int>(kind) << ' ' << batch;
    }
  }
}

TEST(Trainer, SameInputsSameBits) {
  const Dataset dataset = Stripes(64, 20, 4);
  const nn::ModelSpec spec = Model(20, 9, 4);
  std::vector<tensor::FlatVector> ends;
  for (int run = 0; run < 2; ++run) {
    Trainer trainer(spec, {}, 16);
    ends.push_back(Start(spec));
    for (std::size_t t = 0; t < 10; ++t) {
      trainer.Step(ends.back().view(), dataset, Rows(t * 4, t * 4 + 16));
    }
  }
  EXPECT_EQ(std::memcmp(ends[0].data(), ends[1].data(), ends[0].size() * sizeof(float)), 0);
}

TEST(Evaluator, CountsEveryRowOnce) {
  const Dataset dataset = Stripes(300, 20, 4);
  const nn::ModelSpec spec = Model(20, 9, 4);
  Evaluator evaluator(spec);
  Trainer trainer(spec, {}, 256);
  const tensor::FlatVector x = Start(spec);
  tensor::FlatVector gradient(x.size());
  for (const std::size_t n : {1u, 127u, 128u, 129u, 256u}) {
    const auto rows = Rows(0, n);
    const Evaluation got = evaluator.Run(x.view(), dataset, rows);
    const StepResult expected = trainer.Gradient(x.view(), dataset, rows, gradient.view());
    EXPECT_EQ(got.samples, n);
    EXPECT_NEAR(got.loss, expected.loss_sum / static_cast<double>(n), 1e-12);
    EXPECT_EQ(got.accuracy, expected.correct / static_cast<double>(n));
  }
  EXPECT_EQ(evaluator.Run(x.view(), dataset, {}).samples, 0u);
}

TEST(TrainerDeathTest, MismatchesAreProgrammerErrors) {
  const Dataset dataset = Stripes(64, 20, 4);
  const nn::ModelSpec spec = Model(20, 9, 4);
  Trainer trainer(spec, {}, 16);
  tensor::FlatVector x = Start(spec);
  EXPECT_DEATH(trainer.Step(x.view(), dataset, Rows(0, 17)), "check failed");
  EXPECT_DEATH(trainer.Step(x.view(), dataset, {}), "check failed");
  EXPECT_DEATH(trainer.Step(x.view(), dataset, Rows(60, 65)), "check failed");
  EXPECT_DEATH(trainer.Step(x.view().first(5), dataset, Rows(0, 4)), "check failed");
  Trainer other(Model(21, 9, 4), {}, 16);
  EXPECT_DEATH(other.Step(x.view(), dataset, Rows(0, 4)), "check failed");
  Trainer fewer(Model(20, 9, 3), {}, 16);
  EXPECT_DEATH(fewer.Step(x.view(), dataset, Rows(0, 4)), "check failed");
}

}  // namespace
}  // namespace covey::gradient::trainer_test
