// Resilient and batch back-propagation learn what the multithreaded back-propagation work taught
// its nets: parabolas and roots.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/optim/optimizer.h"
#include "covey/tensor/small_mlp.h"
#include "support/levels.h"

namespace covey::gradient::rprop_learning_test {
namespace {

using optim::Settings;
using tensor::Curve;

constexpr std::size_t kSamples = 200;
constexpr std::size_t kUnits = 10;

double Parabola(double x) { return x * x; }
double Root(double x) { return std::sqrt(x); }

struct Task {
  const char* name;
  double (*f)(double);
  float low, high;
};
constexpr Task kTasks[] = {{"parabola", Parabola, -1, 1}, {"root", Root, 0, 1}};

// Returns: the root mean squared error after so many steps on the whole set.
double Learn(const Task& task, const Settings& settings, std::uint64_t seed, int steps) {
  const tensor::SmallMlpShape shape{
      .inputs = 1, .layers = {{.units = kUnits, .curve = Curve::kTanh}, {.units = 1}}};
  std::vector<float> values(kSamples), targets(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    const float part = static_cast<float>(i) / static_cast<float>(kSamples - 1);
    values[i] = task.low + (task.high - task.low) * part;
    targets[i] = static_cast<float>(task.f(static_cast<double>(values[i])));
  }
  const tensor::SampleSet set{
      .values = values.data(), .targets = targets.data(), .count = kSamples};
  tensor::SmallMlp mlp(shape, 1);
  tensor::SerialTasks tasks;
  Stream stream(seed, 0, Purpose::kTest);
  std::vector<float> x(mlp.parameters()), gradient(mlp.parameters());
  // The first layer wide enough to spread its units over the inputs.
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = i < 2 * kUnits ? stream.Uniform(-2.0f, 2.0f) : stream.Uniform(-0.5f, 0.5f);
  }
  optim::Optimizer optimizer(settings, x.size());
  for (int step = 0; step < steps; ++step) {
    const double loss = mlp.Gradient(x, set, tasks, gradient).loss_sum / kSamples;
    optimizer.Step(x, gradient, loss);
  }
  return std::sqrt(mlp.Loss(x, set, tasks).loss_sum / kSamples);
}

TEST(Learning, ResilientPropagationLearnsParabolaAndRoot) {
  for (const Task& task : kTasks) {
    for (const Settings::Kind kind : {Settings::Kind::kRpropMinus, Settings::Kind::kRpropPlus,
                                      Settings::Kind::kIrpropMinus, Settings::Kind::kIrpropPlus}) {
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const double error = Learn(task, {.kind = kind, .step_initial = 0.01f}, seed, 1000);
        EXPECT_LT(error, 0.01) << task.name << " " << optim::Name(kind) << " seed " << seed;
      }
    }
  }
}

// Slower, as its authors report: 5,000 iterations where resilient propagation takes 500 to 1,500.
TEST(Learning, BatchBackPropagationGetsThereToo) {
  for (const Task& task : kTasks) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Settings settings{
          .kind = Settings::Kind::kBackprop, .learning_rate = 0.2f, .blend = 0.7f};
      const double error = Learn(task, settings, seed, 20'000);
      EXPECT_LT(error, 0.02) << task.name << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace covey::gradient::rprop_learning_test
