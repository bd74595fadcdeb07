// What the peers in C++ share: their options, and the answer to a request (the protocol is in
// programs.py).
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

namespace peers {

struct Options {
  std::string workload;
  std::string data;
  int batch = 32;
  int threads = 1;
  double seconds = 1;
};

// Only `run` starts these programs: "--name value" pairs, nothing else.
inline Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--workload") {
      options.workload = value;
    } else if (name == "--data") {
      options.data = value;
    } else if (name == "--batch") {
      options.batch = std::atoi(value.c_str());
    } else if (name == "--threads") {
      options.threads = std::atoi(value.c_str());
    } else if (name == "--seconds") {
      options.seconds = std::atof(value.c_str());
    } else {
      std::fprintf(stderr, "%s: unknown option\n", name.c_str());
      std::exit(64);
    }
  }
  return options;
}

struct Sum {
  void Add(long count, double mean_loss) {
    samples += count;
    loss += static_cast<double>(count) * mean_loss;
  }

  long samples = 0;
  double loss = 0;
};

// For each line of standard input: step(sum) until the window is over, then one line of JSON.
template <class Step>
void Serve(const Options& options, const Step& step) {
  using Clock = std::chrono::steady_clock;
  for (std::string line; std::getline(std::cin, line);) {
    Sum sum;
    const auto began = Clock::now();
    const std::clock_t cpu = std::clock();
    double seconds = 0;
    do {
      step(sum);
      seconds = std::chrono::duration<double>(Clock::now() - began).count();
    } while (seconds < options.seconds);
    std::printf("{\"samples\": %ld, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"loss\": %.5f}\n",
                sum.samples, seconds, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC,
                sum.loss / static_cast<double>(sum.samples));
    std::fflush(stdout);
  }
}

}  // namespace peers
