// The networks that bench_train trains, with their data: the same as those of bench/peers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/dataset.h"
#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"

namespace covey::bench {

struct Workload {
  nn::ModelSpec spec;
  optim::Settings optimizer;
  data::Dataset dataset;
  std::size_t batch = 32;  // unless the command line says otherwise
};

inline constexpr std::array<const char*, 5> kWorkloads{"mlp", "cnn", "rprop", "batch_backprop",
                                                       "lstm"};

// Where Fashion-MNIST lies and where it may be unpacked; no folder: random bytes instead.
struct Files {
  std::string folder = "/usr/share/datasets/fashion-mnist";
  std::string cache = "/tmp/covey-bench-cache";
};

// Pseudo-random 32-bit words, the i-th of a seed: the same as words() of bench/peers/made.py.
// Source: Wellons, "lowbias32", of a counter.
inline std::uint32_t Word(std::uint32_t seed, std::uint32_t i) {
  std::uint32_t x = i * 0x9E3779B9u + seed;
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

// Samples of random bytes with random labels below 10.
inline data::Dataset RandomImages(std::vector<std::size_t> shape, std::uint32_t samples) {
  std::uint32_t features = 1;
  for (const std::size_t extent : shape) features *= static_cast<std::uint32_t>(extent);
  data::Dataset::Memory memory{.shape = std::move(shape), .rows = {}, .labels = {}, .classes = 10};
  memory.rows.resize(std::size_t{samples} * features);
  for (std::uint32_t i = 0; i < memory.rows.size(); ++i) {
    memory.rows[i] = static_cast<std::uint8_t>(Word(2, i) >> 24);
  }
  memory.labels.resize(samples);
  for (std::uint32_t i = 0; i < samples; ++i) {
    memory.labels[i] = static_cast<std::uint8_t>(Word(3, i) % 10);
  }
  return data::Dataset::FromMemory(std::move(memory));
}

inline Result<data::Dataset> OpenFashion(const Files& files, const std::string& part) {
  return data::OpenIdx({.images = files.folder + "/" + part + "-images-idx3-ubyte.gz",
                        .labels = files.folder + "/" + part + "-labels-idx1-ubyte.gz",
                        .classes = 10},
                       files.cache);
}

inline nn::ModelSpec MlpSpec() {
  nn::ModelSpec spec{.input = {28, 28}, .layers = {}};
  spec.layers = {nn::Dense{.units = 72, .activation = nn::Activation::kRelu},
                 nn::Dense{.units = 10}};
  return spec;
}

// 30,000 samples of 13 numbers in [0, 1) and 8 targets, 0.1 + 0.8 x_k x_(k+5).
inline data::Dataset Regression() {
  constexpr std::size_t kSamples = 30000;
  constexpr std::size_t kInputs = 13;
  constexpr std::size_t kOutputs = 8;
  std::vector<float> inputs(kSamples * kInputs);
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = static_cast<float>(Word(4, i) >> 8) * 0x1p-24f;
  }
  data::Dataset::Memory memory{.shape = {kInputs},
                               .rows = std::vector<std::uint8_t>(inputs.size() * sizeof(float)),
                               .labels = {},
                               .normalize = data::Normalize::kNone,
                               .element = tensor::Element::kFloat32,
                               .targets = std::vector<float>(kSamples * kOutputs),
                               .outputs = kOutputs};
  std::memcpy(memory.rows.data(), inputs.data(), memory.rows.size());
  for (std::size_t i = 0; i < kSamples; ++i) {
    const float* x = &inputs[i * kInputs];
    for (std::size_t k = 0; k < kOutputs; ++k) {
      memory.targets[i * kOutputs + k] = 0.1f + 0.8f * x[k] * x[k + 5];
    }
  }
  return data::Dataset::FromMemory(std::move(memory));
}

inline nn::ModelSpec RegressionSpec() {
  nn::ModelSpec spec{.input = {13}, .layers = {}, .loss = nn::Loss::kMeanSquaredError};
  spec.layers = {nn::Dense{.units = 100, .activation = nn::Activation::kSigmoid},
                 nn::Dense{.units = 8, .activation = nn::Activation::kSigmoid}};
  return spec;
}

// Of Crandall & Webb 2020, for CIFAR-10.
inline nn::ModelSpec CnnSpec() {
  nn::ModelSpec spec{.input = {32, 32, 3}, .layers = {}};
  spec.layers = {nn::Conv2d{.filters = 16, .activation = nn::Activation::kRelu},
                 nn::Pool2d{},
                 nn::Conv2d{.filters = 32, .activation = nn::Activation::kRelu},
                 nn::Pool2d{},
                 nn::Flatten{},
                 nn::Dense{.units = 128, .activation = nn::Activation::kRelu},
                 nn::Dropout{.rate = 0.5f},
                 nn::Dense{.units = 10}};
  return spec;
}

// Windows of 40 symbols of a text of random symbols, each with the one that follows.
inline data::Dataset RandomText() {
  constexpr std::uint32_t kWindows = 20000, kSteps = 40, kSymbols = 100;
  const auto symbol = [](std::uint32_t i) { return static_cast<std::uint8_t>(Word(5, i) % 100); };
  data::Dataset::Memory memory{.shape = {kSteps},
                               .rows = {},
                               .labels = {},
                               .classes = kSymbols,
                               .normalize = data::Normalize::kNone};
  for (std::uint32_t w = 0; w < kWindows; ++w) {
    for (std::uint32_t t = 0; t < kSteps; ++t) memory.rows.push_back(symbol(w + t));
    memory.labels.push_back(symbol(w + kSteps));
  }
  return data::Dataset::FromMemory(std::move(memory));
}

// Two stacked LSTMs of 50 that read symbols and guess the next one. gates: hard in the
// example of TensorFlow.js that the network comes from; PyTorch knows the exact sigmoid alone.
inline nn::ModelSpec LstmSpec(std::size_t steps, std::size_t symbols,
                              nn::Activation gates = nn::Activation::kSigmoid) {
  nn::ModelSpec spec{.input = {steps}, .layers = {}};
  spec.layers = {nn::OneHot{.symbols = symbols},
                 nn::Lstm{.units = 50, .output = nn::Lstm::Output::kSequence, .gates = gates},
                 nn::Lstm{.units = 50, .gates = gates}, nn::Dense{.units = symbols}};
  return spec;
}

// Requires: name is one of kWorkloads.
// Errors: as data::OpenIdx.
inline Result<Workload> MakeWorkload(const std::string& name, const Files& files) {
  if (name == "cnn") {
    return Workload{.spec = CnnSpec(), .optimizer = {}, .dataset = RandomImages({32, 32, 3}, 8192)};
  }
  if (name == "rprop" || name == "batch_backprop") {
    using Kind = optim::Settings::Kind;
    optim::Settings optimizer{.kind = Kind::kIrpropMinus};
    if (name == "batch_backprop") optimizer = {.kind = Kind::kBackprop, .learning_rate = 0.5f};
    return Workload{
        .spec = RegressionSpec(), .optimizer = optimizer, .dataset = Regression(), .batch = 30000};
  }
  if (name == "lstm") {
    return Workload{.spec = LstmSpec(40, 100),
                    .optimizer = {.kind = optim::Settings::Kind::kRmsProp, .learning_rate = 0.01f},
                    .dataset = RandomText(),
                    .batch = 128};
  }
  Workload made{.spec = MlpSpec(), .optimizer = {}, .dataset = {}};
  if (files.folder.empty()) {
    made.dataset = RandomImages({28, 28}, 60000);
    return made;
  }
  auto opened = OpenFashion(files, "train");
  if (!opened) return tl::unexpected(opened.error());
  made.dataset = *std::move(opened);
  return made;
}

}  // namespace covey::bench
