// Convolution, bias, ReLU and 2 x 2 max pooling in registers, with the filters in lanes.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "covey/tensor/conv.h"
#include "tensor/conv_geometry.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/conv_pool_forward.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/lanes-inl.h"
#include "tensor/numerics-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DI = hn::RebindToSigned<DF>;
using VI = hn::Vec<DI>;

// Pooling windows that are worked on at once, 4 sums each, for one vector of filters and for two.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kWindowsOne = 5;
constexpr std::size_t kWindowsTwo = 3;
#else
constexpr std::size_t kWindowsOne = 2;
constexpr std::size_t kWindowsTwo = 1;
#endif

// One row of pooling windows and a block of filters.
struct PoolRow {
  const float* in;    // the upper position of window 0
  std::size_t row;    // floats between rows of the image
  std::size_t lower;  // floats to the lower position of a window
  std::size_t step;   // floats to the next position on the right
  std::size_t kernel_rows;
  std::size_t depth;
  const float* weights;  // [kernel_rows * depth][filter_lanes], first filter of the block
  std::size_t filter_lanes;
  const float* bias;  // as many as the block has lanes
  float* out;         // window 0, first filter of the block
  std::uint8_t* choice;
  std::size_t filters;  // floats to the next window
  std::size_t valid;    // filters of the block that exist
};

struct Passed {
  VF value;
  VI position;
};

// The greatest of four, where it is above zero.
HWY_INLINE Passed Pick(VF a0, VF a1, VF a2, VF a3) {
  const DF df;
  const DI di;
  const auto above1 = hn::Gt(a1, a0);
  const auto above3 = hn::Gt(a3, a2);
  const VF upper = hn::IfThenElse(above1, a1, a0);
  const VF lower = hn::IfThenElse(above3, a3, a2);
  const VI at_upper = hn::IfThenElseZero(hn::RebindMask(di, above1), hn::Set(di, 1));
  const VI at_lower = hn::IfThenElse(hn::RebindMask(di, above3), hn::Set(di, 3), hn::Set(di, 2));
  const auto below = hn::Gt(lower, upper);
  const VF value = hn::IfThenElse(below, lower, upper);
  const VI position = hn::IfThenElse(hn::RebindMask(di, below), at_lower, at_upper);
  const auto positive = hn::Gt(value, hn::Zero(df));
  return {hn::IfThenElseZero(positive, value),
          hn::IfThenElse(hn::RebindMask(di, positive), position, hn::Set(di, kNoChoice))};
}

// The same when one of them is not a number: such a lane gets the first that isn't.
HWY_NOINLINE Passed PickWithNaN(const VF* sums) {
  const DI di;
  Passed passed = Pick(sums[0], sums[1], sums[2], sums[3]);
  for (int i = 3; i >= 0; --i) {
    const auto nan = hn::IsNaN(sums[i]);
    passed.value = hn::IfThenElse(nan, sums[i], passed.value);
    passed.position = hn::IfThenElse(hn::RebindMask(di, nan), hn::Set(di, i), passed.position);
  }
  return passed;
}

template <class V>
HWY_INLINE void StorePart(const V& passed, std::size_t count, float* out, std::uint8_t* choice) {
  const DF df;
  const DI di;
  const hn::Rebind<std::uint8_t, DF> db;
  const std::size_t lanes = hn::Lanes(df);
  if (count >= lanes) {
    hn::StoreU(passed.value, df, out);
    hn::StoreU(hn::DemoteTo(db, passed.position), db, choice);
    return;
  }
  HWY_ALIGN float values[kMaxLanes];
  HWY_ALIGN std::int32_t positions[kMaxLanes];
  hn::Store(passed.value, df, values);
  hn::Store(passed.position, di, positions);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = values[i];
    choice[i] = static_cast<std::uint8_t>(positions[i]);
  }
}

// W windows from `px` on and V vectors of filters. S: step, where it is known at compile time.
template <class N, std::size_t W, std::size_t V, std::size_t S>
HWY_INLINE void PoolTile(const PoolRow& r, std::size_t px) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t step = S != 0 ? S : r.step;
  VF sums[W * V][4];
#pragma GCC unroll 16
  for (std::size_t v = 0; v < V; ++v) {
    const VF bias = hn::LoadU(df, r.bias + v * lanes);
#pragma GCC unroll 16
    for (std::size_t w = 0; w < W; ++w) {
      for (std::size_t i = 0; i < 4; ++i) sums[w * V + v][i] = bias;
    }
  }
  const float* HWY_RESTRICT weights = r.weights;
  const float* upper = r.in + 2 * px * step;
  for (std::size_t a = 0; a < r.kernel_rows; ++a) {
    const float* HWY_RESTRICT x0 = upper;
    const float* HWY_RESTRICT x1 = upper + r.lower;
    for (std::size_t k = 0; k < r.depth; ++k) {
      VF weight[V];
#pragma GCC unroll 16
      for (std::size_t v = 0; v < V; ++v) weight[v] = hn::LoadU(df, weights + v * lanes);
#pragma GCC unroll 16
      for (std::size_t w = 0; w < W; ++w) {
        const VF in0 = hn::Set(df, x0[2 * w * step]);
        const VF in1 = hn::Set(df, x0[(2 * w + 1) * step]);
        const VF in2 = hn::Set(df, x1[2 * w * step]);
        const VF in3 = hn::Set(df, x1[(2 * w + 1) * step]);
#pragma GCC unroll 16
        for (std::size_t v = 0; v < V; ++v) {
          VF* HWY_RESTRICT sum = sums[w * V + v];
          sum[0] = N::MulAdd(in0, weight[v], sum[0]);
          sum[1] = N::MulAdd(in1, weight[v], sum[1]);
          sum[2] = N::MulAdd(in2, weight[v], sum[2]);
          sum[3] = N::MulAdd(in3, weight[v], sum[3]);
        }
      }
      ++x0;
      ++x1;
      weights += r.filter_lanes;
    }
    upper += r.row;
  }
#pragma GCC unroll 16
  for (std::size_t w = 0; w < W; ++w) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < V; ++v) {
      const VF* sum = sums[w * V + v];
      const std::size_t at = (px + w) * r.filters + v * lanes;
      // Not a number if one of the four isn't (or for infinities of both signs, which cost time
      // only).
      const VF all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
      const std::size_t count = r.valid - std::min(r.valid, v * lanes);
      if (HWY_LIKELY(hn::AllFalse(df, hn::IsNaN(all)))) {
        StorePart(Pick(sum[0], sum[1], sum[2], sum[3]), count, r.out + at, r.choice + at);
      } else {
        StorePart(PickWithNaN(sum), count, r.out + at, r.choice + at);
      }
    }
  }
}

template <class N, std::size_t W, std::size_t V, std::size_t S>
HWY_NOINLINE void PoolWindows(const PoolRow& r, std::size_t windows) {
  std::size_t px = 0;
  for (; px + W <= windows; px += W) PoolTile<N, W, V, S>(r, px);
  for (; px < windows; ++px) PoolTile<N, 1, V, S>(r, px);
}

template <class N, std::size_t S>
void PoolSample(const ConvShape& shape, const ConvGeometry& g, const float* image,
                const float* packed, const float* bias, float* out, std::uint8_t* choice) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  for (std::size_t f = 0; f < g.filters;) {
    HWY_ALIGN float block_bias[2 * kMaxLanes] = {};
    const std::size_t valid = std::min(2 * lanes, g.filters - f);
    std::memcpy(block_bias, bias + f, valid * sizeof(float));
    PoolRow row{.in = image,
                .row = g.row,
                .lower = g.step_row,
                .step = g.step_column,
                .kernel_rows = g.kernel_rows,
                .depth = g.depth,
                .weights = packed + f,
                .filter_lanes = g.filter_lanes,
                .bias = block_bias,
                .out = out + f,
                .choice = choice + f,
                .filters = g.filters,
                .valid = valid};
    for (std::size_t py = 0; py < shape.pooled_height(); ++py) {
      if (valid > lanes) {
        PoolWindows<N, kWindowsTwo, 2, S>(row, shape.pooled_width());
      } else {
        PoolWindows<N, kWindowsOne, 1, S>(row, shape.pooled_width());
      }
      row.in += 2 * g.step_row;
      row.out += shape.pooled_width() * g.filters;
      row.choice += shape.pooled_width() * g.filters;
    }
    f += valid;
  }
}

void PoolForward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                 const float* packed, const float* bias, float* scratch, float* output,
                 std::uint8_t* choice) {
  const ConvGeometry geometry(shape);
  const ConvScratch parts(shape);
  const std::size_t in_stride = SampleStride(shape.features());
  const std::size_t out_stride = SampleStride(shape.pooled());
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    using N = decltype(policy);
    for (std::size_t n = 0; n < input.samples; ++n) {
      const float* image = PadImage(shape, input.images + n * in_stride, scratch + parts.image);
      float* out = output + n * out_stride;
      std::uint8_t* chosen = choice + n * out_stride;
      if (geometry.step_column == 3) {
        PoolSample<N, 3>(shape, geometry, image, packed, bias, out, chosen);
      } else if (geometry.step_column == 16) {
        PoolSample<N, 16>(shape, geometry, image, packed, bias, out, chosen);
      } else {
        PoolSample<N, 0>(shape, geometry, image, packed, bias, out, chosen);
      }
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(PoolForward);

void ConvPoolForward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                     const float* packed, const float* bias, float* scratch, float* output,
                     std::uint8_t* choice) {
  HWY_DYNAMIC_DISPATCH(PoolForward)
  (numerics, shape, input, packed, bias, scratch, output, choice);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
