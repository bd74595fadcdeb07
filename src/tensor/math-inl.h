// Transcendental functions on vectors of float32 by policy of numerics-inl.h. Compiled once for
// each level.
//
// Equations, with n = round(x / ln 2), r = x - n ln 2:
//   exp(x)   = 2^n (1 + r + r^2 P(r)),  P of degree 5
//   tanh(a)  = -m / (2 + m) for a >= 0, m = exp(-2 a) - 1 = 2^n (r + r^2 P(r)) + (2^n - 1): no
//              cancellation at either end; odd
//   sigmoid  = 1 / (1 + e) for x >= 0, else e / (1 + e), e = exp(-|x|)
//   log(1+f) = f - s (f - 2 s^2 Q(s^2)),  s = f / (2 + f)
// Coefficients: interpolation at Chebyshev nodes over the reduced range, in exact arithmetic.
// Errors: a NaN gives a NaN. Beyond the range: exp 0 or infinity, tanh -1 or 1, sigmoid 0 or 1.
//   Largest error in ulp, measured and held by a test, both numerics: exp 1.0, tanh 2.5,
//   sigmoid 2.1, log1p 1.3, log 0.9.
// Cost: divisions are exact: they took less time than an estimate with a Newton step (sigmoid on a
//   Zen 4: 0.20 ns an element against 0.23 with AVX-512, 0.35 against 0.42 with AVX2).
// Determinism: PortableNumerics rounds to nearest by adding a magic number and divides exactly: the
//   same bits on every level. No result depends on the neighbours in its vector.
#if defined(COVEY_TENSOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_MATH_INL_H_
#undef COVEY_TENSOR_MATH_INL_H_
#else
#define COVEY_TENSOR_MATH_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "tensor/numerics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// coefficients[0] + x (coefficients[1] + x (...)).
template <class N, class D, std::size_t kTerms>
HWY_INLINE hn::Vec<D> Polynomial(D d, hn::Vec<D> x, const float (&coefficients)[kTerms]) {
  auto value = hn::Set(d, coefficients[kTerms - 1]);
#pragma GCC unroll 8
  for (std::size_t i = 1; i < kTerms; ++i) {
    value = N::MulAdd(value, x, hn::Set(d, coefficients[kTerms - 1 - i]));
  }
  return value;
}

// 2^n (1 + tail) = exp(x) for |x| < 2^20; rubbish beyond.
template <class D>
struct ExpParts {
  hn::Vec<D> tail;                          // r + r^2 P(r)
  hn::Vec<hn::RebindToSigned<D>> exponent;  // n << 23, the place of a float's exponent
};

template <class N, class D>
HWY_INLINE ExpParts<D> SplitExp(D d, hn::Vec<D> x) {
  static constexpr float kP[] = {0.500000001f,   0.166666667f,   0.0416664642f,
                                 0.00833331084f, 0.00139337307f, 0.000198910805f};
  const hn::RebindToSigned<D> di;
  // 1.5 * 2^23: the sum's last bits hold the nearest integer.
  const auto magic = hn::Set(d, 12582912.0f);
  const auto shifted = N::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const auto n = hn::Sub(shifted, magic);
  // The first part of ln 2 has 15 bits: its product with n is exact without a fused operation.
  auto r = N::NegMulAdd(n, hn::Set(d, 0.693145752f), x);
  r = N::NegMulAdd(n, hn::Set(d, 1.42860682e-6f), r);
  const auto tail = N::MulAdd(hn::Mul(r, r), Polynomial<N>(d, r, kP), r);
  return {tail, hn::ShiftLeft<23>(hn::BitCast(di, shifted))};
}

// 2^n. Requires: -126 <= n <= 127.
template <class D>
HWY_INLINE hn::Vec<D> PowerOfTwo(D d, hn::Vec<hn::RebindToSigned<D>> exponent) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(exponent, hn::Set(di, 0x3f800000)));
}

constexpr float kExpLow = -87.3365402f;  // above: exp(x) is a normal number
constexpr float kExpHigh = 88.7228317f;  // below or equal: exp(x) is finite

// exp(x); results that would be denormal are 0.
template <class N, class D>
HWY_INLINE hn::Vec<D> Exp(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  const ExpParts<D> parts = SplitExp<N>(d, x);
  // Added to the exponent, because 2^128 is no float.
  const hn::RebindToSigned<D> di;
  auto value = hn::BitCast(d, hn::Add(hn::BitCast(di, hn::Add(one, parts.tail)), parts.exponent));
  value = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, kExpLow)), value);
  value = hn::IfThenElse(hn::Gt(x, hn::Set(d, kExpHigh)),
                         hn::Set(d, std::numeric_limits<float>::infinity()), value);
  return hn::IfThenElse(hn::Eq(x, x), value, x);
}

// exp(x) for x <= 0: cheaper. Results that would be denormal are 0.
template <class N, class D>
HWY_INLINE hn::Vec<D> ExpNonPositive(D d, hn::Vec<D> x) {
  const ExpParts<D> parts = SplitExp<N>(d, x);
  const auto scale = PowerOfTwo(d, parts.exponent);
  const auto value = N::MulAdd(scale, parts.tail, scale);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, kExpLow)), value);
}

template <class N, class D>
HWY_INLINE hn::Vec<D> Tanh(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  const auto limit = hn::Set(d, 10.0f);  // tanh rounds to 1 from 9.02 on
  auto magnitude = hn::Abs(x);
  // Not Min, which drops a NaN on some machines.
  magnitude = hn::IfThenElse(hn::Gt(magnitude, limit), limit, magnitude);
  const ExpParts<D> parts = SplitExp<N>(d, hn::Mul(magnitude, hn::Set(d, -2.0f)));
  const auto scale = PowerOfTwo(d, parts.exponent);
  const auto m = N::MulAdd(scale, parts.tail, hn::Sub(scale, one));
  const auto value = hn::Div(m, hn::Add(m, hn::Set(d, 2.0f)));
  return hn::CopySign(value, x);
}

template <class N, class D>
HWY_INLINE hn::Vec<D> Sigmoid(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  const auto e = ExpNonPositive<N>(d, hn::Neg(hn::Abs(x)));
  const auto numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

// min(max(0.2 x + 0.5, 0), 1).
// Source: Keras' hard sigmoid, by which its LSTM gates were defined before version 3.
template <class N, class D>
HWY_INLINE hn::Vec<D> HardSigmoid(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  auto value = N::MulAdd(x, hn::Set(d, 0.2f), hn::Set(d, 0.5f));
  value = hn::IfThenElse(hn::Gt(value, one), one, value);
  return hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
}

// log(1 + f) for 0 <= f <= 1.
template <class N, class D>
HWY_INLINE hn::Vec<D> Log1p(D d, hn::Vec<D> f) {
  static constexpr float kQ[] = {0.333333337f, 0.199998525f, 0.14296213f, 0.108527135f,
                                 0.116151278f};
  const auto s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0f)));
  const auto z = hn::Mul(s, s);
  const auto rest = hn::Mul(hn::Add(z, z), Polynomial<N>(d, z, kQ));
  return N::NegMulAdd(s, hn::Sub(f, rest), f);
}

// log(x) for finite x >= 2^-126; a NaN for infinities.
template <class N, class D>
HWY_INLINE hn::Vec<D> Log(D d, hn::Vec<D> x) {
  static constexpr float kQ[] = {0.333333425f, 0.199943853f, 0.147901991f};
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  // x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
  const auto n = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const auto f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(n))), hn::Set(d, 1.0f));
  const auto s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0f)));
  const auto z = hn::Mul(s, s);
  const auto rest = hn::Mul(hn::Add(z, z), Polynomial<N>(d, z, kQ));
  const auto exponent = hn::ConvertTo(d, n);
  auto value = N::NegMulAdd(s, hn::Sub(f, rest), f);
  value = N::MulAdd(exponent, hn::Set(d, 1.42860682e-6f), value);
  value = N::MulAdd(exponent, hn::Set(d, 0.693145752f), value);
  return hn::Add(value, hn::Sub(x, x));
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
