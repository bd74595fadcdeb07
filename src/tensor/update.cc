// Update rules applied to a gradient that lies in memory, for what needs the whole of it first.
#include "covey/tensor/update.h"

#include <algorithm>

#include "covey/base/check.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/update.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/rules-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kClipBlock = 256;  // floats that pass through L1 between clip and rule

// out <- clamp(scale in, -limit, limit); bounds are chosen by comparison, which keeps a NaN.
void ClipBlock(const GradientClip& clip, const float* HWY_RESTRICT in, std::size_t count,
               float* HWY_RESTRICT out) {
  const float limit = clip.limit;
  for (std::size_t i = 0; i < count; ++i) {
    const float scaled = clip.scale * in[i];
    const float above = scaled > limit ? limit : scaled;
    out[i] = limit > 0 ? (above < -limit ? -limit : above) : scaled;
  }
}

template <class Rule>
void StepClipped(const Rule& rule, const GradientClip& clip, const float* gradient,
                 std::size_t count, const Slots& slots) {
  HWY_ALIGN float block[kClipBlock];
  for (std::size_t i = 0; i < count; i += kClipBlock) {
    const std::size_t some = std::min(kClipBlock, count - i);
    ClipBlock(clip, gradient + i, some, block);
    StepRange(rule, block, some, slots.x + i, slots.first + i, slots.second + i);
  }
}

void Apply(const UpdateRule& rule, const GradientClip& clip, Numerics numerics, std::size_t offset,
           const float* gradient, std::size_t count, float* x) {
  const bool clips = clip.scale != 1 || clip.limit > 0;
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    WithRule<decltype(policy)>(rule, [&](const auto& typed) HWY_ATTR {
      const Slots slots = SlotsAt(rule, x, offset);
      if (clips) {
        StepClipped(typed, clip, gradient, count, slots);
      } else {
        StepRange(typed, gradient, count, slots.x, slots.first, slots.second);
      }
    });
  });
}

// Equations: SignRule in update.h. At a turn `size` is still the step of the last move.
template <class N, SignRule::OnTurn kOnTurn>
struct SignStep {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  V eta_minus, eta_plus, step_min, step_max, l2;

  HWY_INLINE explicit SignStep(const SignRule& rule)
      : eta_minus(hn::Set(D(), rule.eta_minus)),
        eta_plus(hn::Set(D(), rule.eta_plus)),
        step_min(hn::Set(D(), rule.step_min)),
        step_max(hn::Set(D(), rule.step_max)),
        l2(hn::Set(D(), rule.l2)) {}

  // sign(of) size; 0 where of is 0 or NaN.
  static HWY_INLINE V Signed(V of, V size) {
    const auto zero = hn::Zero(D());
    const auto moves = hn::Or(hn::Lt(of, zero), hn::Gt(of, zero));
    return hn::IfThenElseZero(moves, hn::CopySign(size, of));
  }

  HWY_INLINE void Step(V g, V& x, V& previous, V& size) const {
    const auto zero = hn::Zero(D());
    g = N::MulAdd(l2, x, g);
    // By signs, not by the product, which may underflow.
    const auto turns = hn::Or(hn::And(hn::Lt(g, zero), hn::Gt(previous, zero)),
                              hn::And(hn::Gt(g, zero), hn::Lt(previous, zero)));
    const auto agrees = hn::Or(hn::And(hn::Lt(g, zero), hn::Lt(previous, zero)),
                               hn::And(hn::Gt(g, zero), hn::Gt(previous, zero)));
    const V back = hn::IfThenElseZero(turns, Signed(previous, size));
    const V grown = hn::Min(hn::Mul(size, eta_plus), step_max);
    const V shrunk = hn::Max(hn::Mul(size, eta_minus), step_min);
    size = hn::IfThenElse(agrees, grown, hn::IfThenElse(turns, shrunk, size));
    if constexpr (kOnTurn != SignRule::OnTurn::kMove) g = hn::IfThenZeroElse(turns, g);
    if constexpr (kOnTurn == SignRule::OnTurn::kBacktrack) x = hn::Add(x, back);
    x = hn::Sub(x, Signed(g, size));
    previous = g;
  }
};

template <class S>
void ApplySignsTyped(const S& step, const SignRule& rule, const float* gradient, std::size_t count,
                     float* x) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = [&](const float* g, float* at, float* previous, float* size) HWY_ATTR {
    auto vx = hn::LoadU(d, at);
    auto vp = hn::LoadU(d, previous);
    auto vs = hn::LoadU(d, size);
    step.Step(hn::LoadU(d, g), vx, vp, vs);
    hn::StoreU(vx, d, at);
    hn::StoreU(vp, d, previous);
    hn::StoreU(vs, d, size);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    one(gradient + i, x + i, rule.previous + i, rule.step + i);
  }
  if (i == count) return;
  HWY_ALIGN float copy[4][HWY_MAX_BYTES / sizeof(float)] = {};
  const std::size_t bytes = (count - i) * sizeof(float);
  std::memcpy(copy[0], gradient + i, bytes);
  std::memcpy(copy[1], x + i, bytes);
  std::memcpy(copy[2], rule.previous + i, bytes);
  std::memcpy(copy[3], rule.step + i, bytes);
  one(copy[0], copy[1], copy[2], copy[3]);
  std::memcpy(x + i, copy[1], bytes);
  std::memcpy(rule.previous + i, copy[2], bytes);
  std::memcpy(rule.step + i, copy[3], bytes);
}

void ApplySigns(const SignRule& rule, Numerics numerics, const float* gradient, std::size_t count,
                float* x) {
  using OnTurn = SignRule::OnTurn;
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    using N = decltype(policy);
    switch (rule.on_turn) {
      case OnTurn::kMove:
        return ApplySignsTyped(SignStep<N, OnTurn::kMove>(rule), rule, gradient, count, x);
      case OnTurn::kForget:
        return ApplySignsTyped(SignStep<N, OnTurn::kForget>(rule), rule, gradient, count, x);
      case OnTurn::kBacktrack:
        return ApplySignsTyped(SignStep<N, OnTurn::kBacktrack>(rule), rule, gradient, count, x);
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Apply);
HWY_EXPORT(ApplySigns);

void ApplyUpdate(const UpdateRule& rule, std::size_t offset, ConstVectorView gradient, VectorView x,
                 Numerics numerics, const GradientClip& clip) {
  COVEY_CHECK(offset <= x.size() && gradient.size() <= x.size() - offset, offset, gradient.size(),
              x.size());
  HWY_DYNAMIC_DISPATCH(Apply)
  (rule, clip, numerics, offset, gradient.data(), gradient.size(), x.data());
}

void ApplySignUpdate(const SignRule& rule, ConstVectorView gradient, VectorView x,
                     Numerics numerics) {
  COVEY_CHECK(gradient.size() == x.size(), gradient.size(), x.size());
  COVEY_CHECK(rule.previous != nullptr && rule.step != nullptr);
  HWY_DYNAMIC_DISPATCH(ApplySigns)(rule, numerics, gradient.data(), gradient.size(), x.data());
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
