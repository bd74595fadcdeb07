// The section `model`: every layer read, written and refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace covey::config {
namespace {

using testing::HasSubstr;

std::string WithModel(const std::string& model) {
  return "model:\n" + model + "data: {train: {images: i, labels: l}}\n";
}

nn::ModelSpec Model(const std::string& model) {
  const auto loaded = ParseNode(WithModel(model), "n.yaml");
  EXPECT_TRUE(loaded) << loaded.error().Format();
  return loaded ? loaded->value.model : nn::ModelSpec();
}

constexpr const char* kImages = R"(  input: [32, 30, 3]
  layers:
    - conv2d: {filters: 16, kernel: 3, stride: [2, 1], padding: same, activation: relu}
    - group_norm: {groups: 4, epsilon: 0.001}
    - max_pool2d
    - conv2d: {filters: 8, kernel: [1, 5]}
    - average_pool2d: {size: [2, 3], stride: 1}
    - activation: leaky_relu
    - layer_norm
    - dropout: {rate: 0.25}
    - global_average_pool
    - flatten:
    - dense: {units: 10, activation: softmax}
)";

constexpr const char* kSymbols = R"(  input: [40]
  layers:
    - embedding: {symbols: 100, size: 12}
    - lstm: {units: 50, output: sequence, gates: hard_sigmoid}
    - lstm:
        units: 50
    - dense: {units: 100}
)";

TEST(Layers, AreReadWithTheirSettings) {
  const nn::ModelSpec images = Model(kImages);
  ASSERT_EQ(images.layers.size(), 11u);
  const auto& conv = std::get<nn::Conv2d>(images.layers[0]);
  EXPECT_EQ(conv.filters, 16u);
  EXPECT_EQ(conv.kernel, (nn::Extent{3, 3}));
  EXPECT_EQ(conv.stride, (nn::Extent{2, 1}));
  EXPECT_EQ(conv.padding, nn::Padding::kSame);
  EXPECT_EQ(conv.activation, nn::Activation::kRelu);
  EXPECT_EQ(std::get<nn::GroupNorm>(images.layers[1]).groups, 4u);
  const auto& max = std::get<nn::Pool2d>(images.layers[2]);
  EXPECT_EQ(max.kind, nn::Pool2d::Kind::kMax);
  EXPECT_EQ(max.size, (nn::Extent{2, 2}));
  EXPECT_EQ(max.stride, (nn::Extent{0, 0}));
  EXPECT_EQ(std::get<nn::Conv2d>(images.layers[3]).kernel, (nn::Extent{1, 5}));
  const auto& average = std::get<nn::Pool2d>(images.layers[4]);
  EXPECT_EQ(average.kind, nn::Pool2d::Kind::kAverage);
  EXPECT_EQ(average.stride, (nn::Extent{1, 1}));
  EXPECT_EQ(std::get<nn::Activate>(images.layers[5]).activation, nn::Activation::kLeakyRelu);
  EXPECT_EQ(std::get<nn::Dropout>(images.layers[7]).rate, 0.25f);
  EXPECT_TRUE(std::holds_alternative<nn::Flatten>(images.layers[9]));

  const nn::ModelSpec symbols = Model(kSymbols);
  EXPECT_EQ(std::get<nn::Embedding>(symbols.layers[0]).size, 12u);
  const auto& lstm = std::get<nn::Lstm>(symbols.layers[1]);
  EXPECT_EQ(lstm.output, nn::Lstm::Output::kSequence);
  EXPECT_EQ(lstm.gates, nn::Activation::kHardSigmoid);
  EXPECT_EQ(std::get<nn::Lstm>(symbols.layers[2]).output, nn::Lstm::Output::kLast);
  EXPECT_EQ(std::get<nn::OneHot>(Model("  input: [4]\n  layers: [{one_hot: {symbols: 9}}, {dense: "
                                       "{units: 2}}]\n")
                                     .layers[0])
                .symbols,
            9u);
}

TEST(Layers, AreWrittenAsTheyWereRead) {
  for (const char* model : {kImages, kSymbols}) {
    const auto loaded = ParseNode(WithModel(model), "n.yaml");
    ASSERT_TRUE(loaded) << loaded.error().Format();
    const std::string text = WriteYaml(loaded->value);
    const auto again = ParseNode(text, "again.yaml");
    ASSERT_TRUE(again) << again.error().Format() << text;
    EXPECT_EQ(WriteYaml(again->value), text);
    EXPECT_EQ(nn::Describe(again->value.model), nn::Describe(loaded->value.model));
  }
  EXPECT_THAT(WriteYaml(ParseNode(WithModel(kImages), "n.yaml")->value),
              HasSubstr("    - conv2d:\n"
                        "        filters: 16\n"
                        "        kernel: 3\n"
                        "        stride: [2, 1]\n"
                        "        padding: same\n"
                        "        activation: relu\n"
                        "    - group_norm:\n"
                        "        groups: 4\n"
                        "        epsilon: 0.001\n"
                        "    - max_pool2d:\n"
                        "        size: 2\n"
                        "        stride: auto\n"));
  EXPECT_THAT(WriteYaml(ParseNode(WithModel(kImages), "n.yaml")->value),
              HasSubstr("    - activation: leaky_relu\n"
                        "    - layer_norm:\n"
                        "        epsilon: 1e-05\n"));
}

// The report of one entry of `layers` in front of a dense layer, without the source line.
std::string Entry(const std::string& entry, const std::string& input = "[8, 8, 3]") {
  const std::string report = Errors(WithModel("  input: " + input + "\n  layers:\n    - " + entry +
                                              "\n    - dense: {units: 2}\n"));
  if (report == "loaded") return report;
  const std::size_t message = report.find("error: ") + 7;
  const std::size_t words = report.find_first_not_of(" ^~\n", report.rfind("| ") + 1);
  return report.substr(0, message - 8) + " " + report.substr(message, report.find('\n') - message) +
         " / " +
         (words == std::string::npos ? "" : report.substr(words, report.size() - words - 1));
}

TEST(Layers, AreRefusedInWords) {
  EXPECT_EQ(Entry("conv: {filters: 3}"),
            "n.yaml:4:7: model.layers[0]: unknown layer 'conv' / did you mean 'conv2d'?");
  EXPECT_EQ(Entry("maxpool2d: {size: 2}"),
            "n.yaml:4:7: model.layers[0]: unknown layer 'maxpool2d' / did you mean 'max_pool2d'?");
  EXPECT_THAT(Entry("attention"),
              HasSubstr("unknown layer 'attention' / want one of dense, conv2d,"));
  for (const char* name : {"batch_norm", "batch_normalization: {}", "batchnorm: {momentum: 0.9}"}) {
    EXPECT_THAT(Entry(name),
                HasSubstr("n.yaml:4:7: model.layers[0]: there is no batch normalisation: its "
                          "running statistics belong to the data of one node, and averaging them "
                          "between nodes breaks the model / use group_norm: {groups: 8} or "
                          "layer_norm, which keep none"));
  }
  EXPECT_EQ(Entry("dense:\n      units: 3"),
            "n.yaml:4:7: model.layers[0]: got 2 keys, want one: the kind of layer / indent the "
            "keys of 'dense' deeper than it");
  EXPECT_EQ(Entry("[3]"),
            "n.yaml:4:7: model.layers[0]: got a list, want a layer / e.g. - dense: {...}");
  EXPECT_EQ(Entry("dense"),
            "n.yaml:4:7: missing key 'model.layers[0].dense.units' / required: Outputs; of the "
            "last layer: the classes");
  EXPECT_EQ(Entry("dense: 3"),
            "n.yaml:4:14: model.layers[0].dense: got '3', want a section of keys / e.g. - dense: "
            "{...}");
  EXPECT_EQ(Entry("flatten: 3"),
            "n.yaml:4:16: model.layers[0].flatten: got '3', want nothing behind it / e.g. - "
            "flatten");
  EXPECT_EQ(Entry("activation"),
            "n.yaml:4:7: model.layers[0].activation: has no value / e.g. - activation: relu");
  EXPECT_THAT(Entry("activation: swish"),
              HasSubstr("n.yaml:4:19: model.layers[0].activation: 'swish' is not one of linear, "));
  EXPECT_EQ(Entry("conv2d: {filters: 3, kernle: 3}"),
            "n.yaml:4:28: unknown key 'model.layers[0].conv2d.kernle' / did you mean 'kernel' "
            "(default 3)?");
}

TEST(Pairs, AreOneNumberOrTwo) {
  EXPECT_EQ(Entry("conv2d: {filters: 3, kernel: [3, 1]}"), "loaded");
  EXPECT_EQ(Entry("conv2d: {filters: 3, kernel: [3]}"),
            "n.yaml:4:28: model.layers[0].conv2d.kernel: got 1 entries, want two: height and width "
            "/ or one number for both");
  EXPECT_EQ(Entry("conv2d: {filters: 3, kernel: [3, 0]}"),
            "n.yaml:4:40: model.layers[0].conv2d.kernel[1]: '0' is out of range / want an integer, "
            "1 to 1000000");
  EXPECT_EQ(Entry("conv2d: {filters: 3, kernel: 0}"),
            "n.yaml:4:36: model.layers[0].conv2d.kernel: '0' is out of range / want an integer, 1 "
            "to 1000000");
  EXPECT_EQ(Entry("max_pool2d: {stride: auto}"), "loaded");
  EXPECT_THAT(Entry("max_pool2d: {stride: some}"), HasSubstr("want an integer, 1 to 1000000, or "
                                                             "auto"));
}

// What nn::Infer has to say points at the layer's line, or at its key.
TEST(Shapes, PointAtTheLayer) {
  EXPECT_EQ(Entry("conv2d: {filters: 3}", "[64]"),
            "n.yaml:4:7: model.layers[0].conv2d: got input [64] / wanted [height, width, "
            "channels]; for grey images write model.input: [28, 28, 1]");
  EXPECT_EQ(Entry("conv2d: {filters: 3, kernel: 9}"),
            "n.yaml:4:36: model.layers[0].conv2d.kernel: got [9, 9] / wanted at most the input's "
            "[8, 8]");
  EXPECT_EQ(Entry("group_norm: {groups: 2}"),
            "n.yaml:4:28: model.layers[0].group_norm.groups: got 2 / wanted a divisor of the 3 "
            "channels");
  EXPECT_THAT(Entry("lstm: {units: 3}"),
              HasSubstr("n.yaml:4:7: model.layers[0].lstm: got input [8, 8, 3] / wanted [time, "
                        "features]"));
  EXPECT_THAT(Errors(WithModel("  input: [4]\n  layers:\n    - dense: {units: 4}\n    - one_hot: "
                               "{symbols: 3}\n    - dense: {units: 2}\n")),
              HasSubstr("n.yaml:5:7: error: model.layers[1].one_hot: got input [4]"));
  EXPECT_THAT(Errors(WithModel("  input: [4]\n  layers:\n    - dense: {units: 2, activation: "
                               "relu}\n")),
              HasSubstr("n.yaml:4:37: error: model.layers[0].dense.activation: got relu"));
}

TEST(Model, LossAndNumerics) {
  const nn::ModelSpec model = Model("  input: [4]\n  layers: [{dense: {units: 2}}]\n");
  EXPECT_EQ(model.loss, nn::Loss::kSparseCategoricalCrossEntropy);
  EXPECT_EQ(model.numerics, tensor::Numerics::kFast);
  const auto loaded = ParseNode(
      "model: {input: [4], layers: [{dense: {units: 2}}], loss: huber, huber_delta: 0.5, "
      "numerics: portable}\ndata: {train: {images: i, targets: t}}\n",
      "n.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_EQ(loaded->value.model.loss, nn::Loss::kHuber);
  EXPECT_EQ(loaded->value.model.huber_delta, 0.5f);
  EXPECT_EQ(loaded->value.model.numerics, tensor::Numerics::kPortable);
  EXPECT_THAT(Errors(WithModel("  input: [4]\n  layers: [{dense: {units: 2}}]\n  loss: mse\n")),
              HasSubstr("n.yaml:4:9: error: model.loss: 'mse' is not one of "));
}

}  // namespace
}  // namespace covey::config
