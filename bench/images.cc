// Learning of one node: test accuracy of the paper's CNN on CIFAR-10, epoch by epoch, until a bar
// is reached.
//
//   scripts/fetch-data cifar-10
//   bench_images [--data FOLDER] [--epochs E] [--until ACCURACY] [--seed S] [--level v3]
//
// Conv 3x3 16, pool, conv 3x3 32, pool, dense 128, dropout 0.5, dense 10; Adam 1e-3, batch 32,
// Glorot initial weights, bytes / 255, all 50,000 samples in a new random order each epoch, as they
// are. The bar stops the run; nothing else is chosen by the test set.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/command_line/command.h"
#include "covey/gradient/evaluator.h"
#include "covey/gradient/trainer.h"
#include "covey/tensor/kernels.h"
#include "workloads.h"

namespace {

using covey::data::Dataset;

struct Options {
  std::string folder;
  std::string cache = covey::bench::Files().cache;
  std::string level;
  int epochs = 100;
  double until = 0.68;
  std::uint64_t seed = 1;
};

// Where scripts/fetch-data leaves it.
std::string DefaultFolder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  std::string folder = variable("COVEY_DATA");
  if (folder.empty()) {
    folder = variable("XDG_CACHE_HOME");
    if (folder.empty()) folder = variable("HOME") + "/.cache";
    folder += "/covey/data";
  }
  return folder + "/cifar-10";
}

covey::Result<Dataset> Open(const Options& options, const std::string& part) {
  return covey::data::OpenIdx({.images = options.folder + "/" + part + "-images-idx4-ubyte",
                               .labels = options.folder + "/" + part + "-labels-idx1-ubyte",
                               .classes = 10},
                              options.cache);
}

// Returns: whether the bar was reached.
bool Learn(const Options& options, const Dataset& train, const Dataset& test) {
  constexpr std::size_t kBatch = 32;
  const covey::nn::ModelSpec spec = covey::bench::CnnSpec();
  covey::gradient::Trainer trainer(spec, {}, kBatch);
  covey::gradient::Evaluator evaluator(spec);
  covey::tensor::FlatVector x(covey::nn::LayoutOf(spec).size());
  covey::Stream init(options.seed, 0, covey::Purpose::kInit);
  covey::nn::Initialise(spec, init, x.view());
  covey::Stream shuffle(options.seed, 0, covey::Purpose::kSampler);
  std::vector<std::uint32_t> order(train.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::uint32_t> all(test.size());
  std::iota(all.begin(), all.end(), 0u);
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    shuffle.Shuffle(std::span(order));
    const std::clock_t cpu = std::clock();
    double loss = 0;
    for (std::size_t at = 0; at < order.size(); at += kBatch) {
      const std::size_t count = std::min(kBatch, order.size() - at);
      loss += trainer.Step(x.view(), train, std::span(order).subspan(at, count)).loss_sum;
    }
    const double seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    const double samples = static_cast<double>(order.size());
    const auto result = evaluator.Run(x.view(), test, all);
    std::printf(
        "epoch %3d  loss %.4f  test loss %.4f  accuracy %.4f  %.0f samples per CPU second\n", epoch,
        loss / samples, result.loss, *result.accuracy, samples / seconds);
    std::fflush(stdout);
    if (*result.accuracy >= options.until) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.folder = DefaultFolder();
  covey::command_line::Command program(
      "bench_images",
      "Test accuracy of the paper's CNN on CIFAR-10 (exit code 1: bar not reached)");
  program.Add("--data", options.folder, "has the four files of scripts/fetch-data cifar-10");
  program.Add("--cache", options.cache, "folder for unpacked files");
  program.Add("--level", options.level, "kernel level; the best by default");
  program.Add("--epochs", options.epochs).Positive();
  program.Add("--until", options.until, "accuracy that ends the run");
  program.Add("--seed", options.seed);
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (!covey::tensor::SetKernelLevel(options.level)) {
    std::fprintf(stderr, "--level %s: not on this machine\n", options.level.c_str());
    return 64;
  }
  const auto train = Open(options, "train");
  const auto test = Open(options, "test");
  for (const auto* opened : {&train, &test}) {
    if (opened->has_value()) continue;
    std::fprintf(stderr, "%s\nscripts/fetch-data cifar-10 fetches it\n",
                 opened->error().Format().c_str());
    return covey::ExitCode(opened->error());
  }
  return Learn(options, *train, *test) ? 0 : 1;
}
