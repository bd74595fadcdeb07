#include "tensor/conv_geometry.h"

#include <algorithm>
#include <cstring>

#include "covey/base/check.h"

namespace covey::tensor {
namespace {

void PadOne(std::size_t in, std::size_t kernel, std::size_t stride, std::size_t& before,
            std::size_t& after) {
  const std::size_t reach = ((in + stride - 1) / stride - 1) * stride + kernel;
  const std::size_t total = reach > in ? reach - in : 0;
  before = total / 2;
  after = total - before;
}

}  // namespace

void PadSame(ConvShape& shape) {
  PadOne(shape.height, shape.kernel_height, shape.stride_height, shape.pad_top, shape.pad_bottom);
  PadOne(shape.width, shape.kernel_width, shape.stride_width, shape.pad_left, shape.pad_right);
}

ConvGeometry::ConvGeometry(const ConvShape& shape)
    : row((shape.pad_left + shape.width + shape.pad_right) * shape.channels),
      image((shape.pad_top + shape.height + shape.pad_bottom) * row),
      padded(shape.pad_top + shape.pad_bottom + shape.pad_left + shape.pad_right > 0),
      kernel_rows(shape.kernel_height),
      depth(shape.kernel_width * shape.channels),
      depth_lanes(ConvRound(depth)),
      filters(shape.filters),
      filter_lanes(ConvRound(shape.filters)),
      step_row(shape.stride_height * row),
      step_column(shape.stride_width * shape.channels),
      out_height(shape.out_height()),
      out_width(shape.out_width()) {}

ConvScratch::ConvScratch(const ConvShape& shape) {
  const ConvGeometry geometry(shape);
  // Kernels may read, and in gradients write, one vector past the end of the image.
  const std::size_t image_size = ConvRound(geometry.image) + kConvLanes;
  image = 0;
  gradient = image_size;
  work = 2 * image_size;
  // Pooled: an offset and a value for each position of each filter. General: the products of one
  // row of positions.
  const std::size_t lists = 2 * ConvRound(shape.pooled_height() * shape.pooled_width()) *
                            std::min(shape.filters, kListedFilters);
  const std::size_t products = geometry.out_width * geometry.kernel_rows * geometry.depth_lanes;
  size = work + std::max(lists, products);
}

std::size_t PackedConvSize(const ConvShape& shape) {
  const ConvGeometry geometry(shape);
  return geometry.forward_size() + geometry.by_filter_size();
}

std::size_t ConvScratchSize(const ConvShape& shape) { return ConvScratch(shape).size; }

std::size_t ConvGradientSize(const ConvShape& shape) {
  const ConvGeometry geometry(shape);
  return geometry.by_filter_size() + geometry.filter_lanes;
}

void PackConvWeights(const ConvShape& shape, const float* weights, float* packed) {
  const ConvGeometry geometry(shape);
  const std::size_t taps = geometry.kernel_rows * geometry.depth;
  for (std::size_t t = 0; t < taps; ++t) {
    float* to = packed + t * geometry.filter_lanes;
    for (std::size_t f = 0; f < geometry.filters; ++f) to[f] = weights[f * taps + t];
    std::fill(to + geometry.filters, to + geometry.filter_lanes, 0.0f);
  }
  float* by_filter = packed + geometry.forward_size();
  for (std::size_t r = 0; r < geometry.filters * geometry.kernel_rows; ++r) {
    float* to = by_filter + r * geometry.depth_lanes;
    std::copy_n(weights + r * geometry.depth, geometry.depth, to);
    std::fill(to + geometry.depth, to + geometry.depth_lanes, 0.0f);
  }
}

void AddConvGradients(const ConvShape& shape, std::size_t parts, const float* sums, float* weights,
                      float* bias) {
  COVEY_CHECK(parts > 0, parts);
  const ConvGeometry geometry(shape);
  const std::size_t part_size = ConvGradientSize(shape);
  const float* part_bias = sums + geometry.by_filter_size();
  std::copy_n(part_bias, geometry.filters, bias);
  for (std::size_t r = 0; r < geometry.filters * geometry.kernel_rows; ++r) {
    std::copy_n(sums + r * geometry.depth_lanes, geometry.depth, weights + r * geometry.depth);
  }
  for (std::size_t part = 1; part < parts; ++part) {
    const float* from = sums + part * part_size;
    for (std::size_t r = 0; r < geometry.filters * geometry.kernel_rows; ++r) {
      float* to = weights + r * geometry.depth;
      const float* addend = from + r * geometry.depth_lanes;
      for (std::size_t k = 0; k < geometry.depth; ++k) to[k] += addend[k];
    }
    for (std::size_t f = 0; f < geometry.filters; ++f) {
      bias[f] += from[geometry.by_filter_size() + f];
    }
  }
}

const float* PadImage(const ConvShape& shape, const float* image, float* padded) {
  const ConvGeometry geometry(shape);
  if (!geometry.padded) return image;
  const std::size_t inner = shape.width * shape.channels;
  const std::size_t left = shape.pad_left * shape.channels;
  std::memset(padded, 0, geometry.image * sizeof(float));
  for (std::size_t y = 0; y < shape.height; ++y) {
    std::memcpy(padded + (shape.pad_top + y) * geometry.row + left, image + y * inner,
                inner * sizeof(float));
  }
  return padded;
}

void CropImage(const ConvShape& shape, const float* padded, float* image) {
  const ConvGeometry geometry(shape);
  const std::size_t inner = shape.width * shape.channels;
  const std::size_t left = shape.pad_left * shape.channels;
  for (std::size_t y = 0; y < shape.height; ++y) {
    std::memcpy(image + y * inner, padded + (shape.pad_top + y) * geometry.row + left,
                inner * sizeof(float));
  }
}

}  // namespace covey::tensor
