// Training speed of one node: windows of gradient::Trainer on one of the networks of workloads.h.
//
//   bench_train [--workload mlp|cnn|rprop|batch_backprop|lstm] [--batch B] [--threads T]
//               [--numerics fast|portable] [--level v3] [--data FOLDER | --synthetic]
//               [--seconds S] [--windows W] [--json | --serve]
//
// Prints the median of the windows; --json: as one line. --serve is what bench/peers/run talks to:
// one window for each line of standard input (bench/peers/programs.py).
//
// Compare figures only within one run of a quiet machine. Where it is not quiet, the rate by CPU
// time says more about the program and less about its neighbours.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/command_line/command.h"
#include "covey/gradient/trainer.h"
#include "covey/gradient/workers.h"
#include "covey/tensor/kernels.h"
#include "json_object.h"
#include "workloads.h"

namespace {

using covey::bench::Workload;

struct Options {
  std::string workload = "mlp";
  covey::bench::Files files;
  bool synthetic = false;
  std::size_t batch = 0;
  std::size_t threads = 1;
  std::string numerics = "fast";
  std::string level;
  double seconds = 0.5;
  int windows = 11;
  bool json = false;
  bool serve = false;
};

struct Window {
  std::size_t samples = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // of the process
  double loss = 0;         // mean: shows that it learns
};

// A model in training: the same batches again and again, in one random order of the samples (in
// theirs where a step takes all of them).
class Session {
 public:
  Session(const Workload& workload, std::size_t threads)
      : workload_(workload),
        workers_(threads),
        trainer_(workload.spec, workload.optimizer, workload.batch, &workers_),
        x_(covey::nn::LayoutOf(workload.spec).size()),
        order_(workload.dataset.size()) {
    covey::Stream init(1, 0, covey::Purpose::kInit);
    covey::nn::Initialise(workload.spec, init, x_.view());
    std::iota(order_.begin(), order_.end(), 0u);
    if (workload.batch < order_.size()) {
      covey::Stream(1, 0, covey::Purpose::kSampler).Shuffle(std::span(order_));
    }
  }

  Window Train(double seconds) {
    Window window;
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    do {
      if (position_ + workload_.batch > order_.size()) position_ = 0;
      const auto rows = std::span(order_).subspan(position_, workload_.batch);
      window.loss += trainer_.Step(x_.view(), workload_.dataset, rows).loss_sum;
      position_ += workload_.batch;
      window.samples += workload_.batch;
      window.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } while (window.seconds < seconds);
    window.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    window.loss /= static_cast<double>(window.samples);
    return window;
  }

 private:
  const Workload& workload_;
  covey::gradient::Workers workers_;  // before the trainer, which uses them
  covey::gradient::Trainer trainer_;
  covey::tensor::FlatVector x_;
  std::vector<std::uint32_t> order_;
  std::size_t position_ = 0;
};

// For each line of standard input a window, as a line of JSON.
void Serve(Session& session, double seconds) {
  std::printf("{\"version\": \"%s\"}\n", std::string(covey::tensor::KernelLevel()).c_str());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const Window window = session.Train(seconds);
    const std::string answer = covey::bench::JsonObject()
                                   .Add("samples", window.samples)
                                   .Add("seconds", window.seconds)
                                   .Add("cpu_seconds", window.cpu_seconds)
                                   .Add("loss", window.loss)
                                   .Text();
    std::printf("%s\n", answer.c_str());
    std::fflush(stdout);
  }
}

// Weights without biases: what the literature counts as connections.
std::size_t Connections(const covey::nn::ModelSpec& spec) {
  std::size_t count = 0;
  const covey::tensor::Layout layout = covey::nn::LayoutOf(spec);
  for (const auto& slice : layout.slices()) {
    if (slice.name.find(".weight") != std::string::npos) count += slice.size;
  }
  return count;
}

void Report(const Options& options, const Workload& workload, const std::vector<Window>& windows) {
  std::vector<double> rates;
  std::vector<double> cpu_rates;
  for (const Window& window : windows) {
    rates.push_back(static_cast<double>(window.samples) / window.seconds);
    cpu_rates.push_back(static_cast<double>(window.samples) / window.cpu_seconds);
  }
  std::sort(rates.begin(), rates.end());
  std::sort(cpu_rates.begin(), cpu_rates.end());
  const double rate = rates[rates.size() / 2];
  const double milliseconds = 1000 * static_cast<double>(workload.batch) / rate;
  const double connections = rate * static_cast<double>(Connections(workload.spec)) / 1e6;
  const std::string level(covey::tensor::KernelLevel());
  if (options.json) {
    const std::string line = covey::bench::JsonObject()
                                 .Add("workload", options.workload)
                                 .Add("batch", workload.batch)
                                 .Add("threads", options.threads)
                                 .Add("numerics", options.numerics)
                                 .Add("level", level)
                                 .Add("samples_per_second", rate)
                                 .Add("samples_per_second_best", rates.back())
                                 .Add("samples_per_cpu_second", cpu_rates[cpu_rates.size() / 2])
                                 .Add("milliseconds_per_batch", milliseconds)
                                 .Add("million_connections_per_second", connections)
                                 .Add("loss", windows.back().loss)
                                 .Text();
    std::printf("%s\n", line.c_str());
    return;
  }
  std::printf(
      "%s, batch %zu, %zu thread(s), %s, level %s: %.0f samples/s (best %.0f, %.0f per CPU "
      "second), %.4g ms a batch, %.0f million connections/s, loss %.4f\n",
      options.workload.c_str(), workload.batch, options.threads, options.numerics.c_str(),
      level.c_str(), rate, rates.back(), cpu_rates[cpu_rates.size() / 2], milliseconds, connections,
      windows.back().loss);
}

void Declare(covey::command_line::Command& program, Options& options) {
  program.Add("--workload", options.workload)
      .OneOf({covey::bench::kWorkloads.begin(), covey::bench::kWorkloads.end()});
  program.Add("--batch", options.batch, "samples of a step; the workload's own by default");
  program.Add("--threads", options.threads).Between(1, 64);
  program.Add("--numerics", options.numerics).OneOf({"fast", "portable"});
  program.Add("--level", options.level, "kernel level; the best by default");
  program.Add("--data", options.files.folder, "folder of Fashion-MNIST");
  program.Add("--cache", options.files.cache, "folder for unpacked files");
  program.Flag("--synthetic", options.synthetic, "random bytes instead of Fashion-MNIST");
  program.Add("--seconds", options.seconds, "length of a window").Positive();
  program.Add("--windows", options.windows).Positive();
  program.Flag("--json", options.json);
  program.Flag("--serve", options.serve, "a window for each line of standard input");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  covey::command_line::Command program("bench_train", "Training speed of one node");
  Declare(program, options);
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (!covey::tensor::SetKernelLevel(options.level)) {
    std::fprintf(stderr, "--level %s: not on this machine\n", options.level.c_str());
    return 64;
  }
  if (options.synthetic) options.files.folder.clear();
  auto workload = covey::bench::MakeWorkload(options.workload, options.files);
  if (!workload) {
    std::fprintf(stderr, "%s\n", workload.error().Format().c_str());
    return covey::ExitCode(workload.error());
  }
  if (options.batch != 0) workload->batch = options.batch;
  if (workload->batch > workload->dataset.size()) {
    std::fprintf(stderr, "--batch %zu: there are %zu samples\n", workload->batch,
                 workload->dataset.size());
    return 64;
  }
  if (options.numerics == "portable") {
    workload->spec.numerics = covey::tensor::Numerics::kPortable;
  }
  Session session(*workload, options.threads);
  if (options.serve) {
    Serve(session, options.seconds);
    return 0;
  }
  session.Train(options.seconds);  // warms up
  std::vector<Window> windows;
  for (int i = 0; i < options.windows; ++i) windows.push_back(session.Train(options.seconds));
  Report(options, *workload, windows);
  return 0;
}
