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
  // Requires: `owner` keeps rows and answers alive; sizes agree; every label < classes.
  struct Parts {
    std::shared_ptr<const void> owner;
    std::size_t samples = 0;
    tensor::Element element = tensor::Element::kUint8;
    const std::uint8_t* rows = nullptr;
    std::span<const std::uint8_t> labels;
    std::uint32_t classes = 0;
    const float* targets = nullptr;
    std::size_t outputs = 0;  // targets a sample
    std::vector<std::size_t> shape;
    Normalize normalize = Normalize::kUnit;
    float scale = 1;
    std::span<const std::uint32_t> keys = {};
    std::vector<std::string> feature_names = {};
    LabelNames label_names = {};
  };
  static Dataset Build(Parts parts);
};

}  // namespace covey::data
