// Learning of text: cross-entropy in nats of a 2 x 50 LSTM (hard gates, RMSprop) that reads 40
// characters and guesses the next one, on windows that it has not seen.
//
//   bench_text FILE [--seeds 1 2 3] [--batches 80] [--batch 128] [--rate 0.01] [--level v3]
//              [--numerics fast|portable] [--json]
//
// FILE: UTF-8; the figures of docs/benchmarks.md are of `scripts/fetch-data tfjs-text`. The model
// trains on random windows of the first fifteen sixteenths of the text and is measured on 2,048
// random ones of the rest. Chance is the logarithm of the number of different characters.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/command_line/command.h"
#include "covey/data/text.h"
#include "covey/gradient/evaluator.h"
#include "covey/gradient/trainer.h"
#include "covey/tensor/kernels.h"
#include "json_object.h"
#include "workloads.h"

namespace {

struct Options {
  std::string file;
  std::vector<std::uint64_t> seeds{1, 2, 3};
  std::size_t batches = 80;
  std::size_t batch = 128;
  float rate = 0.01f;
  std::string level;
  std::string numerics = "fast";
  bool json = false;
};

struct Learned {
  double nats = 0;
  double milliseconds = 0;  // CPU time of a batch
};

Learned Learn(const Options& options, const covey::data::Dataset& dataset, std::uint64_t seed) {
  covey::nn::ModelSpec spec = covey::bench::LstmSpec(dataset.features(), dataset.classes(),
                                                     covey::nn::Activation::kHardSigmoid);
  spec.numerics = options.numerics == "portable" ? covey::tensor::Numerics::kPortable
                                                 : covey::tensor::Numerics::kFast;
  const covey::optim::Settings settings{.kind = covey::optim::Settings::Kind::kRmsProp,
                                        .learning_rate = options.rate};
  covey::gradient::Trainer trainer(spec, settings, options.batch);
  covey::gradient::Evaluator evaluator(spec);
  covey::tensor::FlatVector x(covey::nn::LayoutOf(spec).size());
  covey::Stream init(seed, 0, covey::Purpose::kInit);
  covey::nn::Initialise(spec, init, x.view());

  const std::size_t seen = dataset.size() - dataset.size() / 16;
  covey::Stream draw(seed, 0, covey::Purpose::kSampler);
  std::vector<std::uint32_t> rows(options.batch);
  const std::clock_t start = std::clock();
  for (std::size_t i = 0; i < options.batches; ++i) {
    for (auto& row : rows) row = static_cast<std::uint32_t>(draw.Below(seen));
    trainer.Step(x.view(), dataset, rows);
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  rows.resize(2048);
  for (auto& row : rows) row = static_cast<std::uint32_t>(seen + draw.Below(dataset.size() - seen));
  return {.nats = evaluator.Run(x.view(), dataset, rows).loss,
          .milliseconds = 1000 * seconds / static_cast<double>(options.batches)};
}

int Run(const Options& options) {
  std::ifstream file(options.file, std::ios::binary);
  std::ostringstream content;
  if (!(content << file.rdbuf())) {
    std::fprintf(stderr, "bench_text: %s: can't be read\n", options.file.c_str());
    return 66;
  }
  const auto text = covey::data::WindowsOfText(content.str(), {}, options.file);
  if (!text) {
    std::fprintf(stderr, "bench_text: %s\n", text.error().Format().c_str());
    return covey::ExitCode(text.error());
  }
  const double chance = std::log(static_cast<double>(text->symbols.size()));
  for (const std::uint64_t seed : options.seeds) {
    const Learned learned = Learn(options, text->windows, seed);
    const auto number = static_cast<unsigned long long>(seed);
    if (options.json) {
      const std::string line = covey::bench::JsonObject()
                                   .Add("seed", seed)
                                   .Add("batches", options.batches)
                                   .Add("nats", learned.nats)
                                   .Add("chance", chance)
                                   .Add("cpu_milliseconds_per_batch", learned.milliseconds)
                                   .Text();
      std::printf("%s\n", line.c_str());
    } else {
      std::printf("seed %llu: %.3f nats after %zu batches of %zu (chance %.3f), %.2f CPU ms each\n",
                  number, learned.nats, options.batches, options.batch, chance,
                  learned.milliseconds);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  covey::command_line::Command program("bench_text", "Learning of text by a 2 x 50 LSTM");
  program.Add("file", options.file, "a text in UTF-8").Required();
  program.Add("--seeds", options.seeds);
  program.Add("--batches", options.batches).Positive();
  program.Add("--batch", options.batch).Positive();
  program.Add("--rate", options.rate, "learning rate").Positive();
  program.Add("--level", options.level, "kernel level; the best by default");
  program.Add("--numerics", options.numerics).OneOf({"fast", "portable"});
  program.Flag("--json", options.json);
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (!covey::tensor::SetKernelLevel(options.level)) {
    std::fprintf(stderr, "--level %s: not on this machine\n", options.level.c_str());
    return 64;
  }
  return Run(options);
}
