// Every way in which layers don't fit: the error names the layer, what was got and what was wanted;
// and the last value on the good side of each limit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covey/nn/model.h"

namespace covey::nn::shapes_test {
namespace {

constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

ModelSpec Model(std::vector<std::size_t> input, std::vector<LayerSpec> layers,
                Loss loss = Loss::kMeanSquaredError) {
  return {.input = std::move(input), .layers = std::move(layers), .loss = loss};
}

std::string ErrorOf(const ModelSpec& spec) {
  const auto layers = Infer(spec);
  if (layers) return "";
  EXPECT_EQ(layers.error().code, ErrorCode::kConfig);
  return layers.error().Format();
}

// The shape that the last layer of a valid model writes.
std::vector<std::size_t> OutputOf(const ModelSpec& spec) {
  const auto layers = Infer(spec);
  EXPECT_TRUE(layers) << layers.error().Format();
  return layers ? layers->back().output : std::vector<std::size_t>();
}

// The layer stands second, behind another conv, so that its place and its number differ.
std::string ErrorOfConv(const Conv2d& conv) {
  return ErrorOf(Model({6, 5, 2}, {Conv2d{.filters = 3, .kernel = {1, 1}}, conv, Flatten{}}));
}
std::string ErrorOfPool(const Pool2d& pool) {
  return ErrorOf(Model({6, 5, 2}, {Conv2d{.filters = 3, .kernel = {1, 1}}, pool, Flatten{}}));
}

TEST(Shapes, Dense) {
  EXPECT_EQ(ErrorOf(Model({3}, {Dense{.units = 2}, Dense{}})),
            "model.layers[1] (dense2).units: got 0; wanted at least 1");
  EXPECT_EQ(OutputOf(Model({3, 4, 5}, {Dense{.units = 1}})), std::vector<std::size_t>{1});
}

TEST(Shapes, Convolution) {
  EXPECT_EQ(ErrorOfConv({}), "model.layers[1] (conv2).filters: got 0; wanted at least 1");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .kernel = {0, 3}}),
            "model.layers[1] (conv2).kernel: got [0, 3]; wanted extents of at least 1");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .kernel = {3, 0}}),
            "model.layers[1] (conv2).kernel: got [3, 0]; wanted extents of at least 1");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .stride = {1, 0}}),
            "model.layers[1] (conv2).stride: got [1, 0]; wanted extents of at least 1");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .kernel = {7, 5}}),
            "model.layers[1] (conv2).kernel: got [7, 5]; wanted at most the input's [6, 5]");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .kernel = {6, 6}}),
            "model.layers[1] (conv2).kernel: got [6, 6]; wanted at most the input's [6, 5]");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .activation = Activation::kSoftmax}),
            "model.layers[1] (conv2).activation: got softmax; wanted another one; softmax belongs "
            "to the last dense layer");
  EXPECT_EQ(ErrorOf(Model({28, 28}, {Conv2d{.filters = 1}, Flatten{}})),
            "model.layers[0] (conv1): got input [28, 28]; wanted [height, width, channels]; for "
            "grey images write model.input: [28, 28, 1]");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .kernel = {6, 5}}), "");
  EXPECT_EQ(ErrorOfConv({.filters = 1, .kernel = {9, 9}, .padding = Padding::kSame}), "")
      << "zeros around the image carry a kernel larger than it";
}

TEST(Shapes, WindowsOfBothPaddings) {
  const auto output = [](std::size_t n, std::size_t kernel, std::size_t stride, Padding padding) {
    const Conv2d conv{
        .filters = 1, .kernel = {kernel, 1}, .stride = {stride, 1}, .padding = padding};
    return OutputOf(Model({n, 1, 1}, {conv, Flatten{}}))[0];
  };
  EXPECT_EQ(output(7, 3, 2, Padding::kValid), 3u);
  EXPECT_EQ(output(8, 3, 2, Padding::kValid), 3u);
  EXPECT_EQ(output(9, 3, 2, Padding::kValid), 4u);
  EXPECT_EQ(output(3, 3, 100, Padding::kValid), 1u);
  EXPECT_EQ(output(7, 3, 2, Padding::kSame), 4u);
  EXPECT_EQ(output(8, 3, 2, Padding::kSame), 4u);
  EXPECT_EQ(output(9, 3, 2, Padding::kSame), 5u);
  EXPECT_EQ(output(9, 3, 9, Padding::kSame), 1u);
  EXPECT_EQ(output(9, 3, kHuge, Padding::kSame), 1u) << "the count of windows does not overflow";
  EXPECT_EQ(output(9, 3, kHuge, Padding::kValid), 1u);
}

TEST(Shapes, Pools) {
  EXPECT_EQ(ErrorOfPool({.size = {2, 0}}),
            "model.layers[1] (pool1).size: got [2, 0]; wanted extents of at least 1");
  EXPECT_EQ(ErrorOfPool({.size = {7, 1}}),
            "model.layers[1] (pool1).size: got [7, 1]; wanted at most the input's [6, 5]");
  EXPECT_EQ(ErrorOf(Model({6}, {Pool2d{}, Flatten{}})),
            "model.layers[0] (pool1): got input [6]; wanted [height, width, channels]; for grey "
            "images write model.input: [28, 28, 1]");
  EXPECT_EQ(ErrorOfPool({.size = {6, 5}}), "");
  EXPECT_EQ(OutputOf(Model({7, 5, 3}, {Pool2d{}, Flatten{}}))[0], 3u * 2 * 3)
      << "a stride of 0 is the size";
  EXPECT_EQ(OutputOf(Model({7, 5, 3}, {Pool2d{.stride = {1, 0}}, Flatten{}}))[0], 6u * 2 * 3);
  EXPECT_EQ(ErrorOf(Model({4, 4}, {GlobalAveragePool{}})),
            "model.layers[0] (pool1): got input [4, 4]; wanted [height, width, channels]");
  EXPECT_EQ(OutputOf(Model({4, 4, 3}, {GlobalAveragePool{}})), std::vector<std::size_t>{3});
}

TEST(Shapes, Dropout) {
  const auto error = [](float rate) { return ErrorOf(Model({3}, {Dropout{.rate = rate}})); };
  EXPECT_EQ(error(1), "model.layers[0] (dropout1).rate: got 1; wanted a number in [0, 1)");
  EXPECT_EQ(error(-1e-9f),
            "model.layers[0] (dropout1).rate: got -1e-09; wanted a number in [0, 1)");
  EXPECT_EQ(error(kNaN), "model.layers[0] (dropout1).rate: got nan; wanted a number in [0, 1)");
  EXPECT_EQ(error(0), "");
  EXPECT_EQ(error(std::nextafter(1.0f, 0.0f)), "");
}

TEST(Shapes, SoftmaxWantsOneExtent) {
  EXPECT_EQ(ErrorOf(Model({4, 3}, {Activate{Activation::kSoftmax}, Flatten{}})),
            "model.layers[0] (activation1): got input [4, 3]; wanted one extent for softmax; put "
            "flatten before it");
  EXPECT_EQ(ErrorOf(Model({4, 3}, {Activate{Activation::kTanh}, Flatten{}})), "");
  EXPECT_EQ(ErrorOf(Model({4}, {Activate{Activation::kSoftmax}})), "");
}

TEST(Shapes, Symbols) {
  EXPECT_EQ(ErrorOf(Model({4}, {Flatten{}, OneHot{.symbols = 3}, Flatten{}})),
            "model.layers[1] (one_hot1): got input [4]; wanted to be the first layer: it reads the "
            "sample's symbols");
  EXPECT_EQ(ErrorOf(Model({4}, {OneHot{}, Flatten{}})),
            "model.layers[0] (one_hot1).symbols: got 0; wanted at least 1");
  EXPECT_EQ(ErrorOf(Model({4}, {Flatten{}, Embedding{.symbols = 3, .size = 2}, Flatten{}})),
            "model.layers[1] (embedding1): got input [4]; wanted to be the first layer: it reads "
            "the sample's symbols");
  EXPECT_EQ(ErrorOf(Model({4}, {Embedding{.size = 2}, Flatten{}})),
            "model.layers[0] (embedding1).symbols: got 0; wanted at least 1");
  EXPECT_EQ(ErrorOf(Model({4}, {Embedding{.symbols = 2}, Flatten{}})),
            "model.layers[0] (embedding1).size: got 0; wanted at least 1");
  EXPECT_EQ(OutputOf(Model({4}, {OneHot{.symbols = 1}, Flatten{}}))[0], 4u);
  EXPECT_EQ(OutputOf(Model({4}, {Embedding{.symbols = 1, .size = 3}, Flatten{}}))[0], 12u);
}

TEST(Shapes, LongShortTermMemory) {
  EXPECT_EQ(ErrorOf(Model({4, 3}, {Lstm{}})),
            "model.layers[0] (lstm1).units: got 0; wanted at least 1");
  EXPECT_EQ(ErrorOf(Model({40}, {Lstm{.units = 2}})),
            "model.layers[0] (lstm1): got input [40]; wanted [time, features]; symbols pass "
            "through one_hot or embedding first");
  EXPECT_EQ(ErrorOf(Model({4, 3}, {Lstm{.units = 2}, Lstm{.units = 2}})),
            "model.layers[1] (lstm2): got input [2]; wanted [time, features]; symbols pass "
            "through one_hot or embedding first");
  EXPECT_EQ(ErrorOf(Model({4, 3}, {Lstm{.units = 2, .gates = Activation::kTanh}})),
            "model.layers[0] (lstm1).gates: got tanh; wanted sigmoid or hard_sigmoid");
  const Lstm sequence{.units = 2, .output = Lstm::Output::kSequence};
  EXPECT_EQ(OutputOf(Model({4, 3}, {sequence, Flatten{}}))[0], 8u);
  EXPECT_EQ(OutputOf(Model({1, 1}, {sequence, Lstm{.units = 1}})), std::vector<std::size_t>{1});
  EXPECT_EQ(ErrorOf(Model({4, 3}, {sequence})),
            "model.layers[0] (lstm1): got output [4, 2]; wanted one extent for the loss; put "
            "flatten or a dense layer last");
}

TEST(Shapes, Norms) {
  const auto groups = [](std::size_t count) {
    return ErrorOf(Model({2, 2, 6}, {GroupNorm{.groups = count}, Flatten{}}));
  };
  EXPECT_EQ(groups(0), "model.layers[0] (norm1).groups: got 0; wanted a divisor of the 6 channels");
  EXPECT_EQ(groups(4), "model.layers[0] (norm1).groups: got 4; wanted a divisor of the 6 channels");
  EXPECT_EQ(groups(12),
            "model.layers[0] (norm1).groups: got 12; wanted a divisor of the 6 channels");
  for (const std::size_t good : {1u, 2u, 3u, 6u}) EXPECT_EQ(groups(good), "");
  for (const float bad : {0.0f, -1e-9f, kNaN, kInfinity}) {
    EXPECT_NE(ErrorOf(Model({4}, {GroupNorm{.epsilon = bad}}))
                  .find("model.layers[0] (norm1).epsilon: got "),
              std::string::npos);
    EXPECT_NE(ErrorOf(Model({4}, {LayerNorm{.epsilon = bad}})).find("; wanted a number above 0"),
              std::string::npos);
  }
  EXPECT_EQ(ErrorOf(Model({4}, {LayerNorm{.epsilon = 1e-12f}})), "");
}

TEST(Shapes, AModelHasParameters) {
  const Status status = Validate(Model({4}, {Flatten{}, Activate{Activation::kTanh}}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().Format(), "model.layers: got no parameter; wanted a layer that learns");
  EXPECT_TRUE(Validate(Model({4}, {Flatten{}, LayerNorm{}})));
}

TEST(Shapes, Losses) {
  const auto dense = [](std::size_t units, Activation activation, Loss loss) {
    return ErrorOf(Model({3}, {Dense{.units = units, .activation = activation}}, loss));
  };
  for (const Loss loss : {Loss::kSparseCategoricalCrossEntropy, Loss::kCategoricalCrossEntropy}) {
    EXPECT_EQ(dense(2, Activation::kSigmoid, loss),
              "model.layers[0] (dense1).activation: got sigmoid; wanted linear or softmax: the "
              "loss takes logits");
    EXPECT_EQ(dense(1, Activation::kLinear, loss),
              "model.layers[0] (dense1).units: got 1; wanted at least 2: one a class");
    EXPECT_EQ(dense(2, Activation::kSoftmax, loss), "");
    EXPECT_EQ(dense(2, Activation::kLinear, loss), "");
    EXPECT_EQ(ErrorOf(Model({3}, {Activate{Activation::kRelu}}, loss)),
              "model.layers[0] (activation1).activation: got relu; wanted linear or softmax: the "
              "loss takes logits");
  }
  EXPECT_EQ(dense(1, Activation::kSoftmax, Loss::kBinaryCrossEntropy),
            "model.layers[0] (dense1).activation: got softmax; wanted linear or sigmoid: the loss "
            "takes logits");
  EXPECT_EQ(dense(1, Activation::kSigmoid, Loss::kBinaryCrossEntropy), "");
  EXPECT_EQ(dense(1, Activation::kLinear, Loss::kBinaryCrossEntropy), "");
  for (const Loss loss : {Loss::kMeanSquaredError, Loss::kHuber}) {
    for (const Activation any : {Activation::kLinear, Activation::kRelu, Activation::kSoftmax}) {
      EXPECT_EQ(dense(1, any, loss), "");
    }
  }
  for (const float bad : {0.0f, -1.0f, kNaN, kInfinity}) {
    ModelSpec spec = Model({3}, {Dense{.units = 1}}, Loss::kHuber);
    spec.huber_delta = bad;
    EXPECT_NE(ErrorOf(spec).find("model.huber_delta: got "), std::string::npos);
    spec.loss = Loss::kMeanSquaredError;
    EXPECT_EQ(ErrorOf(spec), "") << "only Huber's loss reads it";
  }
}

TEST(Shapes, ValuesAndParametersAreLimitedWithoutOverflow) {
  // kMaxParameters values of a sample are allowed, one more is not.
  EXPECT_EQ(ErrorOf(Model({kMaxParameters / 2}, {OneHot{.symbols = 2}, Flatten{}})), "");
  EXPECT_EQ(ErrorOf(Model({kMaxParameters / 2 + 1}, {OneHot{.symbols = 2}, Flatten{}})),
            "model.layers[0] (one_hot1): got output [536870913, 2]; wanted at most 1073741824 "
            "values");
  const std::string layer = "model.layers[0] (", parameters = "got a model of more than";
  const std::vector<LayerSpec> absurd = {
      Conv2d{.filters = kHuge, .kernel = {1, 1}},
      Conv2d{.filters = 1, .kernel = {kHuge, kHuge}, .padding = Padding::kSame},
      Conv2d{.filters = 1, .kernel = {kHuge / 2 + 2, 2}, .padding = Padding::kSame}};
  for (const LayerSpec& conv : absurd) {
    EXPECT_EQ(ErrorOf(Model({3, 3, 1}, {conv, Flatten{}})).find(layer), 0u);
  }
  EXPECT_EQ(ErrorOf(Model({2, 1}, {Lstm{.units = kHuge}})).find(layer), 0u);
  EXPECT_EQ(ErrorOf(Model({2, 1}, {Lstm{.units = kHuge / 4 + 1}})).find(layer), 0u);
  EXPECT_NE(ErrorOf(Model({2, 1}, {Lstm{.units = 16384}})).find(parameters), std::string::npos)
      << "4 * 16384 * (1 + 16384 + 1) are more than 2^30";
  EXPECT_EQ(ErrorOf(Model({2, 1}, {Lstm{.units = 16383}})), "");
  EXPECT_EQ(ErrorOf(Model({2}, {Embedding{.symbols = kHuge, .size = 2}, Flatten{}})).find(layer),
            0u);
  EXPECT_EQ(ErrorOf(Model({2}, {Embedding{.symbols = kMaxParameters / 2, .size = 2}, Flatten{}})),
            "");
}

}  // namespace
}  // namespace covey::nn::shapes_test
