// The general convolution: the filters in lanes, positions of one output row broadcast.
#include <algorithm>
#include <cstring>

#include "covey/tensor/conv.h"
#include "tensor/conv_geometry.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/conv_forward.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/conv_tile-inl.h"
#include "tensor/lanes-inl.h"
#include "tensor/numerics-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A block of filters over one output row.
struct FilterBlock {
  const float* weights;  // [kernel_rows * depth][filter_lanes]
  const float* bias;     // as many as the block has lanes
  std::size_t valid;     // filters that exist
  bool relu;
};

template <class N, std::size_t R, std::size_t C>
HWY_INLINE void Positions(const ConvGeometry& g, const FilterBlock& block, const float* in,
                          float* out) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  ConvTile<N, R, C> tile;
#pragma GCC unroll 16
  for (std::size_t c = 0; c < C; ++c) {
    const VF bias = hn::Load(df, block.bias + c * lanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) tile.sums[r][c] = bias;
  }
  for (std::size_t a = 0; a < g.kernel_rows; ++a) {
    tile.Add({.w = in + a * g.row,
              .row = g.step_column,
              .column = 1,
              .x = block.weights + a * g.depth * g.filter_lanes,
              .stride = g.filter_lanes,
              .depth = g.depth});
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) {
      VF value = tile.sums[r][c];
      // Not max(value, 0): that is 0 for a NaN on some machines.
      if (block.relu) value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(df)), value);
      float* to = out + r * g.filters + c * lanes;
      if (block.valid >= (c + 1) * lanes) {
        hn::StoreU(value, df, to);
      } else if (block.valid > c * lanes) {
        HWY_ALIGN float part[kMaxLanes];
        hn::Store(value, df, part);
        std::memcpy(to, part, (block.valid - c * lanes) * sizeof(float));
      }
    }
  }
}

template <class N, std::size_t C>
HWY_NOINLINE void OutputRow(const ConvGeometry& g, const FilterBlock& block, const float* in,
                            float* out) {
  ForRows(g.out_width, [&](auto rows, std::size_t position) HWY_ATTR {
    Positions<N, decltype(rows)::value, C>(g, block, in + position * g.step_column,
                                           out + position * g.filters);
  });
}

template <class N>
void ForwardSample(const ConvGeometry& g, const float* image, const float* packed,
                   const float* bias, bool relu, float* out) {
  const std::size_t lanes = hn::Lanes(DF());
  for (std::size_t f = 0; f < g.filters; f += 2 * lanes) {
    HWY_ALIGN float block_bias[2 * kMaxLanes] = {};
    const FilterBlock block{.weights = packed + f,
                            .bias = block_bias,
                            .valid = std::min(2 * lanes, g.filters - f),
                            .relu = relu};
    std::memcpy(block_bias, bias + f, block.valid * sizeof(float));
    for (std::size_t y = 0; y < g.out_height; ++y) {
      const float* in = image + y * g.step_row;
      float* to = out + y * g.out_width * g.filters + f;
      if (block.valid > lanes) {
        OutputRow<N, 2>(g, block, in, to);
      } else {
        OutputRow<N, 1>(g, block, in, to);
      }
    }
  }
}

void ConvolveForward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                     const float* packed, const float* bias, Epilogue epilogue, float* scratch,
                     float* output) {
  const ConvGeometry geometry(shape);
  const ConvScratch parts(shape);
  const std::size_t in_stride = SampleStride(shape.features());
  const std::size_t out_stride = SampleStride(shape.outputs());
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    for (std::size_t n = 0; n < input.samples; ++n) {
      const float* image = PadImage(shape, input.images + n * in_stride, scratch + parts.image);
      ForwardSample<decltype(policy)>(geometry, image, packed, bias, epilogue == Epilogue::kRelu,
                                      output + n * out_stride);
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(ConvolveForward);

void ConvForward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                 const float* packed, const float* bias, Epilogue epilogue, float* scratch,
                 float* output) {
  HWY_DYNAMIC_DISPATCH(ConvolveForward)
  (numerics, shape, input, packed, bias, epilogue, scratch, output);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
