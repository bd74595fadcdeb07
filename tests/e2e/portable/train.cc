// Trains small models with portable numerics and prints the hash of their parameters: the same on
// every machine, at every kernel level and in WebAssembly.
//
//   portable_train    at all levels of this machine; exit 1 when a hash is not the stored one
//
// Needs no file, clock, thread or exception, so that it runs where browsers run.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/random.h"
#include "covey/base/sha256.h"
#include "covey/nn/model.h"
#include "covey/nn/network.h"
#include "covey/optim/optimizer.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/kernels.h"

namespace covey {
namespace {

struct Job {
  const char* name;
  const char* hash;  // the first 16 digits of the SHA-256 of the parameters
  nn::ModelSpec spec;
  optim::Settings optimizer;
  std::uint32_t values = 256;  // elements of a sample are below
  float scale = 1;
};

// Odd sizes on purpose: every kernel runs through its edges.
std::vector<Job> Jobs() {
  std::vector<Job> jobs;
  jobs.push_back({.name = "mlp",
                  .hash = "06f569406c93835f",
                  .spec = {.input = {11, 13},
                           .layers = {nn::Dense{37, nn::Activation::kRelu},
                                      nn::Dense{9, nn::Activation::kRelu}, nn::Dense{5}}},
                  .optimizer = {},
                  .scale = 1.0f / 255});
  jobs.push_back(
      {.name = "cnn",
       .hash = "b68ffe33cab5cf9e",
       .spec = {.input = {13, 11, 3},
                .layers = {nn::Conv2d{.filters = 6, .activation = nn::Activation::kRelu},
                           nn::Pool2d{}, nn::Flatten{}, nn::Dense{17, nn::Activation::kRelu},
                           nn::Dropout{0.25f}, nn::Dense{5}}},
       .optimizer = {.kind = optim::Settings::Kind::kSgd,
                     .learning_rate = 0.02f,
                     .momentum = 0.9f,
                     .nesterov = true},
       .scale = 1.0f / 255});
  jobs.push_back({.name = "lstm",
                  .hash = "707951137e1116d3",
                  .spec = {.input = {12},
                           .layers = {nn::OneHot{7},
                                      nn::Lstm{.units = 10, .output = nn::Lstm::Output::kSequence},
                                      nn::Lstm{.units = 9, .gates = nn::Activation::kHardSigmoid},
                                      nn::Dense{7}}},
                  .optimizer = {.kind = optim::Settings::Kind::kRmsProp, .learning_rate = 0.01f},
                  .values = 7});
  for (Job& job : jobs) job.spec.numerics = tensor::Numerics::kPortable;
  return jobs;
}

std::string Train(const Job& job) {
  constexpr std::size_t kBatch = 19;
  constexpr std::size_t kSteps = 40;
  const std::size_t features = nn::Features(job.spec);
  nn::Network network(job.spec, kBatch);
  optim::Optimizer optimizer(job.optimizer, network.parameters(), tensor::Numerics::kPortable);
  // Not nn::Initialise, part of which goes through the C library's functions.
  tensor::FlatVector x(network.parameters());
  Stream init(1, 0, Purpose::kInit);
  for (float& value : x.view()) value = init.Uniform(-0.2f, 0.2f);

  Stream stream(2, 0, Purpose::kTest);
  std::vector<std::uint8_t> samples(kBatch * features);
  std::vector<std::uint32_t> labels(kBatch);
  std::vector<const std::uint8_t*> rows(tensor::PaddedBatch(kBatch), samples.data());
  for (std::size_t b = 0; b < kBatch; ++b) rows[b] = samples.data() + b * features;
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (auto& value : samples) value = static_cast<std::uint8_t>(stream.Below(job.values));
    for (std::size_t b = 0; b < kBatch; ++b) {
      labels[b] = static_cast<std::uint32_t>(rows[b][0] % network.outputs());
    }
    const nn::Batch batch{
        .rows = {.rows = rows.data(), .scale = job.scale}, .size = kBatch, .labels = labels};
    network.Forward(x.view(), batch, step);
    network.Update(x.view(), batch, optimizer.BeginStep(x.view()));
  }
  const ByteView bytes(reinterpret_cast<const std::byte*>(x.data()), x.size() * sizeof(float));
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish().Hex().substr(0, 16);
}

// Returns: the number of hashes that are not the stored ones.
int RunAll() {
  int wrong = 0;
  for (const std::string_view level : tensor::KernelLevels()) {
    tensor::SetKernelLevel(level);
    for (const Job& job : Jobs()) {
      const std::string hash = Train(job);
      const bool right = hash == job.hash;
      std::printf("%-8s %-5s %s%s\n", std::string(level).c_str(), job.name, hash.c_str(),
                  right ? "" : (std::string(" but wanted ") + job.hash).c_str());
      wrong += right ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace
}  // namespace covey

int main() { return covey::RunAll() == 0 ? 0 : 1; }
