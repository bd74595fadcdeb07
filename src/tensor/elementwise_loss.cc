// Losses in which each output is compared with its own target, the batch in lanes.
#include <cstdint>

#include "covey/base/check.h"
#include "covey/tensor/loss.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/elementwise_loss.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/loss-inl.h"
#include "tensor/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Each says what one output adds to its sample's sum over the outputs, the slope of that, and
// whether the output is on the right side.
template <class N>
struct Binary {
  static constexpr bool kClassifies = true;
  HWY_INLINE VF Loss(VF y, VF t) const {
    const DF df;
    const auto above = hn::IfThenElseZero(hn::Gt(y, hn::Zero(df)), y);
    const auto tail = Log1p<N>(df, ExpNonPositive<N>(df, hn::Neg(hn::Abs(y))));
    return hn::Add(hn::Add(N::NegMulAdd(y, t, above), tail), Taint(y));
  }
  HWY_INLINE VF Slope(VF y, VF t) const { return hn::Sub(Sigmoid<N>(DF(), y), t); }
};

template <class N>
struct Squared {
  static constexpr bool kClassifies = false;
  HWY_INLINE VF Loss(VF y, VF t) const {
    const auto e = hn::Sub(y, t);
    return hn::Mul(e, e);
  }
  HWY_INLINE VF Slope(VF y, VF t) const {
    const auto e = hn::Sub(y, t);
    return hn::Add(e, e);
  }
};

template <class N>
struct HuberOf {
  static constexpr bool kClassifies = false;
  VF delta;
  HWY_INLINE VF Loss(VF y, VF t) const {
    const auto half = hn::Set(DF(), 0.5f);
    const auto e = hn::Abs(hn::Sub(y, t));
    const auto line = hn::Mul(delta, N::NegMulAdd(half, delta, e));
    return hn::IfThenElse(hn::Gt(e, delta), line, hn::Mul(hn::Mul(half, e), e));
  }
  HWY_INLINE VF Slope(VF y, VF t) const {
    const auto e = hn::Sub(y, t);
    return hn::IfThenElse(hn::Gt(hn::Abs(e), delta), hn::CopySign(delta, e), e);
  }
};

template <class Loss>
LossSum Compare(const LossBatch& batch, const Loss& of, const float* targets, float* outputs) {
  const DF df;
  const std::size_t padded = PaddedBatch(batch.batch);
  const auto share = hn::Set(df, 1.0f / static_cast<float>(batch.outputs));
  const auto half = hn::Set(df, 0.5f);
  LossSum result;
  for (std::size_t b = 0; b < padded; b += hn::Lanes(df)) {
    const Samples samples(batch, b);
    const auto scale = hn::Mul(samples.scale, share);
    auto sum = hn::Zero(df);
    auto wrong = hn::Zero(df);
    for (std::size_t c = 0; c < batch.outputs; ++c) {
      float* at = outputs + c * padded + b;
      const auto y = hn::Load(df, at);
      const auto t = hn::Load(df, targets + c * padded + b);
      sum = hn::Add(sum, of.Loss(y, t));
      if constexpr (Loss::kClassifies) {
        const auto one = hn::Set(df, 1.0f);
        const auto said = hn::IfThenElseZero(hn::Gt(y, hn::Zero(df)), one);
        const auto is = hn::IfThenElseZero(hn::Gt(t, half), one);
        wrong = hn::Add(wrong, hn::Abs(hn::Sub(said, is)));
      }
      if (batch.scale == 0) continue;
      const auto gradient = hn::Mul(scale, of.Slope(y, t));
      hn::Store(hn::IfThenElseZero(hn::FirstN(df, samples.filled), gradient), df, at);
    }
    Lanes loss, errors;
    hn::Store(hn::Mul(sum, share), df, loss.at);
    hn::Store(wrong, df, errors.at);
    samples.AddTo(result, loss);
    if constexpr (Loss::kClassifies) {
      for (std::size_t i = 0; i < samples.filled; ++i)
        result.correct += errors.at[i] == 0 ? 1u : 0u;
    }
  }
  return result;
}

LossSum BinaryLoss(const LossBatch& batch, const float* targets, float* outputs) {
  return WithNumerics(batch.numerics, [&](auto policy) HWY_ATTR {
    return Compare(batch, Binary<decltype(policy)>(), targets, outputs);
  });
}

LossSum SquaredLoss(const LossBatch& batch, const float* targets, float* outputs) {
  return WithNumerics(batch.numerics, [&](auto policy) HWY_ATTR {
    return Compare(batch, Squared<decltype(policy)>(), targets, outputs);
  });
}

LossSum HuberLoss(const LossBatch& batch, float delta, const float* targets, float* outputs) {
  return WithNumerics(batch.numerics, [&](auto policy) HWY_ATTR {
    const HuberOf<decltype(policy)> of{hn::Set(DF(), delta)};
    return Compare(batch, of, targets, outputs);
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(BinaryLoss);
HWY_EXPORT(SquaredLoss);
HWY_EXPORT(HuberLoss);

LossSum BinaryCrossEntropy(const LossBatch& batch, const float* targets, float* outputs) {
  return HWY_DYNAMIC_DISPATCH(BinaryLoss)(batch, targets, outputs);
}

LossSum MeanSquaredError(const LossBatch& batch, const float* targets, float* outputs) {
  return HWY_DYNAMIC_DISPATCH(SquaredLoss)(batch, targets, outputs);
}

LossSum Huber(const LossBatch& batch, HuberDelta delta, const float* targets, float* outputs) {
  COVEY_CHECK(delta.value > 0, delta.value);
  return HWY_DYNAMIC_DISPATCH(HuberLoss)(batch, delta.value, targets, outputs);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
