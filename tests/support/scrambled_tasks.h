// Parts in a drawn order on drawn workers, all on the calling thread: what threads may do at worst
// to a computation that depends on either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/tasks.h"

namespace covey::test {

class ScrambledTasks final : public tensor::Tasks {
 public:
  ScrambledTasks(std::size_t width, std::uint64_t seed)
      : width_(width), stream_(seed, 0, Purpose::kTest) {}

  std::size_t width() const override { return width_; }

  void Run(std::size_t count, tensor::Task task) override {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(stream_.Below(i))]);
    }
    for (const std::size_t part : order) {
      task(part, static_cast<std::size_t>(stream_.Below(width_)));
    }
  }

 private:
  std::size_t width_;
  Stream stream_;
};

}  // namespace covey::test
