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

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One rule: which of x, first, second it writes, and the step for one vector (equations: update.h).
struct StoreRule {
  static constexpr bool kReadsFirst = false, kWritesX = false, kFirst = true, kSecond = false;
  template <class V>
  HWY_INLINE void Step(V g, V&, V& first, V&) const {
    first = g;
  }
  HWY_INLINE explicit StoreRule(const UpdateRule&) {}
};

struct SgdRule {
  static constexpr bool kReadsFirst = false, kWritesX = true, kFirst = false, kSecond = false;
  using D = hn::ScalableTag<float>;
  hn::Vec<D> step;
  HWY_INLINE explicit SgdRule(const UpdateRule& rule) : step(hn::Set(D(), rule.step)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V&, V&) const {
    x = hn::NegMulAdd(step, g, x);
  }
};

struct MomentumRule {
  static constexpr bool kReadsFirst = true, kWritesX = true, kFirst = true, kSecond = false;
  using D = hn::ScalableTag<float>;
  hn::Vec<D> step, decay;
  HWY_INLINE explicit MomentumRule(const UpdateRule& rule)
      : step(hn::Set(D(), rule.step)), decay(hn::Set(D(), rule.decay)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V&) const {
    first = hn::NegMulAdd(step, g, hn::Mul(decay, first));
    x = hn::Add(x, first);
  }
};

struct AdamRule {
  static constexpr bool kReadsFirst = true, kWritesX = true, kFirst = true, kSecond = true;
  using D = hn::ScalableTag<float>;
  hn::Vec<D> step, rate1, rate2, epsilon;
  HWY_INLINE explicit AdamRule(const UpdateRule& rule)
      : step(hn::Set(D(), rule.step)),
        rate1(hn::Set(D(), 1.0f - rule.beta1)),
        rate2(hn::Set(D(), 1.0f - rule.beta2)),
        epsilon(hn::Set(D(), rule.epsilon)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V& second) const {
    first = hn::MulAdd(rate1, hn::Sub(g, first), first);
    second = hn::MulAdd(rate2, hn::MulSub(g, g, second), second);
    const V root = hn::Add(hn::Sqrt(second), epsilon);
    x = hn::Sub(x, hn::Div(hn::Mul(step, first), root));
  }
};

struct QuasiGlobalRule {
  static constexpr bool kReadsFirst = true, kWritesX = true, kFirst = false, kSecond = false;
  using D = hn::ScalableTag<float>;
  hn::Vec<D> step, decay;
  HWY_INLINE explicit QuasiGlobalRule(const UpdateRule& rule)
      : step(hn::Set(D(), rule.step)), decay(hn::Set(D(), rule.decay)) {}
  template <class V>
  HWY_INLINE void Step(V g, V& x, V& first, V&) const {
    x = hn::NegMulAdd(step, hn::MulAdd(decay, first, g), x);
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
  if constexpr (Rule::kWritesX) vx = hn::LoadU(d, x);
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

// Calls body(rule object) with the rule that `rule` names.
template <class Body>
HWY_INLINE void WithRule(const UpdateRule& rule, Body body) {
  switch (rule.kind) {
    case UpdateKind::kStore:
      return body(StoreRule(rule));
    case UpdateKind::kSgd:
      return body(SgdRule(rule));
    case UpdateKind::kMomentum:
      return body(MomentumRule(rule));
    case UpdateKind::kAdam:
      return body(AdamRule(rule));
    case UpdateKind::kQuasiGlobal:
      return body(QuasiGlobalRule(rule));
  }
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
