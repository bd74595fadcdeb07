// Gradients of the general convolution: that of the weights with the weights of a kernel row in
// lanes, that of the input as products for one output row, added to the image position by position.
#include <algorithm>
#include <cstring>

#include "covey/tensor/conv.h"
#include "tensor/conv_geometry.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/conv_backward.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/conv_tile-inl.h"
#include "tensor/numerics-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;

// sums[f][a][k..] += sum over positions of delta[position][f] image[position][a][k..], R filters
// and C vectors of one kernel row.
template <class N, std::size_t R, std::size_t C>
HWY_NOINLINE void WeightTile(const ConvGeometry& g, const float* delta, const float* image,
                             float* sums) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  ConvTile<N, R, C> tile;
  tile.Clear();
  for (std::size_t y = 0; y < g.out_height; ++y) {
    tile.Add({.w = delta + y * g.out_width * g.filters,
              .row = 1,
              .column = g.filters,
              .x = image + y * g.step_row,
              .stride = g.step_column,
              .depth = g.out_width});
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t c = 0; c < C; ++c) {
      float* to = sums + r * g.kernel_rows * g.depth_lanes + c * lanes;
      hn::Store(hn::Add(hn::Load(df, to), tile.sums[r][c]), df, to);
    }
  }
}

template <class N>
void WeightGradient(const ConvGeometry& g, const float* delta, const float* image, float* sums) {
  const std::size_t lanes = hn::Lanes(DF());
  for (std::size_t a = 0; a < g.kernel_rows; ++a) {
    for (std::size_t k = 0; k < g.depth;) {
      const bool two = k + lanes < g.depth;
      ForRows(g.filters, [&](auto rows, std::size_t f) HWY_ATTR {
        constexpr std::size_t R = decltype(rows)::value;
        const float* patch = image + a * g.row + k;
        float* to = sums + (f * g.kernel_rows + a) * g.depth_lanes + k;
        if (two) {
          WeightTile<N, R, 2>(g, delta + f, patch, to);
        } else {
          WeightTile<N, R, 1>(g, delta + f, patch, to);
        }
      });
      k += two ? 2 * lanes : lanes;
    }
  }
}

// Position after position: the order of the sum is the same at every level.
void BiasGradient(const ConvGeometry& g, const float* delta, float* sums) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t positions = g.out_height * g.out_width;
  std::size_t f = 0;
  for (; f + lanes <= g.filters; f += lanes) {
    auto total = hn::Zero(df);
    for (std::size_t p = 0; p < positions; ++p) {
      total = hn::Add(total, hn::LoadU(df, delta + p * g.filters + f));
    }
    hn::Store(hn::Add(hn::Load(df, sums + f), total), df, sums + f);
  }
  for (; f < g.filters; ++f) {
    float total = 0;
    for (std::size_t p = 0; p < positions; ++p) total += delta[p * g.filters + f];
    sums[f] += total;
  }
}

template <class N, std::size_t R, std::size_t C>
HWY_NOINLINE void ProductTile(const ConvGeometry& g, const float* delta, const float* by_filter,
                              float* products) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t stride = g.kernel_rows * g.depth_lanes;
  ConvTile<N, R, C> tile;
  tile.Clear();
  tile.Add({.w = delta,
            .row = g.filters,
            .column = 1,
            .x = by_filter,
            .stride = stride,
            .depth = g.filters});
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t c = 0; c < C; ++c) {
      hn::Store(tile.sums[r][c], df, products + r * stride + c * lanes);
    }
  }
}

// gradient += the patches that one output row's delta sends back.
template <class N>
void InputRow(const ConvGeometry& g, const float* delta, const float* by_filter, float* products,
              float* gradient) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t stride = g.kernel_rows * g.depth_lanes;
  for (std::size_t k = 0; k < stride;) {
    const bool two = k + 2 * lanes <= stride;
    ForRows(g.out_width, [&](auto rows, std::size_t p) HWY_ATTR {
      constexpr std::size_t R = decltype(rows)::value;
      if (two) {
        ProductTile<N, R, 2>(g, delta + p * g.filters, by_filter + k, products + p * stride + k);
      } else {
        ProductTile<N, R, 1>(g, delta + p * g.filters, by_filter + k, products + p * stride + k);
      }
    });
    k += two ? 2 * lanes : lanes;
  }
  for (std::size_t p = 0; p < g.out_width; ++p) {
    for (std::size_t a = 0; a < g.kernel_rows; ++a) {
      const float* from = products + p * stride + a * g.depth_lanes;
      float* to = gradient + p * g.step_column + a * g.row;
      // The last vector may reach past the kernel row: there the products are zero.
      for (std::size_t k = 0; k < g.depth; k += lanes) {
        hn::StoreU(hn::Add(hn::LoadU(df, to + k), hn::Load(df, from + k)), df, to + k);
      }
    }
  }
}

void ConvolveBackward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                      const float* packed, const float* delta, float* scratch, float* sums,
                      float* input_gradient) {
  const ConvGeometry g(shape);
  const ConvScratch parts(shape);
  const std::size_t in_stride = SampleStride(shape.features());
  const std::size_t out_stride = SampleStride(shape.outputs());
  float* gradient = scratch + parts.gradient;
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    using N = decltype(policy);
    for (std::size_t n = 0; n < input.samples; ++n) {
      const float* image = PadImage(shape, input.images + n * in_stride, scratch + parts.image);
      const float* own = delta + n * out_stride;
      WeightGradient<N>(g, own, image, sums);
      BiasGradient(g, own, sums + g.by_filter_size());
      if (input_gradient == nullptr) continue;
      std::memset(gradient, 0, (parts.work - parts.gradient) * sizeof(float));
      for (std::size_t y = 0; y < g.out_height; ++y) {
        InputRow<N>(g, own + y * g.out_width * g.filters, packed + g.forward_size(),
                    scratch + parts.work, gradient + y * g.step_row);
      }
      CropImage(shape, gradient, input_gradient + n * in_stride);
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(ConvolveBackward);

void ConvBackward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                  const float* packed, const float* delta, float* scratch, float* sums,
                  float* input_gradient) {
  HWY_DYNAMIC_DISPATCH(ConvolveBackward)
  (numerics, shape, input, packed, delta, scratch, sums, input_gradient);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
