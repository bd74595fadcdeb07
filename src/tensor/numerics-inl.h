// The two ways to round as policies for kernel templates. Compiled once for each level.
#if defined(COVEY_TENSOR_NUMERICS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_NUMERICS_INL_H_
#undef COVEY_TENSOR_NUMERICS_INL_H_
#else
#define COVEY_TENSOR_NUMERICS_INL_H_
#endif

#include "covey/tensor/numerics.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A kernel template takes one of these and calls its multiply-adds instead of Highway's.
struct FastNumerics {
  static constexpr bool kPortable = false;
  template <class V>
  static HWY_INLINE V MulAdd(V a, V b, V c) {  // a b + c
    return hn::MulAdd(a, b, c);
  }
  template <class V>
  static HWY_INLINE V NegMulAdd(V a, V b, V c) {  // c - a b
    return hn::NegMulAdd(a, b, c);
  }
  template <class V>
  static HWY_INLINE V MulSub(V a, V b, V c) {  // a b - c
    return hn::MulSub(a, b, c);
  }
  template <class V>
  static HWY_INLINE V Flush(V a) {  // the mode of the thread does it
    return a;
  }
};

struct PortableNumerics {
  static constexpr bool kPortable = true;
  template <class V>
  static HWY_INLINE V MulAdd(V a, V b, V c) {
    return hn::Add(hn::Mul(a, b), c);
  }
  template <class V>
  static HWY_INLINE V NegMulAdd(V a, V b, V c) {
    return hn::Sub(c, hn::Mul(a, b));
  }
  template <class V>
  static HWY_INLINE V MulSub(V a, V b, V c) {
    return hn::Sub(hn::Mul(a, b), c);
  }
  // a, or 0 where it is denormal: state that fades would stay there and slow every later step.
  template <class V>
  static HWY_INLINE V Flush(V a) {
    const hn::DFromV<V> d;
    return hn::IfThenZeroElse(hn::Lt(hn::Abs(a), hn::Set(d, 0x1p-126f)), a);
  }
};

// Calls body(FastNumerics()) or body(PortableNumerics()).
template <class Body>
HWY_INLINE decltype(auto) WithNumerics(Numerics numerics, Body body) {
  if (numerics == Numerics::kPortable) return body(PortableNumerics());
  return body(FastNumerics());
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
