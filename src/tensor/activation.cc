// Activation functions and their derivatives.
#include "covey/tensor/activation.h"

#include <cstring>

#include "covey/base/check.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/activation.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// buffer <- body(vector of z, vector of buffer); z may be the buffer itself.
template <class Body>
HWY_INLINE void Map(std::size_t count, const float* z, float* buffer, Body body) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(body(hn::LoadU(df, z + i), hn::LoadU(df, buffer + i)), df, buffer + i);
  }
  if (i == count) return;
  HWY_ALIGN float copy[2][HWY_MAX_BYTES / sizeof(float)] = {};
  const std::size_t bytes = (count - i) * sizeof(float);
  std::memcpy(copy[0], z + i, bytes);
  std::memcpy(copy[1], buffer + i, bytes);
  hn::Store(body(hn::Load(df, copy[0]), hn::Load(df, copy[1])), df, copy[1]);
  std::memcpy(buffer + i, copy[1], bytes);
}

template <class N>
void ApplyWith(const Activation& activation, std::size_t count, float* y) {
  const DF df;
  const VF zero = hn::Zero(df);
  const VF slope = hn::Set(df, activation.slope);
  switch (activation.function) {
    case Function::kLinear:
      return;
    case Function::kRelu:  // not Max, which drops a NaN on some machines
      return Map(count, y, y,
                 [=](VF v, VF) HWY_ATTR { return hn::IfThenZeroElse(hn::Lt(v, zero), v); });
    case Function::kLeakyRelu:
      return Map(count, y, y, [=](VF v, VF) HWY_ATTR {
        return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(slope, v), v);
      });
    case Function::kTanh:
      return Map(count, y, y, [=](VF v, VF) HWY_ATTR { return Tanh<N>(DF(), v); });
    case Function::kSigmoid:
      return Map(count, y, y, [=](VF v, VF) HWY_ATTR { return Sigmoid<N>(DF(), v); });
    case Function::kHardSigmoid:
      return Map(count, y, y, [=](VF v, VF) HWY_ATTR { return HardSigmoid<N>(DF(), v); });
  }
}

template <class N>
void GradientWith(const Activation& activation, std::size_t count, const float* z, float* delta) {
  const DF df;
  const VF zero = hn::Zero(df);
  const VF one = hn::Set(df, 1.0f);
  const VF slope = hn::Set(df, activation.slope);
  const VF fifth = hn::Set(df, 0.2f);
  switch (activation.function) {
    case Function::kLinear:
      return;
    case Function::kRelu:
      return Map(count, z, delta,
                 [=](VF v, VF d) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, zero), d); });
    case Function::kLeakyRelu:
      return Map(count, z, delta, [=](VF v, VF d) HWY_ATTR {
        return hn::IfThenElse(hn::Gt(v, zero), d, hn::Mul(slope, d));
      });
    case Function::kTanh:
      return Map(count, z, delta,
                 [=](VF v, VF d) HWY_ATTR { return hn::Mul(d, N::NegMulAdd(v, v, one)); });
    case Function::kSigmoid:
      return Map(count, z, delta,
                 [=](VF v, VF d) HWY_ATTR { return hn::Mul(d, hn::Mul(v, hn::Sub(one, v))); });
    case Function::kHardSigmoid:
      return Map(count, z, delta, [=](VF v, VF d) HWY_ATTR {
        const auto inside = hn::And(hn::Gt(v, zero), hn::Lt(v, one));
        return hn::IfThenElseZero(inside, hn::Mul(fifth, d));
      });
  }
}

template <class N>
void SoftmaxWith(const SoftmaxShape& shape, float* y) {
  const DF df;
  const std::size_t padded = PaddedBatch(shape.batch);
  for (std::size_t b = 0; b < padded; b += hn::Lanes(df)) {
    VF greatest = hn::Load(df, y + b);
    for (std::size_t c = 1; c < shape.features; ++c) {
      const VF v = hn::Load(df, y + c * padded + b);
      greatest = hn::IfThenElse(hn::Gt(v, greatest), v, greatest);
    }
    VF sum = hn::Zero(df);
    for (std::size_t c = 0; c < shape.features; ++c) {
      float* at = y + c * padded + b;
      const VF term = ExpNonPositive<N>(df, hn::Sub(hn::Load(df, at), greatest));
      sum = hn::Add(sum, term);
      hn::Store(term, df, at);
    }
    for (std::size_t c = 0; c < shape.features; ++c) {
      float* at = y + c * padded + b;
      hn::Store(hn::Div(hn::Load(df, at), sum), df, at);
    }
  }
}

template <class N>
void SoftmaxGradientWith(const SoftmaxShape& shape, const float* z, float* delta) {
  const DF df;
  const std::size_t padded = PaddedBatch(shape.batch);
  for (std::size_t b = 0; b < padded; b += hn::Lanes(df)) {
    VF sum = hn::Zero(df);
    for (std::size_t c = 0; c < shape.features; ++c) {
      const std::size_t at = c * padded + b;
      sum = N::MulAdd(hn::Load(df, delta + at), hn::Load(df, z + at), sum);
    }
    for (std::size_t c = 0; c < shape.features; ++c) {
      const std::size_t at = c * padded + b;
      const VF d = hn::Sub(hn::Load(df, delta + at), sum);
      hn::Store(hn::Mul(hn::Load(df, z + at), d), df, delta + at);
    }
  }
}

void Apply(const Activation& activation, std::size_t count, float* y) {
  WithNumerics(activation.numerics,
               [&](auto policy) HWY_ATTR { ApplyWith<decltype(policy)>(activation, count, y); });
}

void Gradient(const Activation& activation, std::size_t count, const float* z, float* delta) {
  WithNumerics(activation.numerics, [&](auto policy) HWY_ATTR {
    GradientWith<decltype(policy)>(activation, count, z, delta);
  });
}

void SoftmaxForward(const SoftmaxShape& shape, float* y) {
  WithNumerics(shape.numerics,
               [&](auto policy) HWY_ATTR { SoftmaxWith<decltype(policy)>(shape, y); });
}

void SoftmaxBackward(const SoftmaxShape& shape, const float* z, float* delta) {
  WithNumerics(shape.numerics, [&](auto policy) HWY_ATTR {
    SoftmaxGradientWith<decltype(policy)>(shape, z, delta);
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Apply);
HWY_EXPORT(Gradient);
HWY_EXPORT(SoftmaxForward);
HWY_EXPORT(SoftmaxBackward);

void Activate(const Activation& activation, std::size_t count, float* y) {
  HWY_DYNAMIC_DISPATCH(Apply)(activation, count, y);
}

void ActivationGradient(const Activation& activation, std::size_t count, const float* z,
                        float* delta) {
  COVEY_CHECK(activation.slope > 0, activation.slope);
  HWY_DYNAMIC_DISPATCH(Gradient)(activation, count, z, delta);
}

void Softmax(const SoftmaxShape& shape, float* y) {
  HWY_DYNAMIC_DISPATCH(SoftmaxForward)(shape, y);
}

void SoftmaxGradient(const SoftmaxShape& shape, const float* z, float* delta) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(shape, z, delta);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
