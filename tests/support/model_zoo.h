// One small model for every layer and every way in which files lay it out differently.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/nn/model.h"
#include "covey/store/model.h"

namespace covey::test {

struct ZooModel {
  std::string name;
  nn::ModelSpec spec;
};

inline std::vector<ZooModel> DenseZoo() {
  using namespace nn;
  std::vector<ZooModel> zoo;
  zoo.push_back({"mlp", {{12}, {Dense{9, Activation::kRelu}, Dense{4}}}});
  zoo.push_back(
      {"mlp_softmax", {{5}, {Dense{6, Activation::kTanh}, Dense{3, Activation::kSoftmax}}}});
  zoo.push_back({"activations",
                 {{7},
                  {Dense{8, Activation::kLeakyRelu}, Dense{8, Activation::kSigmoid},
                   Dense{8, Activation::kHardSigmoid}, Activate{Activation::kTanh}, Dropout{0.3f},
                   Dense{6, Activation::kSoftmax}, Activate{Activation::kLeakyRelu}, Dense{3}}}});
  zoo.push_back({"multi_label",
                 {{6},
                  {Dense{5, Activation::kRelu}, Dense{4, Activation::kSigmoid}},
                  Loss::kBinaryCrossEntropy}});
  zoo.push_back(
      {"regression", {{6}, {Dense{5, Activation::kTanh}, Dense{2}}, Loss::kMeanSquaredError}});
  zoo.push_back({"norms", {{12}, {Dense{12}, GroupNorm{3}, LayerNorm{}, Dense{3}}}});
  return zoo;
}

inline std::vector<ZooModel> ImageZoo() {
  using namespace nn;
  std::vector<ZooModel> zoo;
  const std::vector<std::size_t> image{9, 8, 3};
  zoo.push_back({"image_mlp", {image, {Dense{6, Activation::kRelu}, Dense{4}}}});
  zoo.push_back(
      {"cnn",
       {image,
        {Conv2d{.filters = 5, .activation = Activation::kRelu}, Pool2d{}, Flatten{}, Dropout{0.2f},
         Activate{Activation::kTanh}, Dense{7, Activation::kRelu}, Dense{4}}}});
  zoo.push_back({"cnn_same",
                 {image,
                  {Conv2d{.filters = 4,
                          .kernel = {4, 3},
                          .stride = {2, 1},
                          .padding = Padding::kSame,
                          .activation = Activation::kLeakyRelu},
                   Pool2d{.kind = Pool2d::Kind::kAverage, .size = {2, 3}, .stride = {1, 2}},
                   Conv2d{.filters = 6,
                          .kernel = {2, 2},
                          .padding = Padding::kSame,
                          .activation = Activation::kSigmoid},
                   GlobalAveragePool{}, Dense{3}}}});
  zoo.push_back({"cnn_norms",
                 {image,
                  {Conv2d{.filters = 6, .kernel = {3, 3}}, GroupNorm{2},
                   Activate{Activation::kRelu}, LayerNorm{}, Pool2d{.size = {3, 2}}, Dense{3}}}});
  // The order of the flattened values matters to what follows.
  zoo.push_back({"cnn_flat_norm",
                 {{4, 4, 2},
                  {Conv2d{.filters = 3, .kernel = {2, 2}, .stride = {2, 2}}, Flatten{},
                   GroupNorm{4}, LayerNorm{}, Dense{3}}}});
  zoo.push_back(
      {"cnn_flat_last",
       {{4, 4, 2}, {Conv2d{.filters = 2, .kernel = {3, 3}}, Flatten{}}, Loss::kMeanSquaredError}});
  return zoo;
}

inline std::vector<ZooModel> SequenceZoo() {
  using namespace nn;
  std::vector<ZooModel> zoo;
  zoo.push_back({"lstm", {{6, 3}, {Lstm{.units = 5}, Dense{4}}}});
  zoo.push_back(
      {"lstm_hard",
       {{6, 3},
        {Lstm{.units = 5, .output = Lstm::Output::kSequence, .gates = Activation::kHardSigmoid},
         LayerNorm{}, Lstm{.units = 4}, Dense{3}}}});
  zoo.push_back(
      {"lstm_flat",
       {{5, 2},
        {Lstm{.units = 4, .output = Lstm::Output::kSequence}, GroupNorm{2}, Flatten{}, Dense{3}}}});
  zoo.push_back({"one_hot", {{7}, {OneHot{5}, Lstm{.units = 4}, Dense{5}}}});
  zoo.push_back({"embedding", {{7}, {Embedding{6, 3}, Lstm{.units = 4}, Dense{6}}}});
  zoo.push_back(
      {"one_hot_plane", {{6, 5}, {OneHot{4}, Conv2d{.filters = 3, .kernel = {2, 2}}, Dense{3}}}});
  zoo.push_back({"embedding_plane",
                 {{6, 5}, {Embedding{4, 2}, Conv2d{.filters = 3, .kernel = {2, 2}}, Dense{3}}}});
  zoo.push_back({"one_hot_image", {{3, 2, 2}, {OneHot{4}, LayerNorm{}, GroupNorm{2}, Dense{3}}}});
  return zoo;
}

inline std::vector<ZooModel> ModelZoo() {
  std::vector<ZooModel> zoo = DenseZoo();
  for (ZooModel& one : ImageZoo()) zoo.push_back(std::move(one));
  for (ZooModel& one : SequenceZoo()) zoo.push_back(std::move(one));
  return zoo;
}

// How many numbers the normalisation of a model has.
enum class Numbers { kOne, kChannels, kFeatures };

// Parameters, normalisation, labels and facts from a seed.
inline store::Model DrawZooModel(const nn::ModelSpec& spec, std::uint64_t seed, Numbers numbers) {
  Stream stream(seed, 0, Purpose::kTest);
  store::Model model;
  model.spec = spec;
  model.x = tensor::FlatVector(nn::LayoutOf(spec).size());
  for (float& value : model.x.view()) value = stream.Uniform(-0.7f, 0.7f);
  if (nn::Symbols(spec) == 0) {
    const std::size_t n = numbers == Numbers::kOne        ? 1
                          : numbers == Numbers::kChannels ? spec.input.back()
                                                          : nn::Features(spec);
    model.input = {{}, {}};
    for (std::size_t i = 0; i < n; ++i) {
      model.input.mean.push_back(stream.Uniform(-1.0f, 1.0f));
      model.input.scale.push_back(stream.Uniform(0.1f, 0.4f));
    }
  }
  if (nn::HasLabels(spec)) {
    for (std::size_t c = 0; c < nn::Outputs(spec); ++c) {
      model.labels.push_back("class \"" + std::to_string(c) + "\"");
    }
  }
  model.facts.version = 3;
  model.facts.fleet = "zoo";
  model.facts.created_by = "covey 0.1.0";
  model.facts.batches = 70;
  model.facts.epoch = 1.5;
  model.facts.accuracy = 0.25;
  model.facts.loss = 1.25;
  model.facts.held_out = 8;
  return model;
}

}  // namespace covey::test
