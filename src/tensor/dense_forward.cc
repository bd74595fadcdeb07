// Forward pass and gradient of the input: both are sums over rows or columns of the weights with
// the batch in lanes.
#include <algorithm>
#include <cstdint>

#include "covey/base/check.h"
#include "covey/tensor/dense.h"
#include "tensor/dense_limits.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/dense_forward.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "hwy/cache_control.h"
#include "tensor/pack-inl.h"
#include "tensor/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// 32 registers hold 12 x 2 sums beside their operands, 16 registers 6 x 2.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kTileRows = 12;
#else
constexpr std::size_t kTileRows = 6;
#endif
constexpr std::size_t kTileVectors = 2;

// Sums for one panel of samples: rows of `w` against [depth][columns of x].
struct Sum {
  const float* w;  // w[r * row + k * column]
  std::size_t row;
  std::size_t column;
  std::size_t depth;
  const float* x;  // x[k * x_stride + b]
  std::size_t x_stride;
  float* out;  // out[r * out_stride + b]
  std::size_t out_stride;
};

enum class Begin { kZero, kBias, kResume };
enum class End { kNone, kRelu, kMask };

struct Edges {
  Begin begin = Begin::kZero;
  End end = End::kNone;
  const float* bias = nullptr;  // kBias
  const float* mask = nullptr;  // kMask: same place and stride as out
};

template <class N, std::size_t R, std::size_t C>
HWY_INLINE void SumTile(const Sum& sum, const Edges& edges, std::size_t r0, std::size_t b0) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  float* HWY_RESTRICT out = sum.out + r0 * sum.out_stride + b0;
  Tile<R, C> tile;
  tile.Clear();
  if (edges.begin == Begin::kBias) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) tile.acc[r][c] = hn::Set(df, edges.bias[r0 + r]);
    }
  } else if (edges.begin == Begin::kResume) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) {
        tile.acc[r][c] = hn::Load(df, out + r * sum.out_stride + c * lanes);
      }
    }
  }
  tile.template Accumulate<N>(sum.w + r0 * sum.row, sum.row, sum.column, sum.x + b0, sum.x_stride,
                              sum.depth);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) {
      const std::size_t at = r * sum.out_stride + c * lanes;
      VF value = tile.acc[r][c];
      if (edges.end == End::kRelu) {
        // max(NaN, 0) is 0 on some machines: a NaN must reach the loss, which is what stops a bad
        // step.
        value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(df)), value);
      } else if (edges.end == End::kMask) {
        const VF activation = hn::Load(df, edges.mask + (r0 * sum.out_stride + b0) + at);
        value = hn::IfThenElseZero(hn::Gt(activation, hn::Zero(df)), value);
      }
      hn::Store(value, df, out + at);
    }
  }
}

template <class N, std::size_t C>
HWY_INLINE void SumRows(const Sum& sum, const Edges& edges, std::size_t rows, std::size_t b0) {
  std::size_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows) SumTile<N, kTileRows, C>(sum, edges, r, b0);
  for (; r + 4 <= rows; r += 4) SumTile<N, 4, C>(sum, edges, r, b0);
  for (; r + 2 <= rows; r += 2) SumTile<N, 2, C>(sum, edges, r, b0);
  for (; r < rows; ++r) SumTile<N, 1, C>(sum, edges, r, b0);
}

template <class N>
HWY_INLINE void SumPanel(const Sum& sum, const Edges& edges, std::size_t rows,
                         std::size_t columns) {
  const std::size_t lanes = hn::Lanes(DF());
  std::size_t b = 0;
  for (; b + kTileVectors * lanes <= columns; b += kTileVectors * lanes) {
    SumRows<N, kTileVectors>(sum, edges, rows, b);
  }
  for (; b < columns; b += lanes) SumRows<N, 1>(sum, edges, rows, b);
}

HWY_INLINE void PrefetchRows(const RowInput& input, std::size_t from, std::size_t count,
                             std::size_t begin, std::size_t end) {
  const std::size_t size = BytesOf(input.element);
  for (std::size_t b = from; b < from + count; ++b) {
    for (std::size_t at = begin * size; at < end * size; at += kCacheLine) {
      hwy::Prefetch(input.rows[b] + at);
    }
  }
}

HWY_INLINE std::size_t WeightStride(const DenseShape& shape) {
  return shape.weight_stride != 0 ? shape.weight_stride : shape.inputs;
}

template <class N>
void ForwardWith(const DenseShape& shape, const DenseInput& input, const float* weights,
                 const float* bias, Epilogue epilogue, float* scratch, float* output) {
  const std::size_t padded = PaddedBatch(shape.batch);
  const End end = epilogue == Epilogue::kRelu ? End::kRelu : End::kNone;
  for (std::size_t b = 0; b < padded; b += kPanelSamples) {
    const std::size_t columns = std::min(kPanelSamples, padded - b);
    for (std::size_t k = 0; k < shape.inputs; k += kPanelFeatures) {
      const std::size_t depth = std::min(kPanelFeatures, shape.inputs - k);
      Sum sum{.w = weights + k,
              .row = WeightStride(shape),
              .column = 1,
              .depth = depth,
              .x = scratch,
              .x_stride = columns,
              .out = output + b,
              .out_stride = padded};
      if (input.activations != nullptr) {
        sum.x = input.activations + k * padded + b;
        sum.x_stride = padded;
      } else {
        PackRowsByFeature<N>(input.rows, b, k, depth, columns, scratch);
        // Rows lie all over the data set: the next block comes from memory while this one is used.
        PrefetchRows(input.rows, b, columns, k + depth,
                     std::min(k + depth + kPanelFeatures, shape.inputs));
      }
      const Edges edges{.begin = k == 0 ? Begin::kBias : Begin::kResume,
                        .end = k + depth == shape.inputs ? end : End::kNone,
                        .bias = bias};
      SumPanel<N>(sum, edges, shape.units, columns);
    }
  }
}

template <class N>
void BackwardWith(const DenseShape& shape, const float* weights, const float* delta,
                  const float* mask, float* out) {
  const std::size_t padded = PaddedBatch(shape.batch);
  for (std::size_t b = 0; b < padded; b += kPanelSamples) {
    const std::size_t columns = std::min(kPanelSamples, padded - b);
    const Sum sum{.w = weights,
                  .row = 1,
                  .column = WeightStride(shape),
                  .depth = shape.units,
                  .x = delta + b,
                  .x_stride = padded,
                  .out = out + b,
                  .out_stride = padded};
    const Edges edges{.begin = Begin::kZero,
                      .end = mask != nullptr ? End::kMask : End::kNone,
                      .mask = mask != nullptr ? mask + b : nullptr};
    SumPanel<N>(sum, edges, shape.inputs, columns);
  }
}

void Forward(const DenseShape& shape, const DenseInput& input, const float* weights,
             const float* bias, Epilogue epilogue, float* scratch, float* output) {
  WithNumerics(shape.numerics, [&](auto policy) HWY_ATTR {
    ForwardWith<decltype(policy)>(shape, input, weights, bias, epilogue, scratch, output);
  });
}

void Backward(const DenseShape& shape, const float* weights, const float* delta, const float* mask,
              float* out) {
  WithNumerics(shape.numerics, [&](auto policy) HWY_ATTR {
    BackwardWith<decltype(policy)>(shape, weights, delta, mask, out);
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void DenseForward(const DenseShape& shape, const DenseInput& input, const float* weights,
                  const float* bias, Epilogue epilogue, float* scratch, float* output) {
  COVEY_CHECK(input.activations != nullptr || input.rows.rows != nullptr);
  HWY_DYNAMIC_DISPATCH(Forward)(shape, input, weights, bias, epilogue, scratch, output);
}

void DenseBackward(const DenseShape& shape, const float* weights, const float* delta,
                   const float* mask, float* out) {
  HWY_DYNAMIC_DISPATCH(Backward)(shape, weights, delta, mask, out);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
