// Property: gradient = central difference in double, for every layer, every loss and stacks of
// them.
//
// Where a ReLU is about to bend within h, or two values of a pool's window are about to change
// places, the difference is not the derivative; the draws here keep clear of that (fixed seeds, so
// for good).
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "covey/nn/reference.h"
#include "support/drawn_model.h"

namespace covey::nn::gradient_check_test {
namespace {

using test::DrawnModel;

constexpr Loss kLosses[] = {Loss::kSparseCategoricalCrossEntropy, Loss::kCategoricalCrossEntropy,
                            Loss::kBinaryCrossEntropy, Loss::kMeanSquaredError, Loss::kHuber};
constexpr Activation kActivations[] = {
    Activation::kLinear,  Activation::kRelu,        Activation::kLeakyRelu, Activation::kTanh,
    Activation::kSigmoid, Activation::kHardSigmoid, Activation::kSoftmax};

void Check(const ModelSpec& spec, DrawnModel::Options options) {
  ASSERT_TRUE(Validate(spec)) << Validate(spec).error().Format();
  const DrawnModel drawn(spec, options);
  const GradientCheck check = drawn.Check(1e-5, 1e-4);
  EXPECT_LT(check.worst, 1e-6) << Describe(spec) << "batch " << options.batch << " seed "
                               << options.seed << " at " << check.at;
}

void CheckBatches(const ModelSpec& spec) {
  Check(spec, {.batch = 1, .seed = 3});
  Check(spec, {.batch = 4, .seed = 4, .spread = 1, .weighted = true});
}

ModelSpec Model(std::vector<std::size_t> input, std::vector<LayerSpec> layers) {
  return {.input = std::move(input), .layers = std::move(layers)};
}

TEST(GradientCheck, DenseStacks) {
  const auto stack = [](std::size_t inputs, std::vector<std::size_t> units) {
    ModelSpec spec = Model({inputs}, {});
    for (const std::size_t count : units) {
      spec.layers.push_back(Dense{.units = count, .activation = Activation::kRelu});
    }
    std::get<Dense>(spec.layers.back()).activation = Activation::kLinear;
    return spec;
  };
  for (const ModelSpec& spec : {stack(1, {2}), stack(13, {9, 4}), stack(5, {1, 2}),
                                stack(4, {3, 1, 4}), stack(6, {7, 5, 3})}) {
    CheckBatches(spec);
  }
}

TEST(GradientCheck, ActivationsInDenseConvAndAlone) {
  for (const Activation activation : kActivations) {
    CheckBatches(Model({5}, {Dense{.units = 6, .activation = activation}, Dense{.units = 3}}));
    CheckBatches(Model({5}, {Dense{.units = 6}, Activate{activation}, Dense{.units = 3}}));
    if (activation == Activation::kSoftmax) continue;
    CheckBatches(Model({4, 3, 2}, {Conv2d{.filters = 3, .kernel = {2, 2}, .activation = activation},
                                   Dense{.units = 2}}));
  }
}

TEST(GradientCheck, Losses) {
  for (const Loss loss : kLosses) {
    ModelSpec spec =
        Model({5}, {Dense{.units = 4, .activation = Activation::kTanh}, Dense{.units = 3}});
    spec.loss = loss;
    for (const float delta : {1.0f, 0.3f}) {
      spec.huber_delta = delta;
      CheckBatches(spec);
    }
    // One output, and output activations: those that the loss does itself and those that it does
    // not.
    if (loss == Loss::kSparseCategoricalCrossEntropy || loss == Loss::kCategoricalCrossEntropy) {
      std::get<Dense>(spec.layers[1]).activation = Activation::kSoftmax;
      CheckBatches(spec);
      continue;
    }
    std::get<Dense>(spec.layers[1]) = {.units = 1, .activation = Activation::kSigmoid};
    CheckBatches(spec);
    if (loss == Loss::kBinaryCrossEntropy) continue;
    std::get<Dense>(spec.layers[1]) = {.units = 3, .activation = Activation::kSoftmax};
    CheckBatches(spec);
  }
}

TEST(GradientCheck, ConvolutionShapes) {
  const Extent kernels[] = {{1, 1}, {3, 3}, {2, 3}, {4, 1}};
  const Extent strides[] = {{1, 1}, {2, 2}, {1, 3}};
  for (const Padding padding : {Padding::kValid, Padding::kSame}) {
    for (const Extent kernel : kernels) {
      for (const Extent stride : strides) {
        CheckBatches(Model({4, 5, 2}, {Conv2d{.filters = 2,
                                              .kernel = kernel,
                                              .stride = stride,
                                              .padding = padding,
                                              .activation = Activation::kTanh},
                                       Dense{.units = 2}}));
      }
    }
  }
  // Same padding around a kernel larger than the image.
  CheckBatches(Model({2, 1, 1}, {Conv2d{.filters = 2, .kernel = {5, 4}, .padding = Padding::kSame},
                                 Dense{.units = 2}}));
}

TEST(GradientCheck, Pools) {
  for (const Pool2d::Kind kind : {Pool2d::Kind::kMax, Pool2d::Kind::kAverage}) {
    const Pool2d pools[] = {{.kind = kind},
                            {.kind = kind, .size = {3, 3}, .stride = {1, 2}},  // overlap
                            {.kind = kind, .size = {1, 2}, .stride = {3, 3}},  // gaps
                            {.kind = kind, .size = {5, 5}}};
    for (const Pool2d& pool : pools) {
      CheckBatches(Model(
          {6, 7, 2}, {Conv2d{.filters = 3, .kernel = {2, 2}}, pool, Flatten{}, Dense{.units = 2}}));
    }
  }
  CheckBatches(Model(
      {4, 3, 2}, {Conv2d{.filters = 3, .kernel = {2, 2}}, GlobalAveragePool{}, Dense{.units = 2}}));
  CheckBatches(Model({4, 3, 2}, {Conv2d{.filters = 3}, GlobalAveragePool{}}));
}

TEST(GradientCheck, Norms) {
  for (const std::size_t groups : {1u, 2u, 4u}) {
    CheckBatches(
        Model({3, 3, 2}, {Conv2d{.filters = 4, .kernel = {2, 2}}, GroupNorm{.groups = groups},
                          Activate{Activation::kTanh}, Dense{.units = 2}}));
  }
  CheckBatches(
      Model({5}, {Dense{.units = 4}, GroupNorm{.groups = 2, .epsilon = 0.1f}, Dense{.units = 2}}));
  CheckBatches(Model({5}, {LayerNorm{}, Dense{.units = 4}, LayerNorm{}, Dense{.units = 2}}));
  CheckBatches(
      Model({3, 3, 2}, {Conv2d{.filters = 4, .kernel = {2, 2}}, LayerNorm{}, Dense{.units = 2}}));
}

TEST(GradientCheck, LongShortTermMemory) {
  for (const Activation gates : {Activation::kSigmoid, Activation::kHardSigmoid}) {
    const Lstm last{.units = 3, .gates = gates};
    const Lstm sequence{.units = 3, .output = Lstm::Output::kSequence, .gates = gates};
    CheckBatches(Model({1, 2}, {last, Dense{.units = 2}}));
    CheckBatches(Model({5, 2}, {last, Dense{.units = 2}}));
    CheckBatches(Model({5, 2}, {sequence, Dense{.units = 2}}));
    CheckBatches(Model({4, 2}, {sequence, last, Dense{.units = 2}}));
    CheckBatches(Model({4, 2}, {sequence, LayerNorm{}, sequence, Flatten{}, Dense{.units = 2}}));
    CheckBatches(Model({4}, {OneHot{.symbols = 5}, last, Dense{.units = 5}}));
    CheckBatches(
        Model({4}, {Embedding{.symbols = 5, .size = 2}, sequence, last, Dense{.units = 5}}));
  }
}

TEST(GradientCheck, Embedding) {
  CheckBatches(Model({3}, {Embedding{.symbols = 4, .size = 3}, Dense{.units = 2}}));
  CheckBatches(Model({2, 2}, {OneHot{.symbols = 3}, Dense{.units = 2}}));
}

// No slice of the deep stacks hides under the floor of the check.
void ExpectInfluence(const ModelSpec& spec) {
  const DrawnModel drawn(spec, {.batch = 4, .seed = 4, .spread = 1, .weighted = true});
  const auto gradient = drawn.Run<double>(WithGradient::kYes).gradient;
  const tensor::Layout layout = LayoutOf(spec);
  for (const tensor::Slice& slice : layout.slices()) {
    double greatest = 0;
    for (std::size_t i = 0; i < slice.size; ++i) {
      greatest = std::max(greatest, std::abs(gradient[slice.offset + i]));
    }
    EXPECT_GT(greatest, 1e-4) << slice.name << " of " << Describe(spec);
  }
}

TEST(GradientCheck, DeepStacks) {
  ModelSpec image =
      Model({9, 8, 2},
            {Conv2d{.filters = 3, .padding = Padding::kSame, .activation = Activation::kLeakyRelu},
             Pool2d{}, GroupNorm{.groups = 3}, Activate{Activation::kRelu},
             Conv2d{.filters = 4, .kernel = {2, 2}, .stride = {1, 2}}, LayerNorm{},
             Pool2d{.kind = Pool2d::Kind::kAverage, .size = {2, 1}}, Dropout{}, Flatten{},
             Dense{.units = 5, .activation = Activation::kSigmoid},
             Dense{.units = 3, .activation = Activation::kSoftmax}});
  ModelSpec sequence =
      Model({4}, {Embedding{.symbols = 6, .size = 3},
                  Lstm{.units = 3, .output = Lstm::Output::kSequence}, Activate{Activation::kTanh},
                  Lstm{.units = 4, .gates = Activation::kHardSigmoid}, LayerNorm{},
                  Dense{.units = 3, .activation = Activation::kHardSigmoid}, Dense{.units = 2}});
  for (const Loss loss : kLosses) {
    image.loss = loss;
    sequence.loss = loss;
    std::get<Dense>(image.layers.back()).activation = Activation::kLinear;
    for (const ModelSpec* spec : {&image, &sequence}) {
      CheckBatches(*spec);
      ExpectInfluence(*spec);
    }
  }
}

// Dropout with given factors: the derivative goes through what is left.
TEST(GradientCheck, DropoutWithAMask) {
  const ModelSpec spec = Model({6}, {Dense{.units = 8, .activation = Activation::kTanh},
                                     Dropout{.rate = 0.25f}, Dense{.units = 3}});
  DrawnModel drawn(spec, {.batch = 5, .seed = 9});
  const double without = drawn.Run<double>(WithGradient::kNo).loss;
  Stream stream(2, 0, Purpose::kTest);
  drawn.dropout.resize(2);
  for (int i = 0; i < 5 * 8; ++i) {
    drawn.dropout[1].push_back(stream.Chance(0.25) ? 0.0f : 1 / 0.75f);
  }
  EXPECT_NE(drawn.Run<double>(WithGradient::kNo).loss, without);
  EXPECT_LT(drawn.Check(1e-5, 1e-4).worst, 1e-6);
}

// The check sees an error: a ReLU that bends within h is one.
TEST(GradientCheck, SeesAKink) {
  const ModelSpec spec =
      Model({1}, {Dense{.units = 1, .activation = Activation::kRelu}, Dense{.units = 2}});
  const std::vector<double> x = {1, -0.5 + 1e-7, 1, -1, 0, 0}, samples = {0.5};
  const std::vector<std::uint32_t> labels = {0};
  const ReferenceBatch<double> batch{.size = 1, .samples = samples, .labels = labels};
  EXPECT_GT(CheckGradient(spec, x, batch, 1e-5, 1e-4).worst, 1e-2);
}

}  // namespace
}  // namespace covey::nn::gradient_check_test
