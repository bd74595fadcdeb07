// Register tiles and cells of the LSTM kernels. Compiled once for each level.
#if defined(COVEY_TENSOR_LSTM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_LSTM_INL_H_
#undef COVEY_TENSOR_LSTM_INL_H_
#else
#define COVEY_TENSOR_LSTM_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "hwy/highway.h"
#include "tensor/lstm_layout.h"
#include "tensor/math-inl.h"
#include "tensor/numerics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// 32 registers hold 8 x 3 sums beside their operands, 16 registers 4 x 3 where the product needs no
// register of its own.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kLstmRows = 8;
#else
constexpr std::size_t kLstmRows = 4;
#endif
template <class N>
constexpr std::size_t kLstmVectors = kLstmRows == 4 && (N::kPortable || HWY_TARGET != HWY_AVX2) ? 2
                                                                                                : 3;

// R rows x C vectors of sums in registers.
template <class N, std::size_t R, std::size_t C>
struct LstmSums {
  using D = hn::ScalableTag<float>;
  hn::Vec<D> acc[R][C];

  HWY_INLINE void Clear() {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) acc[r][c] = hn::Zero(D());
    }
  }

  // Row r from from[r * row].
  HWY_INLINE void Load(const float* HWY_RESTRICT from, std::size_t row) {
    const D d;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c)
        acc[r][c] = hn::Load(d, from + r * row + c * hn::Lanes(d));
    }
  }

  HWY_INLINE void Store(float* HWY_RESTRICT to, std::size_t row) const {
    const D d;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) hn::Store(acc[r][c], d, to + r * row + c * hn::Lanes(d));
    }
  }

  // acc[r] += sum_k a[r * row + k * column] m[k * stride], k ascending.
  HWY_INLINE void Add(const float* HWY_RESTRICT a, std::size_t row, std::size_t column,
                      const float* HWY_RESTRICT m, std::size_t stride, std::size_t depth) {
    const D d;
    for (std::size_t k = 0; k < depth; ++k) {
      hn::Vec<D> in[C];
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) in[c] = hn::Load(d, m + c * hn::Lanes(d));
#pragma GCC unroll 16
      for (std::size_t r = 0; r < R; ++r) {
        const auto factor = hn::Set(d, a[r * row]);
#pragma GCC unroll 16
        for (std::size_t c = 0; c < C; ++c) acc[r][c] = N::MulAdd(factor, in[c], acc[r][c]);
      }
      a += column;
      m += stride;
    }
  }
};

// Calls body.template operator()<R, C>(row, column) for tiles that cover rows x width; width is a
// multiple of 16. Columns are outermost: what a tile reads of the matrix stays in the L1 cache.
template <class N, std::size_t C, class Body>
HWY_INLINE void ForRowTiles(std::size_t rows, std::size_t column, const Body& body) {
  std::size_t r = 0;
  for (; r + kLstmRows <= rows; r += kLstmRows) body.template Tile<N, kLstmRows, C>(r, column);
  if constexpr (kLstmRows > 4) {
    for (; r + 4 <= rows; r += 4) body.template Tile<N, 4, C>(r, column);
  }
  for (; r + 2 <= rows; r += 2) body.template Tile<N, 2, C>(r, column);
  for (; r < rows; ++r) body.template Tile<N, 1, C>(r, column);
}

template <class N, class Body>
HWY_INLINE void ForTiles(std::size_t rows, std::size_t width, const Body& body) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  std::size_t column = 0;
  for (; column + kLstmVectors<N> * lanes <= width; column += kLstmVectors<N> * lanes) {
    ForRowTiles<N, kLstmVectors<N>>(rows, column, body);
  }
  if constexpr (kLstmVectors < N >> 2) {
    for (; column + 2 * lanes <= width; column += 2 * lanes) ForRowTiles<N, 2>(rows, column, body);
  }
  for (; column < width; column += lanes) ForRowTiles<N, 1>(rows, column, body);
}

// Writes the first `count` <= lanes elements of v and nothing else.
template <class D>
HWY_INLINE void StoreFirst(D d, hn::Vec<D> v, std::size_t count, float* HWY_RESTRICT to) {
  if (count == hn::Lanes(d)) return hn::StoreU(v, d, to);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float copy[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, copy);
  std::memcpy(to, copy, count * sizeof(float));
#endif
}

// Reads the first `count` <= lanes elements and nothing else; the others are 0.
template <class D>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const float* HWY_RESTRICT from, std::size_t count) {
  if (count == hn::Lanes(d)) return hn::LoadU(d, from);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN float copy[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(copy, from, count * sizeof(float));
  return hn::Load(d, copy);
#endif
}

// The gates' sigmoid by kind, and its derivative from its value s.
struct SoftGates {
  template <class N, class D>
  static HWY_INLINE hn::Vec<D> Value(D d, hn::Vec<D> z) {
    return Sigmoid<N>(d, z);
  }
  template <class N, class D>
  static HWY_INLINE hn::Vec<D> Derivative(D, hn::Vec<D> s) {
    return N::NegMulAdd(s, s, s);
  }
};

struct HardGates {
  template <class N, class D>
  static HWY_INLINE hn::Vec<D> Value(D d, hn::Vec<D> z) {
    return HardSigmoid<N>(d, z);
  }
  template <class N, class D>
  static HWY_INLINE hn::Vec<D> Derivative(D d, hn::Vec<D> s) {
    const auto inside = hn::And(hn::Gt(s, hn::Zero(d)), hn::Lt(s, hn::Set(d, 1.0f)));
    return hn::IfThenElseZero(inside, hn::Set(d, 0.2f));
  }
};

// Calls body(numerics policy, gates).
template <class Body>
HWY_INLINE void WithLstmPolicies(Numerics numerics, LstmGates gates, Body body) {
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    if (gates == LstmGates::kHardSigmoid) return body(policy, HardGates());
    return body(policy, SoftGates());
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
