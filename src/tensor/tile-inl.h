// The register tile that the dense kernels share. Compiled once for each level.
#if defined(COVEY_TENSOR_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_TILE_INL_H_
#undef COVEY_TENSOR_TILE_INL_H_
#else
#define COVEY_TENSOR_TILE_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "tensor/numerics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// R rows x C vectors of sums that live in registers: acc[r][c] += sum_k w[r * row + k * column] x[k
// * stride + c lanes], k ascending. The w operand is broadcast, the x operand is a vector.
template <std::size_t R, std::size_t C>
struct Tile {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  V acc[R][C];

  HWY_INLINE void Clear() {
    const D d;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) acc[r][c] = hn::Zero(d);
    }
  }

  template <class N>
  HWY_INLINE void Accumulate(const float* HWY_RESTRICT w, std::size_t row, std::size_t column,
                             const float* HWY_RESTRICT x, std::size_t stride, std::size_t depth) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t k = 0; k < depth; ++k) {
      V in[C];
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) in[c] = hn::LoadU(d, x + c * lanes);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < R; ++r) {
        const V factor = hn::Set(d, w[r * row]);
#pragma GCC unroll 16
        for (std::size_t c = 0; c < C; ++c) acc[r][c] = N::MulAdd(factor, in[c], acc[r][c]);
      }
      w += column;
      x += stride;
    }
  }
};

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
