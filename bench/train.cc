// Training speed of one node on one thread: samples a second of gradient::Trainer, as medians of
// windows.
//
//   bench_train [--images F --labels F | --synthetic] [--batch 8 32 128] [--hidden 72] [--level v3]
//               [--optimizer adam|sgd|momentum|quasi_global] [--seconds S] [--windows W] [--json]
//
// Compare figures only within one run of a quiet machine. Where it is not quiet, the rate by CPU
// time and the greatest window say more about the program and less about its neighbours; all are
// printed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/data/dataset.h"
#include "covey/gradient/evaluator.h"
#include "covey/gradient/trainer.h"
#include "covey/tensor/kernels.h"

namespace {

using covey::data::Dataset;

struct Options {
  std::string images = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";
  std::string labels = "/usr/share/datasets/fashion-mnist/train-labels-idx1-ubyte.gz";
  std::string cache = "/tmp/covey-bench-cache";
  bool synthetic = false;
  std::vector<std::size_t> batches{8, 32, 128};
  std::vector<std::size_t> hidden{72};
  std::string optimizer = "adam";
  std::string level;
  double seconds = 0.5;
  int windows = 11;
  bool json = false;
};

Dataset Synthetic() {
  constexpr std::size_t kSamples = 60000;
  constexpr std::size_t kFeatures = 784;
  Dataset::Memory memory{.shape = {28, 28}, .rows = {}, .labels = {}, .classes = 10};
  memory.rows.resize(kSamples * kFeatures);
  covey::Stream stream(1, 0, covey::Purpose::kTest);
  for (auto& byte : memory.rows) byte = static_cast<std::uint8_t>(stream.Next32());
  memory.labels.resize(kSamples);
  for (auto& label : memory.labels) label = static_cast<std::uint8_t>(stream.Below(10));
  return Dataset::FromMemory(std::move(memory));
}

covey::optim::Settings SettingsOf(const std::string& name) {
  covey::optim::Settings settings;
  if (name == "adam") return settings;
  settings.learning_rate = 0.01f;
  if (name == "quasi_global") {
    settings.kind = covey::optim::Settings::Kind::kQuasiGlobal;
  } else {
    settings.kind = covey::optim::Settings::Kind::kSgd;
    settings.momentum = name == "momentum" ? 0.9f : 0.0f;
  }
  return settings;
}

struct Rate {
  std::size_t batch = 0;
  double median = 0;
  double best = 0;
  double median_cpu = 0;  // by the CPU time of the process
  double loss = 0;        // of the last window: shows that it learns
};

Rate Measure(const Options& options, const Dataset& dataset, std::size_t batch) {
  covey::nn::ModelSpec spec{.input = dataset.shape(), .layers = {}};
  for (const std::size_t units : options.hidden) {
    spec.layers.push_back(
        covey::nn::Dense{.units = units, .activation = covey::nn::Activation::kRelu});
  }
  spec.layers.push_back(covey::nn::Dense{.units = 10});
  covey::gradient::Trainer trainer(spec, SettingsOf(options.optimizer), batch);
  covey::tensor::FlatVector x(covey::nn::LayoutOf(spec).size());
  covey::Stream init(1, 0, covey::Purpose::kInit);
  covey::nn::Initialise(spec, init, x.view());

  std::vector<std::uint32_t> order(dataset.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  covey::Stream(1, 0, covey::Purpose::kSampler).Shuffle(std::span(order));
  std::size_t position = 0;
  std::vector<double> rates;
  std::vector<double> cpu_rates;
  Rate result{.batch = batch};
  for (int window = -1; window < options.windows; ++window) {  // window -1 warms up
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    std::size_t samples = 0;
    double loss = 0;
    double elapsed = 0;
    while (elapsed < options.seconds) {
      for (int step = 0; step < 16; ++step) {
        if (position + batch > order.size()) position = 0;
        loss += trainer.Step(x.view(), dataset, std::span(order).subspan(position, batch)).loss_sum;
        position += batch;
        samples += batch;
      }
      elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    if (window >= 0) {
      rates.push_back(static_cast<double>(samples) / elapsed);
      cpu_rates.push_back(static_cast<double>(samples) / cpu);
    }
    result.loss = loss / static_cast<double>(samples);
  }
  if (rates.empty()) return result;
  std::sort(rates.begin(), rates.end());
  std::sort(cpu_rates.begin(), cpu_rates.end());
  result.median_cpu = cpu_rates[cpu_rates.size() / 2];
  result.median = rates[rates.size() / 2];
  result.best = rates[rates.size() - 1];
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Training speed of one node on one thread"};
  app.add_option("--images", options.images, "IDX or IDX.gz of images");
  app.add_option("--labels", options.labels, "IDX or IDX.gz of labels");
  app.add_option("--cache", options.cache, "folder for unpacked files");
  app.add_flag("--synthetic", options.synthetic, "random bytes instead of files");
  app.add_option("--batch", options.batches, "batch sizes");
  app.add_option("--hidden", options.hidden, "units of the hidden layers");
  app.add_option("--optimizer", options.optimizer)
      ->check(CLI::IsMember({"adam", "sgd", "momentum", "quasi_global"}));
  app.add_option("--level", options.level, "kernel level; the best by default");
  app.add_option("--seconds", options.seconds, "length of a window");
  app.add_option("--windows", options.windows)->check(CLI::PositiveNumber);
  app.add_flag("--json", options.json);
  CLI11_PARSE(app, argc, argv);
  if (!covey::tensor::SetKernelLevel(options.level)) {
    std::fprintf(stderr, "--level %s: not on this machine\n", options.level.c_str());
    return 64;
  }
  Dataset dataset;
  if (options.synthetic) {
    dataset = Synthetic();
  } else {
    auto opened =
        covey::data::OpenIdx({.images = options.images, .labels = options.labels}, options.cache);
    if (!opened) {
      std::fprintf(stderr, "%s\n", opened.error().Format().c_str());
      return covey::ExitCode(opened.error());
    }
    dataset = *opened;
  }
  nlohmann::json report = nlohmann::json::array();
  for (const std::size_t batch : options.batches) {
    const Rate rate = Measure(options, dataset, batch);
    if (options.json) {
      report.push_back({{"batch", rate.batch},
                        {"level", covey::tensor::KernelLevel()},
                        {"optimizer", options.optimizer},
                        {"samples_per_second", rate.median},
                        {"samples_per_second_best", rate.best},
                        {"samples_per_cpu_second", rate.median_cpu},
                        {"loss", rate.loss}});
    } else {
      std::printf(
          "batch %4zu  level %s  %s: median %.0f, best %.0f samples/s, %.0f per CPU second, loss "
          "%.4f\n",
          rate.batch, std::string(covey::tensor::KernelLevel()).c_str(), options.optimizer.c_str(),
          rate.median, rate.best, rate.median_cpu, rate.loss);
    }
  }
  if (options.json) std::printf("%s\n", report.dump(2).c_str());
  return 0;
}
