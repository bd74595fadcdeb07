// Gradients of the pooled convolution: each filter's positions that passed are listed, and only
// their patches of the image are touched.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "covey/tensor/conv.h"
#include "tensor/conv_geometry.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/conv_pool_backward.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/numerics-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Registers for the sums of one filter's weights, beside an operand or two.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kWeightSums = 24;
#else
constexpr std::size_t kWeightSums = 12;
#endif

// Positions through which one filter's gradient flows.
struct FilterDelta {
  const std::uint32_t* offset;  // of the patch in the padded image
  const float* delta;
  std::size_t count;
};

// One filter against one image.
struct Filter {
  FilterDelta positions;
  std::size_t row;  // floats between rows of the image
  std::size_t kernel_rows;
  std::size_t depth_lanes;
  std::size_t vectors;   // that cover a row of the kernel
  const float* weights;  // [kernel_rows][depth_lanes]
};

// sums[a][k] += sum over positions of delta * image[offset + a row + k], for R rows and V vectors.
// Neighbouring positions go to two sets of sums, which are added at the end: the additions of one
// set would wait for each other.
template <class N, std::size_t R, std::size_t V>
HWY_INLINE void WeightTile(const Filter& f, const float* image, float* sums) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  VF even[R * V];
  VF odd[R * V];
#pragma GCC unroll 32
  for (std::size_t i = 0; i < R * V; ++i) even[i] = odd[i] = hn::Zero(df);
  const auto add = [&](std::size_t i, VF* HWY_RESTRICT to) HWY_ATTR {
    const VF delta = hn::Set(df, f.positions.delta[i]);
    const float* HWY_RESTRICT patch = image + f.positions.offset[i];
#pragma GCC unroll 32
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 32
      for (std::size_t v = 0; v < V; ++v) {
        VF& sum = to[r * V + v];
        sum = N::MulAdd(delta, hn::LoadU(df, patch + r * f.row + v * lanes), sum);
      }
    }
  };
  std::size_t i = 0;
  for (; i + 2 <= f.positions.count; i += 2) {
    add(i, even);
    add(i + 1, odd);
  }
  if (i < f.positions.count) add(i, even);
#pragma GCC unroll 32
  for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 32
    for (std::size_t v = 0; v < V; ++v) {
      float* to = sums + r * f.depth_lanes + v * lanes;
      hn::Store(hn::Add(hn::Load(df, to), hn::Add(even[r * V + v], odd[r * V + v])), df, to);
    }
  }
}

template <class N, std::size_t R, std::size_t V>
HWY_NOINLINE void WeightRows(const Filter& f, const float* image, float* sums) {
  const std::size_t lanes = hn::Lanes(DF());
  for (std::size_t r = 0; r < f.kernel_rows; r += R) {
    for (std::size_t v = 0; v < f.vectors; v += V) {
      WeightTile<N, R, V>(f, image + r * f.row + v * lanes, sums + r * f.depth_lanes + v * lanes);
    }
  }
}

// The tiling is free: it does not change the order of any sum.
template <class N>
HWY_INLINE void WeightGradient(const Filter& f, const float* image, float* sums) {
  const bool threes = f.kernel_rows % 3 == 0;
  if (2 * 9 <= kWeightSums && threes && f.vectors % 3 == 0)
    return WeightRows<N, 3, 3>(f, image, sums);
  if (threes && f.vectors % 2 == 0) return WeightRows<N, 3, 2>(f, image, sums);
  if (f.vectors % 6 == 0) return WeightRows<N, 1, 6>(f, image, sums);
  if (threes && f.vectors == 1) return WeightRows<N, 3, 1>(f, image, sums);
  if (f.vectors % 3 == 0) return WeightRows<N, 1, 3>(f, image, sums);
  if (f.vectors % 2 == 0) return WeightRows<N, 1, 2>(f, image, sums);
  return WeightRows<N, 1, 1>(f, image, sums);
}

// gradient[offset + k] += delta * weights[k] over one row of the kernel, position by position: so
// each element of the gradient gets its terms in the same order, however wide a vector is.
// V: vectors of the row, or 0 when there are more than fit into registers.
template <class N, std::size_t V>
HWY_NOINLINE void InputRow(const Filter& f, const float* weights, float* gradient) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  VF weight[V != 0 ? V : 1];
  if constexpr (V != 0) {
#pragma GCC unroll 32
    for (std::size_t v = 0; v < V; ++v) weight[v] = hn::Load(df, weights + v * lanes);
  }
  for (std::size_t i = 0; i < f.positions.count; ++i) {
    const VF delta = hn::Set(df, f.positions.delta[i]);
    float* HWY_RESTRICT patch = gradient + f.positions.offset[i];
    if constexpr (V != 0) {
#pragma GCC unroll 32
      for (std::size_t v = 0; v < V; ++v) {
        float* to = patch + v * lanes;
        hn::StoreU(N::MulAdd(delta, weight[v], hn::LoadU(df, to)), df, to);
      }
    } else {
      for (std::size_t v = 0; v < f.vectors; ++v) {
        float* to = patch + v * lanes;
        hn::StoreU(N::MulAdd(delta, hn::Load(df, weights + v * lanes), hn::LoadU(df, to)), df, to);
      }
    }
  }
}

template <class N>
HWY_INLINE void InputGradient(const Filter& f, float* gradient) {
  for (std::size_t r = 0; r < f.kernel_rows; ++r) {
    const float* weights = f.weights + r * f.depth_lanes;
    float* to = gradient + r * f.row;
    switch (f.vectors) {
      case 1:
        InputRow<N, 1>(f, weights, to);
        break;
      case 2:
        InputRow<N, 2>(f, weights, to);
        break;
      case 3:
        InputRow<N, 3>(f, weights, to);
        break;
      case 6:
        InputRow<N, 6>(f, weights, to);
        break;
      case 12:
        InputRow<N, 12>(f, weights, to);
        break;
      default:
        InputRow<N, 0>(f, weights, to);
    }
  }
}

// Lists of positions by filter, `capacity` entries apart.
struct Lists {
  std::uint32_t* offset;
  float* delta;
  std::uint32_t* count;
  std::size_t capacity;
};

// Fills the lists of filters [first, first + count) with the windows that let something pass.
HWY_INLINE void ListPositions(const ConvShape& shape, const ConvGeometry& g, std::size_t first,
                              std::size_t count, const float* delta, const std::uint8_t* choice,
                              const Lists& lists) {
  const std::uint32_t row = static_cast<std::uint32_t>(g.step_row);
  const std::uint32_t column = static_cast<std::uint32_t>(g.step_column);
  const std::uint32_t steps[kNoChoice + 1] = {0, column, row, row + column, 0};
  std::fill_n(lists.count, count, 0u);
  for (std::size_t py = 0; py < shape.pooled_height(); ++py) {
    for (std::size_t px = 0; px < shape.pooled_width(); ++px) {
      const std::uint32_t window =
          static_cast<std::uint32_t>(2 * (py * g.step_row + px * g.step_column));
      const std::size_t at = (py * shape.pooled_width() + px) * g.filters + first;
      for (std::size_t f = 0; f < count; ++f) {
        // Written always, counted only where something passed: a branch would be guessed wrong.
        const std::uint8_t chosen = choice[at + f];
        const std::size_t slot = f * lists.capacity + lists.count[f];
        lists.offset[slot] = window + steps[chosen];
        lists.delta[slot] = delta[at + f];
        lists.count[f] += chosen < kNoChoice ? 1u : 0u;
      }
    }
  }
}

template <class N>
void BackwardSample(const ConvShape& shape, const ConvGeometry& g, const float* image,
                    const float* by_filter, const float* delta, const std::uint8_t* choice,
                    float* work, float* sums, float* gradient) {
  const std::size_t lanes = hn::Lanes(DF());
  const std::size_t capacity = ConvRound(shape.pooled_height() * shape.pooled_width());
  std::uint32_t counts[kListedFilters];
  const Lists lists{.offset = reinterpret_cast<std::uint32_t*>(work),
                    .delta = work + capacity * std::min(kListedFilters, g.filters),
                    .count = counts,
                    .capacity = capacity};
  float* bias = sums + g.by_filter_size();
  for (std::size_t first = 0; first < g.filters; first += kListedFilters) {
    const std::size_t count = std::min(kListedFilters, g.filters - first);
    ListPositions(shape, g, first, count, delta, choice, lists);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t weights = (first + i) * g.kernel_rows * g.depth_lanes;
      const Filter filter{
          .positions = {lists.offset + i * capacity, lists.delta + i * capacity, counts[i]},
          .row = g.row,
          .kernel_rows = g.kernel_rows,
          .depth_lanes = g.depth_lanes,
          .vectors = (g.depth + lanes - 1) / lanes,
          .weights = by_filter + weights};
      float total = 0;
      for (std::size_t p = 0; p < counts[i]; ++p) total += filter.positions.delta[p];
      bias[first + i] += total;
      WeightGradient<N>(filter, image, sums + weights);
      if (gradient != nullptr) InputGradient<N>(filter, gradient);
    }
  }
}

void PoolBackward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                  const float* packed, const float* delta, const std::uint8_t* choice,
                  float* scratch, float* sums, float* input_gradient) {
  const ConvGeometry geometry(shape);
  const ConvScratch parts(shape);
  const std::size_t in_stride = SampleStride(shape.features());
  const std::size_t out_stride = SampleStride(shape.pooled());
  float* gradient = input_gradient != nullptr ? scratch + parts.gradient : nullptr;
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    for (std::size_t n = 0; n < input.samples; ++n) {
      const float* image = PadImage(shape, input.images + n * in_stride, scratch + parts.image);
      if (gradient != nullptr) {
        std::memset(gradient, 0, (parts.work - parts.gradient) * sizeof(float));
      }
      BackwardSample<decltype(policy)>(shape, geometry, image, packed + geometry.forward_size(),
                                       delta + n * out_stride, choice + n * out_stride,
                                       scratch + parts.work, sums, gradient);
      if (gradient != nullptr) CropImage(shape, gradient, input_gradient + n * in_stride);
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(PoolBackward);

void ConvPoolBackward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                      const float* packed, const float* delta, const std::uint8_t* choice,
                      float* scratch, float* sums, float* input_gradient) {
  HWY_DYNAMIC_DISPATCH(PoolBackward)
  (numerics, shape, input, packed, delta, choice, scratch, sums, input_gradient);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
