// How Dataset objects come to be.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "covey/data/dataset.h"

namespace covey::data {

class DatasetBuilder {
 public:
  // Requires: `owner` keeps rows and labels alive; sizes agree; every label < classes.
  struct Parts {
    std::shared_ptr<const void> owner;
    const std::uint8_t* rows = nullptr;
    std::span<const std::uint8_t> labels;
    std::vector<std::size_t> shape;
    std::uint32_t classes = 0;
    Normalize normalize = Normalize::kUnit;
  };
  static Dataset Build(Parts parts);
};

}  // namespace covey::data
