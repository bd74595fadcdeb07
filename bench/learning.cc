// Learning of one node: test accuracy of the MLP 784-72-10 on Fashion-MNIST after 5, 10 and 20
// epochs, beside what a plain PyTorch loop with the same settings reached.
//
//   bench_learning [--data FOLDER] [--cache FOLDER] [--seeds 1 2 3] [--level v3] [--json]
//
// Adam 1e-3, batch 32, Glorot initial weights, zero biases, bytes / 255, all 60,000 samples in a
// new random order each epoch. At a constant learning rate, as the loop of PyTorch does it, and
// with a cosine schedule over the whole run, so that each length is a run of its own. Nothing is
// chosen by the test set: it is only measured, at the end that was fixed before.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/command_line/command.h"
#include "covey/gradient/evaluator.h"
#include "covey/gradient/trainer.h"
#include "covey/tensor/kernels.h"
#include "json_object.h"
#include "workloads.h"

namespace {

using covey::data::Dataset;

constexpr std::array<int, 3> kEpochs{5, 10, 20};
using Accuracies = std::array<double, kEpochs.size()>;

// PyTorch 1.13, the same settings, constant learning rate: one run, seed 0, as the bar was set; and
// the mean of seeds 0 to 4 (bench/peers/torch_learning.py).
constexpr Accuracies kBar{0.869, 0.882, 0.882};
constexpr Accuracies kTorch{0.8699, 0.8799, 0.8825};

constexpr std::size_t kBatch = 32;

// Trains for the last of `epochs` (ascending). Returns: test accuracy after each of them.
std::vector<double> Train(const Dataset& train, const Dataset& test, std::uint64_t seed,
                          covey::optim::Schedule::Kind schedule, const std::vector<int>& epochs) {
  const covey::nn::ModelSpec spec = covey::bench::MlpSpec();
  const std::size_t steps = (train.size() + kBatch - 1) / kBatch;
  covey::optim::Settings settings;
  settings.schedule.kind = schedule;
  settings.schedule.length = steps * static_cast<std::size_t>(epochs.back());
  covey::gradient::Trainer trainer(spec, settings, kBatch);
  covey::gradient::Evaluator evaluator(spec);
  covey::tensor::FlatVector x(covey::nn::LayoutOf(spec).size());
  covey::Stream init(seed, 0, covey::Purpose::kInit);
  covey::nn::Initialise(spec, init, x.view());
  covey::Stream shuffle(seed, 0, covey::Purpose::kSampler);

  std::vector<std::uint32_t> order(train.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::uint32_t> all(test.size());
  std::iota(all.begin(), all.end(), 0u);
  std::vector<double> accuracies;
  for (int epoch = 1; epoch <= epochs.back(); ++epoch) {
    shuffle.Shuffle(std::span(order));
    for (std::size_t at = 0; at < order.size(); at += kBatch) {
      const std::size_t count = std::min(kBatch, order.size() - at);
      trainer.Step(x.view(), train, std::span(order).subspan(at, count));
    }
    if (epoch == epochs[accuracies.size()]) {
      accuracies.push_back(*evaluator.Run(x.view(), test, all).accuracy);
    }
  }
  return accuracies;
}

struct Row {
  std::string schedule;
  std::string seed;
  Accuracies accuracies{};
};

Row Learn(const Dataset& train, const Dataset& test, std::uint64_t seed, bool cosine) {
  Row row{.schedule = cosine ? "cosine" : "constant", .seed = std::to_string(seed)};
  std::vector<double> reached;
  if (cosine) {
    for (const int epochs : kEpochs) {
      reached.push_back(
          Train(train, test, seed, covey::optim::Schedule::Kind::kCosine, {epochs})[0]);
    }
  } else {
    reached = Train(train, test, seed, covey::optim::Schedule::Kind::kConstant,
                    {kEpochs.begin(), kEpochs.end()});
  }
  std::copy(reached.begin(), reached.end(), row.accuracies.begin());
  return row;
}

void Print(const Row& row) {
  std::printf("%-10s %-16s %9.4f %9.4f %9.4f\n", row.schedule.c_str(), row.seed.c_str(),
              row.accuracies[0], row.accuracies[1], row.accuracies[2]);
}

}  // namespace

int main(int argc, char** argv) {
  covey::bench::Files files;
  std::string level;
  std::vector<std::uint64_t> seeds{1, 2, 3};
  bool json = false;
  covey::command_line::Command program(
      "bench_learning",
      "Test accuracy of the MLP 784-72-10 on Fashion-MNIST after 5, 10 and 20 epochs");
  program.Add("--data", files.folder, "has the four files of Fashion-MNIST");
  program.Add("--cache", files.cache, "folder for unpacked files");
  program.Add("--level", level, "kernel level; the best by default");
  program.Add("--seeds", seeds);
  program.Flag("--json", json);
  if (const auto code = program.Parse(argc, argv)) return *code;
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

  std::string report;
  if (!json) std::printf("%-27s %9s %9s %9s\n", "seed", "5 epochs", "10 epochs", "20 epochs");
  for (const bool cosine : {false, true}) {
    Row mean{.schedule = cosine ? "cosine" : "constant", .seed = "mean"};
    for (const std::uint64_t seed : seeds) {
      const Row row = Learn(parts[0], parts[1], seed, cosine);
      for (std::size_t i = 0; i < kEpochs.size(); ++i) {
        mean.accuracies[i] += row.accuracies[i] / static_cast<double>(seeds.size());
        report += (report.empty() ? "[" : ",\n ") +
                  covey::bench::JsonObject()
                      .Add("schedule", row.schedule)
                      .Add("seed", seed)
                      .Add("epochs", static_cast<std::size_t>(kEpochs[i]))
                      .Add("accuracy", row.accuracies[i])
                      .Add("bar", kBar[i])
                      .Text();
      }
      if (!json) Print(row);
    }
    if (!json) Print(mean);
  }
  if (json) {
    std::printf("%s]\n", report.c_str());
    return 0;
  }
  Print({.schedule = "PyTorch", .seed = "mean of 5", .accuracies = kTorch});
  Print({.schedule = "PyTorch", .seed = "seed 0: the bar", .accuracies = kBar});
  return 0;
}
