// The fast network on a drawn model and batch, and tasks that run parts in any
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "covey/base/random.h"
#include "covey/nn/network.h"
#include "covey/tensor/dropout.h"
#include "covey/tensor/tasks.h"
#include "support/drawn_model.h"

namespace covey::test {

// Runs the parts one after the other in a shuffled order, handing them to
// `width` workers in turn: every interleaving that threads could come to, but
// for those that tear a part apart.
class ShuffledTasks final : public tensor::Tasks {
 public:
  explicit ShuffledTasks(std::size_t width) : width_(width), stream_(width, 0, Purpose::kTest) {}

  std::size_t width() const override { return width_; }
  void Run(std::size_t count, tensor::Task task) override {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    stream_.Shuffle(std::span<std::size_t>(order));
    for (std::size_t i = 0; i < count; ++i) task(order[i], i % width_);
  }

 private:
  std::size_t width_;
  Stream stream_;
};

// A drawn batch as the network reads it: rows of floats.
class DrawnBatch {
 public:
  explicit DrawnBatch(const DrawnModel& drawn) : drawn_(drawn) {
    const std::size_t features = drawn.samples.size() / drawn.batch;
    for (std::size_t b = 0; b < tensor::PaddedBatch(drawn.batch); ++b) {
      const float* row = drawn.samples.data() + (b < drawn.batch ? b : 0) * features;
      rows_.push_back(reinterpret_cast<const std::uint8_t*>(row));
    }
    const std::size_t outputs = drawn.targets.size() / drawn.batch;
    for (std::size_t b = 0; outputs > 0 && b < drawn.batch; ++b) {
      targets_.push_back(drawn.targets.data() + b * outputs);
    }
  }

  nn::Batch View() const {
    return {.rows = {.rows = rows_.data(), .element = tensor::Element::kFloat32},
            .size = drawn_.batch,
            .labels = drawn_.labels,
            .targets = targets_.empty() ? nullptr : targets_.data(),
            .weights = drawn_.weights};
  }

 private:
  const DrawnModel& drawn_;
  std::vector<const std::uint8_t*> rows_;
  std::vector<const float*> targets_;
};

struct Dropped {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

// Tells the plain network what each dropout layer of the fast one multiplies
// by.
inline void DrawDropout(const nn::ModelSpec& spec, Dropped dropped, DrawnModel& drawn) {
  const std::vector<nn::LayerInfo> infos = *nn::Infer(spec);
  drawn.dropout.assign(spec.layers.size(), {});
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    const auto* dropout = std::get_if<nn::Dropout>(&spec.layers[l]);
    if (dropout == nullptr) continue;
    std::size_t values = drawn.batch;
    for (const std::size_t extent : infos[l].input) values *= extent;
    std::vector<float>& factors = drawn.dropout[l];
    factors.assign(values, 1.0f);
    const auto mask =
        tensor::MaskOf(dropout->rate, dropped.seed, static_cast<std::uint32_t>(l), dropped.step);
    tensor::ApplyDropout(mask, {.rows = 1, .columns = values}, factors.data(), factors.data());
  }
}

}  // namespace covey::test
