// Learning of one node: test accuracy of the MLP 784-72-10 on Fashion-MNIST after 5, 10 and 20
// epochs, beside what a plain PyTorch loop with the same settings reached.
//
//   bench_learning [--data FOLDER] [--cache FOLDER] [--seeds 1 2 3] [--level v3] [--json]
//
// Adam 1e-3, batch 32, Glorot initial weights, zero biases, bytes / 255, all 60,000 samples in a
// new random order each epoch. Nothing is chosen by the test set: it is only measured.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/gradient/evaluator.h"
#include "covey/gradient/trainer.h"
#include "covey/tensor/kernels.h"
#include "workloads.h"

namespace {

using covey::data::Dataset;

struct Milestone {
  int epoch;
  double bar;  // PyTorch 1.13, the same settings, seed 0
};
constexpr std::array<Milestone, 3> kMilestones{{{5, 0.869}, {10, 0.882}, {20, 0.882}}};
constexpr std::size_t kBatch = 32;

// Returns: test accuracy at each milestone.
std::array<double, 3> Learn(const Dataset& train, const Dataset& test, std::uint64_t seed) {
  const covey::nn::ModelSpec spec = covey::bench::MlpSpec();
  covey::gradient::Trainer trainer(spec, {}, kBatch);
  covey::gradient::Evaluator evaluator(spec);
  covey::tensor::FlatVector x(covey::nn::LayoutOf(spec).size());
  covey::Stream init(seed, 0, covey::Purpose::kInit);
  covey::nn::Initialise(spec, init, x.view());
  covey::Stream shuffle(seed, 0, covey::Purpose::kSampler);

  std::vector<std::uint32_t> order(train.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::uint32_t> all(test.size());
  std::iota(all.begin(), all.end(), 0u);
  std::array<double, 3> accuracy{};
  for (int epoch = 1; epoch <= kMilestones.back().epoch; ++epoch) {
    shuffle.Shuffle(std::span(order));
    for (std::size_t at = 0; at < order.size(); at += kBatch) {
      const std::size_t count = std::min(kBatch, order.size() - at);
      trainer.Step(x.view(), train, std::span(order).subspan(at, count));
    }
    for (std::size_t i = 0; i < kMilestones.size(); ++i) {
      if (kMilestones[i].epoch != epoch) continue;
      accuracy[i] = evaluator.Run(x.view(), test, all).accuracy;
    }
  }
  return accuracy;
}

}  // namespace

int main(int argc, char** argv) {
  covey::bench::Files files;
  std::string level;
  std::vector<std::uint64_t> seeds{1, 2, 3};
  bool json = false;
  CLI::App app{"Test accuracy of the MLP 784-72-10 on Fashion-MNIST after 5, 10 and 20 epochs"};
  app.add_option("--data", files.folder, "has the four files of Fashion-MNIST");
  app.add_option("--cache", files.cache, "folder for unpacked files");
  app.add_option("--level", level, "kernel level; the best by default");
  app.add_option("--seeds", seeds);
  app.add_flag("--json", json);
  CLI11_PARSE(app, argc, argv);
  if (!covey::tensor::SetKernelLevel(level)) {
    std::fprintf(stderr, "--level %s: not on this machine\n", level.c_str());
    return 64;
  }
  std::array<Dataset, 2> parts;
  const std::array<std::string, 2> names{"train", "t10k"};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto opened = covey::bench::OpenFashion(files, names[i]);
    if (!opened) {
      std::fprintf(stderr, "%s\n", opened.error().Format().c_str());
      return covey::ExitCode(opened.error());
    }
    parts[i] = *opened;
  }

  nlohmann::json report = nlohmann::json::array();
  std::array<double, 3> mean{};
  if (!json) std::printf("%-6s %9s %9s %9s\n", "seed", "5 epochs", "10 epochs", "20 epochs");
  const auto print = [](const char* name, const std::array<double, 3>& of) {
    std::printf("%-6s %9.4f %9.4f %9.4f\n", name, of[0], of[1], of[2]);
  };
  for (const std::uint64_t seed : seeds) {
    const auto accuracy = Learn(parts[0], parts[1], seed);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += accuracy[i] / static_cast<double>(seeds.size());
      report.push_back({{"seed", seed},
                        {"epochs", kMilestones[i].epoch},
                        {"accuracy", accuracy[i]},
                        {"bar", kMilestones[i].bar}});
    }
    if (!json) print(std::to_string(seed).c_str(), accuracy);
  }
  if (json) {
    std::printf("%s\n", report.dump(2).c_str());
    return 0;
  }
  print("mean", mean);
  print("bar", {kMilestones[0].bar, kMilestones[1].bar, kMilestones[2].bar});
  return 0;
}
