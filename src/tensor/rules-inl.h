// Update rules on vectors. Compiled once for each level.
#if defined(COVEY_TENSOR_RULES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_RULES_INL_H_
#undef COVEY_TENSOR_RULES_INL_H_
#else
#define COVEY_TENSOR_RULES_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "covey/tensor/update.h"
#include "hwy/highway.h"
#include "tensor/numerics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One rule, N the numerics: which of x, first, second it reads and writes, and the step for one
// vector (equations: update.h). g has its weight decay already.
template <class N>
struct StoreRule {
  static constexpr bool kReadsFirst = false, kWritesX = false, kFirst = true, kSecond = false;
  template <class V>
  HWY_INLINE void Step(V g, V&, V& first, V&) const {
    first = g;
  }
  HWY_INLINE explicit StoreRule(const UpdateRule&) {}
};

template <class N>
struct AccumulateRule {
  static constexpr bool kReadsFirst = true, kWritesX = false, kFirst = true, kSecond = false;
  template <class V>
  HWY_INLINE void Step(V g, V&, V& first, V&) const {
    first = hn::Add(first, g);
  }
  HWY_INLINE explicit AccumulateRule(const UpdateRule&) {}
};

// What all rules that move x have.
struct MovingRule {
  using D = hn::ScalableTag<float>;
  static constexpr bool kWritesX = true;
  hn::Vec<D> step, l2;
  HWY_INLINE explicit MovingRule(const UpdateRule& rule)
      : step(hn::Set(D(), rule.step)), l2(hn::Set(D(), rule.l2)) {}
};

template <class N>
struct SgdRule : MovingRule {
  using Policy = N;
  static constexpr bool kReadsFirst = false, kFirst = false, kSecond = false;
  HWY_INLINE explicit SgdRule(const UpdateRule& rule) : MovingRule(rule) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V&, V&) const {
    x = N::NegMulAdd(step, g, x);
  }
};

// x moves by ahead first - step_now g: (1, 0) plain, (decay, step) Nesterov.
template <class N>
struct MomentumRule : MovingRule {
  using Policy = N;
  static constexpr bool kReadsFirst = true, kFirst = true, kSecond = false;
  hn::Vec<D> decay, ahead, step_now;
  HWY_INLINE explicit MomentumRule(const UpdateRule& rule)
      : MovingRule(rule), decay(hn::Set(D(), rule.decay)) {
    const bool nesterov = rule.kind == UpdateKind::kNesterov;
    ahead = nesterov ? decay : hn::Set(D(), 1.0f);
    step_now = nesterov ? step : hn::Zero(D());
  }
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V&) const {
    first = N::Flush(N::NegMulAdd(step, g, hn::Mul(decay, first)));
    x = N::NegMulAdd(step_now, g, N::MulAdd(ahead, first, x));
  }
};

template <class N>
struct AdamRule : MovingRule {
  using Policy = N;
  static constexpr bool kReadsFirst = true, kFirst = true, kSecond = true;
  hn::Vec<D> rate1, rate2, epsilon, keep;
  HWY_INLINE explicit AdamRule(const UpdateRule& rule)
      : MovingRule(rule),
        rate1(hn::Set(D(), 1.0f - rule.beta1)),
        rate2(hn::Set(D(), 1.0f - rule.beta2)),
        epsilon(hn::Set(D(), rule.epsilon)),
        keep(hn::Set(D(), rule.keep)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V& second) const {
    first = N::Flush(N::MulAdd(rate1, hn::Sub(g, first), first));
    second = N::Flush(N::MulAdd(rate2, N::MulSub(g, g, second), second));
    const V root = hn::Add(hn::Sqrt(second), epsilon);
    x = N::MulSub(keep, x, hn::Div(hn::Mul(step, first), root));
  }
};

template <class N, bool kMomentum>
struct RmsPropRule : MovingRule {
  using Policy = N;
  static constexpr bool kReadsFirst = kMomentum, kFirst = kMomentum, kSecond = true;
  hn::Vec<D> decay, beta2, rate2, epsilon;
  HWY_INLINE explicit RmsPropRule(const UpdateRule& rule)
      : MovingRule(rule),
        decay(hn::Set(D(), rule.decay)),
        beta2(hn::Set(D(), rule.beta2)),
        rate2(hn::Set(D(), 1.0f - rule.beta2)),
        epsilon(hn::Set(D(), rule.epsilon)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V& second) const {
    second = N::Flush(N::MulAdd(rate2, hn::Mul(g, g), hn::Mul(beta2, second)));
    const V move = hn::Div(hn::Mul(step, g), hn::Sqrt(hn::Add(second, epsilon)));
    if constexpr (kMomentum) {
      first = N::Flush(hn::Sub(hn::Mul(decay, first), move));
      x = hn::Add(x, first);
    } else {
      x = hn::Sub(x, move);
    }
  }
};

template <class N>
struct QuasiGlobalRule : MovingRule {
  using Policy = N;
  static constexpr bool kReadsFirst = true, kFirst = false, kSecond = false;
  hn::Vec<D> decay;
  HWY_INLINE explicit QuasiGlobalRule(const UpdateRule& rule)
      : MovingRule(rule), decay(hn::Set(D(), rule.decay)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V&) const {
    x = N::NegMulAdd(step, N::MulAdd(decay, first, g), x);
  }
};

template <class N>
struct BackpropRule : MovingRule {
  using Policy = N;
  static constexpr bool kReadsFirst = true, kFirst = true, kSecond = false;
  hn::Vec<D> now, before;
  HWY_INLINE explicit BackpropRule(const UpdateRule& rule)
      : MovingRule(rule), now(hn::Set(D(), rule.decay)), before(hn::Set(D(), 1.0f - rule.decay)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V&) const {
    x = N::NegMulAdd(step, N::MulAdd(now, g, hn::Mul(before, first)), x);
    first = g;
  }
};

// Steps one whole vector. Pointers that a rule does not use are not touched.
template <class Rule>
HWY_INLINE void StepVector(const Rule& rule, hn::Vec<hn::ScalableTag<float>> g,
                           float* HWY_RESTRICT x, float* HWY_RESTRICT first,
                           float* HWY_RESTRICT second) {
  const hn::ScalableTag<float> d;
  auto vx = hn::Zero(d);
  auto v1 = hn::Zero(d);
  auto v2 = hn::Zero(d);
  if constexpr (Rule::kWritesX) {
    vx = hn::LoadU(d, x);
    g = Rule::Policy::MulAdd(rule.l2, vx, g);
  }
  if constexpr (Rule::kReadsFirst) v1 = hn::LoadU(d, first);
  if constexpr (Rule::kSecond) v2 = hn::LoadU(d, second);
  rule.Step(g, vx, v1, v2);
  if constexpr (Rule::kWritesX) hn::StoreU(vx, d, x);
  if constexpr (Rule::kFirst) hn::StoreU(v1, d, first);
  if constexpr (Rule::kSecond) hn::StoreU(v2, d, second);
}

// Steps `count` < lanes elements through padded copies, so that nothing beyond them is read or
// written.
template <class Rule>
HWY_NOINLINE void StepTail(const Rule& rule, const float* gradient, std::size_t count, float* x,
                           float* first, float* second) {
  const hn::ScalableTag<float> d;
  HWY_ALIGN float copy[4][HWY_MAX_BYTES / sizeof(float)] = {};
  const std::size_t bytes = count * sizeof(float);
  std::memcpy(copy[0], gradient, bytes);
  if constexpr (Rule::kWritesX) std::memcpy(copy[1], x, bytes);
  if constexpr (Rule::kReadsFirst) std::memcpy(copy[2], first, bytes);
  if constexpr (Rule::kSecond) std::memcpy(copy[3], second, bytes);
  StepVector(rule, hn::Load(d, copy[0]), copy[1], copy[2], copy[3]);
  if constexpr (Rule::kWritesX) std::memcpy(x, copy[1], bytes);
  if constexpr (Rule::kFirst) std::memcpy(first, copy[2], bytes);
  if constexpr (Rule::kSecond) std::memcpy(second, copy[3], bytes);
}

template <class Rule>
HWY_NOINLINE void StepRange(const Rule& rule, const float* gradient, std::size_t count, float* x,
                            float* first, float* second) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    StepVector(rule, hn::LoadU(d, gradient + i), x + i, first + i, second + i);
  }
  if (i < count) StepTail(rule, gradient + i, count - i, x + i, first + i, second + i);
}

// Where a rule reads and writes. A slot that the rule does not use points at x, so that all three
// may advance.
struct Slots {
  float* x;
  float* first;
  float* second;
};

HWY_INLINE Slots SlotsAt(const UpdateRule& rule, float* x, std::size_t offset) {
  return {x + offset, (rule.first != nullptr ? rule.first : x) + offset,
          (rule.second != nullptr ? rule.second : x) + offset};
}

// Calls body(rule object) with the rule that `rule` names, in numerics N.
template <class N, class Body>
HWY_INLINE void WithRule(const UpdateRule& rule, Body body) {
  switch (rule.kind) {
    case UpdateKind::kStore:
      return body(StoreRule<N>(rule));
    case UpdateKind::kAccumulate:
      return body(AccumulateRule<N>(rule));
    case UpdateKind::kSgd:
      return body(SgdRule<N>(rule));
    case UpdateKind::kMomentum:
    case UpdateKind::kNesterov:
      return body(MomentumRule<N>(rule));
    case UpdateKind::kAdam:
      return body(AdamRule<N>(rule));
    case UpdateKind::kRmsProp:
      return body(RmsPropRule<N, false>(rule));
    case UpdateKind::kRmsPropMomentum:
      return body(RmsPropRule<N, true>(rule));
    case UpdateKind::kQuasiGlobal:
      return body(QuasiGlobalRule<N>(rule));
    case UpdateKind::kBackprop:
      return body(BackpropRule<N>(rule));
  }
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
