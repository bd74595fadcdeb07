// Register tiles and passes over a block of samples. Compiled once for each level.
#if defined(COVEY_TENSOR_SMALL_MLP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_SMALL_MLP_INL_H_
#undef COVEY_TENSOR_SMALL_MLP_INL_H_
#else
#define COVEY_TENSOR_SMALL_MLP_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "covey/tensor/small_mlp.h"
#include "hwy/highway.h"
#include "tensor/math-inl.h"
#include "tensor/numerics-inl.h"
#include "tensor/small_mlp_plan.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Sums of a tile, within 32 or 16 registers, and enough of them to hide the latency of an addition.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kTileColumns = 7;
constexpr std::size_t TileRows(std::size_t columns) {
  return columns == 1 ? 16 : columns <= 3 ? 8 : 4;
}
#else
constexpr std::size_t kTileColumns = 3;
constexpr std::size_t TileRows(std::size_t columns) { return columns == 1 ? 8 : 4; }
#endif

// out[r][c] (+)= sum_t a[r][t] v[t][c], the sum over t in order. a's strides are free, so that the
// three products of a layer are one loop: forward (a: samples by inputs), back (a: samples by
// units), gradient (a: units by samples).
struct Product {
  const float* a = nullptr;
  std::size_t a_row = 0, a_step = 0;
  const float* v = nullptr;
  std::size_t v_step = 0;
  std::size_t depth = 0;
  float* out = nullptr;
  std::size_t out_row = 0;
};

// Where the sums of a tile start and what happens to them at the end.
struct FromBias {  // out <- bias + sum
  const float* bias;
};
struct FromOutput {};  // out <- out + sum
// out <- sum * f'(y) with y the output of a curve whose derivative is a polynomial of y:
// constant + y (linear + square y).
struct TimesPolynomial {
  const float* y;
  float constant, linear, square;
};
// out <- sum * (0 < y <= top ? above : below).
struct TimesPiecewise {
  const float* y;
  float top, above, below;
};

template <class N, class D>
HWY_INLINE hn::Vec<D> Finish(D d, const TimesPolynomial& end, std::size_t at, hn::Vec<D> sum) {
  const auto y = hn::LoadU(d, end.y + at);
  const auto inner = N::MulAdd(hn::Set(d, end.square), y, hn::Set(d, end.linear));
  return hn::Mul(sum, N::MulAdd(y, inner, hn::Set(d, end.constant)));
}

template <class N, class D>
HWY_INLINE hn::Vec<D> Finish(D d, const TimesPiecewise& end, std::size_t at, hn::Vec<D> sum) {
  const auto y = hn::LoadU(d, end.y + at);
  const auto inside = hn::And(hn::Gt(y, hn::Zero(d)), hn::Le(y, hn::Set(d, end.top)));
  return hn::Mul(sum, hn::IfThenElse(inside, hn::Set(d, end.above), hn::Set(d, end.below)));
}

template <class N, class D, class End>
HWY_INLINE hn::Vec<D> Finish(D, const End&, std::size_t, hn::Vec<D> sum) {
  return sum;
}

template <class D, class End>
HWY_INLINE hn::Vec<D> Start(D d, const End&, const float*, std::size_t) {
  return hn::Zero(d);
}
template <class D>
HWY_INLINE hn::Vec<D> Start(D d, const FromBias& end, const float*, std::size_t column) {
  return hn::LoadU(d, end.bias + column);
}
template <class D>
HWY_INLINE hn::Vec<D> Start(D d, const FromOutput&, const float* out, std::size_t) {
  return hn::LoadU(d, out);
}

// R rows from `row`, C vectors of columns from `column`.
template <class N, std::size_t R, std::size_t C, class D, class End>
HWY_NOINLINE void ProductTile(D d, const Product& p, const End& end, std::size_t row,
                              std::size_t column) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  float* HWY_RESTRICT out = p.out + row * p.out_row + column;
  V acc[R][C];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) {
      acc[r][c] = Start(d, end, out + r * p.out_row + c * lanes, column + c * lanes);
    }
  }
  const float* HWY_RESTRICT a = p.a + row * p.a_row;
  const float* HWY_RESTRICT v = p.v + column;
  for (std::size_t t = 0; t < p.depth; ++t) {
    V in[C];
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) in[c] = hn::LoadU(d, v + c * lanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
      const V factor = hn::Set(d, a[r * p.a_row]);
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) acc[r][c] = N::MulAdd(factor, in[c], acc[r][c]);
    }
    a += p.a_step;
    v += p.v_step;
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) {
      const std::size_t at = (row + r) * p.out_row + column + c * lanes;
      hn::StoreU(Finish<N>(d, end, at, acc[r][c]), d, out + r * p.out_row + c * lanes);
    }
  }
}

// All rows of C vectors of columns. Requires: rows is a multiple of 4.
template <class N, std::size_t C, class D, class End>
HWY_NOINLINE void ProductColumns(D d, const Product& p, const End& end, std::size_t rows,
                                 std::size_t column) {
  constexpr std::size_t kRows = TileRows(C);
  std::size_t row = 0;
  for (; row + kRows <= rows; row += kRows) ProductTile<N, kRows, C>(d, p, end, row, column);
  if constexpr (kRows > 4) {
    for (; row < rows; row += 4) ProductTile<N, 4, C>(d, p, end, row, column);
  }
}

template <class N, class D, class End>
void RunProduct(D d, const Product& p, const End& end, std::size_t rows, std::size_t columns) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t vectors = (columns + lanes - 1) / lanes;
  for (std::size_t column = 0; vectors > 0;) {
    // As even as it goes: 8 vectors are 4 and 4, not 7 and 1.
    const std::size_t passes = (vectors + kTileColumns - 1) / kTileColumns;
    const std::size_t some = (vectors + passes - 1) / passes;
    switch (some) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
      case 7:
        ProductColumns<N, 7>(d, p, end, rows, column);
        break;
      case 6:
        ProductColumns<N, 6>(d, p, end, rows, column);
        break;
      case 5:
        ProductColumns<N, 5>(d, p, end, rows, column);
        break;
      case 4:
        ProductColumns<N, 4>(d, p, end, rows, column);
        break;
#endif
      case 3:
        ProductColumns<N, 3>(d, p, end, rows, column);
        break;
      case 2:
        ProductColumns<N, 2>(d, p, end, rows, column);
        break;
      default:
        ProductColumns<N, 1>(d, p, end, rows, column);
        break;
    }
    column += some * lanes;
    vectors -= some;
  }
}

// Calls body(tag) with a vector of at most 8 lanes for narrow layers, else with a whole one: half a
// vector of 16 lanes costs half as much where 512 bits take two cycles.
template <class Body>
HWY_INLINE void WithTag(std::size_t columns, Body body) {
  if (columns <= 8 && hn::Lanes(hn::ScalableTag<float>()) > 8) {
    body(hn::CappedTag<float, 8>());
  } else {
    body(hn::ScalableTag<float>());
  }
}

// values <- f(values) over whole vectors.
template <class N, class D>
void ApplyCurve(D d, Curve curve, std::size_t size, float* HWY_RESTRICT values) {
  const std::size_t lanes = hn::Lanes(d);
  const auto each = [&](auto f) HWY_ATTR {
    for (std::size_t i = 0; i < size; i += lanes) {
      hn::Store(f(hn::Load(d, values + i)), d, values + i);
    }
  };
  using V = hn::Vec<D>;
  switch (curve) {
    case Curve::kLinear:
      return;
    case Curve::kRelu:  // by comparison, which keeps a NaN
      return each([&](V y) HWY_ATTR { return hn::IfThenZeroElse(hn::Lt(y, hn::Zero(d)), y); });
    case Curve::kLeakyRelu:
      return each([&](V y) HWY_ATTR {
        return hn::IfThenElse(hn::Lt(y, hn::Zero(d)), hn::Mul(y, hn::Set(d, 0.01f)), y);
      });
    case Curve::kTanh:
      return each([&](V y) HWY_ATTR { return Tanh<N>(d, y); });
    case Curve::kSigmoid:
      return each([&](V y) HWY_ATTR { return Sigmoid<N>(d, y); });
    case Curve::kHardSigmoid:
      return each([&](V y) HWY_ATTR { return HardSigmoid<N>(d, y); });
  }
}

// Calls body(end) with what turns sums of a gradient by y into the gradient by the curve's input.
template <class Body>
HWY_INLINE void WithDerivative(Curve curve, const float* y, Body body) {
  constexpr float kNoTop = 3.4e38f;
  switch (curve) {
    case Curve::kLinear:
      return body(TimesPolynomial{y, 1, 0, 0});
    case Curve::kSigmoid:
      return body(TimesPolynomial{y, 0, 1, -1});
    case Curve::kTanh:
      return body(TimesPolynomial{y, 1, 0, -1});
    case Curve::kRelu:
      return body(TimesPiecewise{y, kNoTop, 1, 0});
    case Curve::kLeakyRelu:
      return body(TimesPiecewise{y, kNoTop, 1, 0.01f});
    case Curve::kHardSigmoid:
      return body(TimesPiecewise{y, 0.99999994f, 0.2f, 0});
  }
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
