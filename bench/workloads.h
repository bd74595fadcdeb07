// The networks that bench_train trains, with their data: the same as those of bench/peers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

inline constexpr std::array<const char*, 1> kWorkloads{"mlp"};

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

// Requires: name is one of kWorkloads.
// Errors: as data::OpenIdx.
inline Result<Workload> MakeWorkload(const std::string& name, const Files& files) {
  (void)name;
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
