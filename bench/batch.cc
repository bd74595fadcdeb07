// Full-batch training of a small net: million connections a second, (weights without biases) times
// samples times steps / second, as the multithreaded back-propagation work counts.
//
//   bench_batch [--net 13 100 8] [--samples 30000] [--threads 1 2] [--numerics fast portable]
//               [--optimizer irprop_plus backprop] [--level v3] [--seconds S] [--windows W]
//               [--json]
//   bench_batch --busy [--seconds 10]     beside one busy process: all threads, one, and the choice
//                                         between them (gradient/pace.h), in turns of a second
//
// "wall" is what a user gets; "cpu" divides by the CPU time of the process, which on a busy machine
// says more about the program.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/command_line/command.h"
#include "covey/gradient/pace.h"
#include "covey/gradient/workers.h"
#include "covey/optim/optimizer.h"
#include "covey/tensor/flush_denormals.h"
#include "covey/tensor/kernels.h"
#include "covey/tensor/small_mlp.h"
#include "json_object.h"

namespace {

namespace tensor = covey::tensor;
using covey::gradient::Pace;
using covey::gradient::Workers;
using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::size_t> net{13, 100, 8};
  std::size_t samples = 30000;
  std::vector<std::size_t> threads{1, 2};
  std::vector<std::string> numerics{"fast", "portable"};
  std::vector<std::string> optimizers{"irprop_plus", "backprop"};
  std::string level;
  double seconds = 0.3;
  int windows = 9;
  bool busy = false;
  bool json = false;
};

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A net, its samples and its optimizer.
class Training {
 public:
  Training(const Options& options, const std::string& optimizer, tensor::Numerics numerics,
           std::size_t threads)
      : shape_(Shape(options, numerics)),
        mlp_(shape_, threads),
        optimizer_(SettingsOf(optimizer), mlp_.parameters(), numerics),
        values_(options.samples * options.net.front()),
        targets_(options.samples * options.net.back()),
        x_(mlp_.parameters()),
        gradient_(mlp_.parameters()) {
    covey::Stream stream(1, 0, covey::Purpose::kTest);
    for (float& value : values_) value = stream.Uniform(-1.0f, 1.0f);
    for (float& target : targets_) target = stream.Uniform(0.1f, 0.9f);
    for (float& parameter : x_) parameter = stream.Uniform(-0.3f, 0.3f);
    set_ = {.values = values_.data(), .targets = targets_.data(), .count = options.samples};
    for (std::size_t l = 0; l + 1 < options.net.size(); ++l) {
      connections_ += options.net[l] * options.net[l + 1];
    }
  }

  void Step(tensor::Tasks& tasks) {
    const tensor::FlushDenormals guard;
    loss_ = mlp_.Gradient(x_, set_, tasks, gradient_).loss_sum / static_cast<double>(set_.count);
    optimizer_.Step(x_, gradient_, loss_);
  }

  double connections() const {
    return static_cast<double>(connections_) * static_cast<double>(set_.count);
  }
  double loss() const { return loss_; }

 private:
  static tensor::SmallMlpShape Shape(const Options& options, tensor::Numerics numerics) {
    tensor::SmallMlpShape shape{.inputs = options.net.front(), .numerics = numerics};
    for (std::size_t l = 1; l < options.net.size(); ++l) {
      shape.layers.push_back({.units = options.net[l], .curve = tensor::Curve::kSigmoid});
    }
    return shape;
  }

  static covey::optim::Settings SettingsOf(const std::string& name) {
    using Kind = covey::optim::Settings::Kind;
    covey::optim::Settings settings{.kind = Kind::kBackprop, .learning_rate = 0.1f};
    for (const Kind kind :
         {Kind::kRpropMinus, Kind::kRpropPlus, Kind::kIrpropMinus, Kind::kIrpropPlus}) {
      if (covey::optim::Name(kind) == name) settings = {.kind = kind, .step_initial = 0.01f};
    }
    return settings;
  }

  tensor::SmallMlpShape shape_;
  tensor::SmallMlp mlp_;
  covey::optim::Optimizer optimizer_;
  std::vector<float> values_, targets_, x_, gradient_;
  tensor::SampleSet set_;
  std::size_t connections_ = 0;
  double loss_ = 0;
};

struct Rate {
  double wall = 0;  // connections a second
  double cpu = 0;
};

// step: one step of `training`.
template <class Step>
Rate Window(const Training& training, double seconds, Step step) {
  double done = 0;
  const double cpu = CpuSeconds();
  const Clock::time_point start = Clock::now();
  double elapsed = 0;
  while (elapsed < seconds) {
    step();
    done += training.connections();
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return {.wall = done / elapsed, .cpu = done / (CpuSeconds() - cpu)};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Row {
  std::string optimizer;
  std::string numerics;
  std::size_t threads = 1;
  double wall = 0;  // million connections a second
  double best = 0;
  double cpu = 0;
  double loss = 0;

  void Print() const {
    std::printf("%-12s %-8s %zu thread%s  wall %7.0f (best %7.0f)  cpu %7.0f  loss %.6f\n",
                optimizer.c_str(), numerics.c_str(), threads, threads == 1 ? " " : "s", wall, best,
                cpu, loss);
    std::fflush(stdout);
  }

  std::string Json() const {
    return covey::bench::JsonObject()
        .Add("optimizer", optimizer)
        .Add("numerics", numerics)
        .Add("threads", threads)
        .Add("level", tensor::KernelLevel())
        .Add("million_connections_per_second", wall)
        .Add("best", best)
        .Add("by_cpu_time", cpu)
        .Add("loss", loss)
        .Text();
  }
};

Row Measure(const Options& options, const std::string& optimizer, const std::string& numerics,
            std::size_t threads) {
  Workers workers(threads);
  Training training(options, optimizer,
                    numerics == "portable" ? tensor::Numerics::kPortable : tensor::Numerics::kFast,
                    threads);
  std::vector<double> wall, cpu;
  for (int window = 0; window < options.windows; ++window) {
    const Rate rate = Window(training, options.seconds, [&] { training.Step(workers); });
    wall.push_back(rate.wall / 1e6);
    cpu.push_back(rate.cpu / 1e6);
  }
  return {.optimizer = optimizer,
          .numerics = numerics,
          .threads = threads,
          .wall = Median(wall),
          .best = *std::max_element(wall.begin(), wall.end()),
          .cpu = Median(cpu),
          .loss = training.loss()};
}

// One process that never rests, ended by its id.
class BusyProcess {
 public:
  BusyProcess() : pid_(fork()) {
    if (pid_ != 0) return;
    for (volatile unsigned spin = 0;;) static_cast<void>(spin);
  }
  ~BusyProcess() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;

 private:
  pid_t pid_;
};

// Turns of one second each, so that whatever else happens on the machine meets all three alike.
void BesideABusyProcess(const Options& options) {
  const std::size_t threads = *std::max_element(options.threads.begin(), options.threads.end());
  Training training(options, options.optimizers.front(), tensor::Numerics::kFast, threads);
  Workers workers(threads);
  Pace pace;
  const auto chosen = [&] {
    workers.use(pace.use());
    const Clock::time_point start = Clock::now();
    training.Step(workers);
    pace.Stepped(Clock::now() - start, options.samples);
  };
  const BusyProcess busy;
  std::vector<double> all, one, choice;
  for (double turn = 0; turn < options.seconds; ++turn) {
    workers.use(Workers::Use::kAll);
    all.push_back(Window(training, 1, [&] { training.Step(workers); }).wall / 1e6);
    choice.push_back(Window(training, 1, chosen).wall / 1e6);
    workers.use(Workers::Use::kOne);
    one.push_back(Window(training, 1, [&] { training.Step(workers); }).wall / 1e6);
  }
  const auto mean = [](const std::vector<double>& rates) {
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum / static_cast<double>(rates.size());
  };
  const double ratio = mean(choice) / mean(one);
  if (options.json) {
    const std::string row = covey::bench::JsonObject()
                                .Add("threads", threads)
                                .Add("all", mean(all))
                                .Add("one", mean(one))
                                .Add("chosen", mean(choice))
                                .Add("chosen_to_one", ratio)
                                .Text();
    std::printf("[%s]\n", row.c_str());
  } else {
    std::printf("beside a busy process: all %.0f  one %.0f  chosen %.0f = %.2f of one\n", mean(all),
                mean(one), mean(choice), ratio);
  }
}

void Compare(const Options& options) {
  std::string report;
  for (const std::string& optimizer : options.optimizers) {
    for (const std::string& numerics : options.numerics) {
      for (const std::size_t threads : options.threads) {
        const Row row = Measure(options, optimizer, numerics, threads);
        report += (report.empty() ? "[" : ",\n ") + row.Json();
        if (!options.json) row.Print();
      }
    }
  }
  if (options.json) std::printf("%s]\n", report.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  covey::command_line::Command program("bench_batch", "Full-batch training of a small net");
  program.Add("--net", options.net, "inputs, units of each layer").Values(2, 9);
  program.Add("--samples", options.samples).Between(1, 10'000'000);
  program.Add("--threads", options.threads).Between(1, 256);
  program.Add("--numerics", options.numerics).OneOf({"fast", "portable"});
  program.Add("--optimizer", options.optimizers,
              "rprop_minus, rprop_plus, irprop_minus, irprop_plus, backprop");
  program.Add("--level", options.level, "kernel level");
  const auto seconds = program.Add("--seconds", options.seconds, "of a window, or of --busy");
  program.Add("--windows", options.windows).Between(1, 1000);
  program.Flag("--busy", options.busy, "beside one busy process");
  program.Flag("--json", options.json);
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (options.busy && !seconds.given()) options.seconds = 10;
  if (!tensor::SetKernelLevel(options.level)) {
    std::fprintf(stderr, "no such kernel level on this machine: %s\n", options.level.c_str());
    return 64;
  }
  if (options.busy) {
    BesideABusyProcess(options);
  } else {
    Compare(options);
  }
  return 0;
}
