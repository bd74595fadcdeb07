// Latency of a question to the model over the local API: client, ipc, forward pass, answer.
//   bench_predict
#include <benchmark/benchmark.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "covey/api/client.h"
#include "covey/api/server.h"
#include "covey/nn/predictor.h"
#include "support/temporary_folder.h"

namespace covey {
namespace {

// The model of the paper's main job, as a daemon holds it.
class ModelHandler final : public api::Handler {
 public:
  ModelHandler() : x_(nn::LayoutOf(spec_).size()) {
    Stream stream(1, 0, Purpose::kTest);
    nn::Initialise(spec_, stream, x_.view());
  }
  api::NodeStatus GetStatus() override { return {}; }
  Result<void> Do(api::Command) override { return {}; }
  api::InputForm GetInputForm() override { return {spec_.input, {}, false}; }
  Result<api::Predictions> Predict(const api::Question& question) override {
    std::vector<float> outputs(question.values.size() / predictor_.features() *
                               predictor_.outputs());
    predictor_.Run(x_.view(), question.values, outputs);
    api::Predictions predictions;
    predictions.answers = api::RankAnswers(outputs, predictor_.outputs(), {}, question.top);
    return predictions;
  }
  Result<api::Pushed> Push(const api::Samples&) override { return api::Pushed{}; }
  std::size_t features() const { return predictor_.features(); }

 private:
  nn::ModelSpec spec_{{28, 28}, {nn::Dense{72, nn::Activation::kRelu}, nn::Dense{10}}};
  tensor::FlatVector x_;
  nn::Predictor predictor_{spec_, {0}, {1.0f / 255}};
};

// Argument: samples of a question.
void Ask(benchmark::State& state) {
  const test::TemporaryFolder folder;
  ModelHandler handler;
  auto server = api::Server::Open(folder / "api.sock");
  if (!server) return state.SkipWithError(server.error().what.c_str());
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop) server->Poll(handler, std::chrono::seconds(1));
  });
  auto client = api::Client::Connect(folder / "api.sock");
  api::Question question;
  question.values.assign(handler.features() * static_cast<std::size_t>(state.range(0)), 7);
  question.top = 3;
  for (auto _ : state) {
    const auto answer = client->Predict(question);
    if (!answer) state.SkipWithError(answer.error().what.c_str());
  }
  stop = true;
  server->Wake();
  thread.join();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Ask)->Arg(1)->Arg(64)->UseRealTime()->Unit(benchmark::kMicrosecond);

// The forward pass alone.
void Pass(benchmark::State& state) {
  ModelHandler handler;
  api::Question question;
  question.values.assign(handler.features() * static_cast<std::size_t>(state.range(0)), 7);
  for (auto _ : state) benchmark::DoNotOptimize(handler.Predict(question));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Pass)->Arg(1)->Arg(64)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace covey

BENCHMARK_MAIN();
