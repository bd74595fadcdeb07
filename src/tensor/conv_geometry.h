// Sizes and strides that the convolution kernels share, and the copies around them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/conv.h"

namespace covey::tensor {

// Rows of packed weights are multiples of this many floats: one vector of the widest level.
inline constexpr std::size_t kConvLanes = 16;

// Filters whose positions are listed at once when gradients go back through pooling.
inline constexpr std::size_t kListedFilters = 64;

constexpr std::size_t ConvRound(std::size_t n) {
  return (n + kConvLanes - 1) / kConvLanes * kConvLanes;
}

// The padded image and the packed weights. A kernel row covers `depth` floats that lie one behind
// the other in a row of the image.
struct ConvGeometry {
  explicit ConvGeometry(const ConvShape& shape);

  std::size_t row;          // floats of a row of the padded image
  std::size_t image;        // floats of the padded image
  bool padded;              // whether it differs from the image
  std::size_t kernel_rows;  // kernel height
  std::size_t depth;        // kernel width * channels
  std::size_t depth_lanes;  // depth, rounded up to kConvLanes
  std::size_t filters;
  std::size_t filter_lanes;  // filters, rounded up to kConvLanes
  std::size_t step_row;      // floats between positions of neighbouring output rows
  std::size_t step_column;   // floats between neighbouring positions of one output row
  std::size_t out_height;
  std::size_t out_width;

  // Packed weights: forward [kernel_rows * depth][filter_lanes], then by filter
  // [filters][kernel_rows][depth_lanes]; zeros where rounded up.
  std::size_t forward_size() const { return kernel_rows * depth * filter_lanes; }
  std::size_t by_filter_size() const { return filters * kernel_rows * depth_lanes; }
};

// Parts of the scratch memory, in floats from its start.
struct ConvScratch {
  explicit ConvScratch(const ConvShape& shape);

  std::size_t image;     // padded image
  std::size_t gradient;  // gradient of the padded image
  std::size_t work;      // what one kernel alone needs
  std::size_t size;
};

// Returns: where the padded image stands, `image` itself when there is no padding.
const float* PadImage(const ConvShape& shape, const float* image, float* padded);

// The inverse, for gradients: copies the inner part of `padded` to `image`.
void CropImage(const ConvShape& shape, const float* padded, float* image);

}  // namespace covey::tensor
