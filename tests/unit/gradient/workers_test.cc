#include "covey/gradient/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "covey/tensor/flush_denormals.h"
#include "covey/tensor/small_mlp.h"

namespace covey::gradient::workers_test {
namespace {

TEST(Workers, RunEveryPartOnce) {
  for (const std::size_t threads : {1u, 2u, 3u, 7u}) {
    Workers workers(threads);
    ASSERT_EQ(workers.width(), threads);
    for (const std::size_t count : {0u, 1u, 2u, 5u, 64u, 1000u}) {
      std::vector<std::uint32_t> calls(count);  // each part writes its own
      workers.Run(count, [&](std::size_t part, std::size_t worker) {
        EXPECT_LT(worker, threads);
        ++calls[part];
      });
      EXPECT_EQ(calls, std::vector<std::uint32_t>(count, 1));
    }
  }
}

// Runs follow each other at once and after pauses in which workers fall asleep: a thread that comes
// late must find no part of a Run that is over.
TEST(Workers, ManyShortRunsInARow) {
  Workers workers(4);
  std::uint64_t sum = 0;
  std::uint64_t expected = 0;
  for (std::uint64_t run = 0; run < 3000; ++run) {
    const std::size_t count = 1 + run % 5;
    std::uint64_t parts[5] = {};
    workers.Run(count, [&](std::size_t part) { parts[part] = run + part; });
    sum += std::accumulate(parts, parts + count, std::uint64_t{0});
    for (std::size_t part = 0; part < count; ++part) expected += run + part;
  }
  EXPECT_EQ(sum, expected);
}

TEST(Workers, NoTwoPartsAtOnceHaveTheSameWorker) {
  Workers workers(3);
  std::atomic<int> inside[3] = {};
  std::atomic<bool> clash{false};
  for (int run = 0; run < 200; ++run) {
    workers.Run(20, [&](std::size_t, std::size_t worker) {
      if (inside[worker].fetch_add(1) != 0) clash = true;
      inside[worker].fetch_sub(1);
    });
  }
  EXPECT_FALSE(clash);
}

TEST(Workers, OneKeepsToTheCaller) {
  Workers workers(2);
  EXPECT_EQ(workers.use(), Workers::Use::kAll);
  workers.use(Workers::Use::kOne);
  std::vector<std::size_t> parts;
  workers.Run(30, [&](std::size_t part, std::size_t worker) {
    EXPECT_EQ(worker, 0u);
    parts.push_back(part);
  });
  EXPECT_EQ(parts.size(), 30u);
  EXPECT_EQ(workers.width(), 2u) << "scratch stays as large as it was";
}

// What one thread flushes to zero, all do: else the bits of a step would depend on who did a part.
TEST(Workers, FollowTheCallersTreatmentOfDenormals) {
  Workers workers(3);
  for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
    const tensor::FlushDenormals guard(numerics);
    std::vector<float> halves(2000);
    workers.Run(halves.size(), [&](std::size_t part) {
      volatile float denormal = 1e-39f;
      halves[part] = denormal * 0.5f;
    });
    const std::uint32_t wanted = numerics == tensor::Numerics::kFast ? 0 : 0x000571cc;
    for (const float half : halves) ASSERT_EQ(std::bit_cast<std::uint32_t>(half), wanted);
  }
}

TEST(Workers, EndWhileAsleepOrJustStarted) {
  for (int i = 0; i < 50; ++i) Workers workers(3);
  Workers workers(3);
  workers.Run(3, [](std::size_t) {});
}

TEST(WorkersDeathTest, NumberOfThreadsIsLimited) {
  EXPECT_DEATH(Workers(0), "check failed");
  EXPECT_DEATH(Workers(Workers::kMost + 1), "check failed");
}

// The claim of tensor/small_mlp.h, on real threads.
TEST(Workers, GiveTheSameBitsAsOneThread) {
  const tensor::SmallMlpShape shape{
      .inputs = 5, .layers = {{.units = 20, .curve = tensor::Curve::kTanh}, {.units = 2}}};
  std::vector<float> values(3000 * 5), targets(3000 * 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 17;
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<float>(i % 7) / 7;
  const tensor::SampleSet set{.values = values.data(), .targets = targets.data(), .count = 3000};
  std::vector<std::vector<float>> gradients;
  for (const std::size_t threads : {1u, 2u, 7u}) {
    Workers workers(threads);
    tensor::SmallMlp mlp(shape, threads);
    std::vector<float> x(mlp.parameters(), 0.1f);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) / 13 - 0.5f;
    gradients.emplace_back(x.size());
    mlp.Gradient(x, set, workers, gradients.back());
    EXPECT_EQ(gradients.back(), gradients.front()) << threads;
  }
}

}  // namespace
}  // namespace covey::gradient::workers_test
