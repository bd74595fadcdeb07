// The register tile of the general convolution kernels. Compiled once for each level.
#if defined(COVEY_TENSOR_CONV_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_CONV_TILE_INL_H_
#undef COVEY_TENSOR_CONV_TILE_INL_H_
#else
#define COVEY_TENSOR_CONV_TILE_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"
#include "tensor/numerics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// 32 registers hold 12 x 2 sums beside their operands, 16 registers 6 x 2 (4 x 2 where a product
// needs a register of its own, which 6 x 1 and 3 x 2 leave).
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kConvRows = 12;
#elif HWY_TARGET == HWY_AVX2
constexpr std::size_t kConvRows = 6;
#else
constexpr std::size_t kConvRows = 4;
#endif

// The operands of sums[r][c] += sum over k < depth of w[r * row + k * column] x[k * stride + c N].
struct ConvTerms {
  const float* w;  // broadcast
  std::size_t row;
  std::size_t column;
  const float* x;  // vectors of N lanes
  std::size_t stride;
  std::size_t depth;
};

template <class N, std::size_t R, std::size_t C>
struct ConvTile {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  V sums[R][C];

  HWY_INLINE void Clear() {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) sums[r][c] = hn::Zero(D());
    }
  }

  HWY_INLINE void Add(const ConvTerms& terms) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const float* HWY_RESTRICT w = terms.w;
    const float* HWY_RESTRICT x = terms.x;
    for (std::size_t k = 0; k < terms.depth; ++k) {
      V in[C];
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) in[c] = hn::LoadU(d, x + c * lanes);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < R; ++r) {
        const V factor = hn::Set(d, w[r * terms.row]);
#pragma GCC unroll 16
        for (std::size_t c = 0; c < C; ++c) sums[r][c] = N::MulAdd(factor, in[c], sums[r][c]);
      }
      w += terms.column;
      x += terms.stride;
    }
  }
};

template <std::size_t R>
using Rows = std::integral_constant<std::size_t, R>;

// Calls body(Rows<R>(), r) for tiles of R rows from r on that cover [0, rows).
template <class Body>
HWY_INLINE void ForRows(std::size_t rows, Body body) {
  std::size_t r = 0;
  for (; r + kConvRows <= rows; r += kConvRows) body(Rows<kConvRows>(), r);
  for (; r + 2 <= rows; r += 2) body(Rows<2>(), r);
  if (r < rows) body(Rows<1>(), r);
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
