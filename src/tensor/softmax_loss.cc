// Cross-entropy after a softmax, down the classes with the batch in lanes.
#include <cstdint>

#include "covey/base/check.h"
#include "covey/tensor/loss.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/softmax_loss.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/loss-inl.h"
#include "tensor/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One vector of samples. log_sum: log(sum_c exp(y_c)); NaN when any y is not finite.
struct Column {
  VF sum;  // sum_c exp(y_c - greatest)
  VF log_sum;
  VF best;  // class of the greatest output
};

// The terms exp(y_c - greatest) replace the outputs unless `keep` is set.
template <class N>
HWY_INLINE Column Exponentials(std::size_t classes, std::size_t stride, float* outputs, bool keep) {
  const DF df;
  auto greatest = hn::Load(df, outputs);
  auto best = hn::Zero(df);
  auto taint = Taint(greatest);
  for (std::size_t c = 1; c < classes; ++c) {
    const auto y = hn::Load(df, outputs + c * stride);
    const auto above = hn::Gt(y, greatest);
    greatest = hn::IfThenElse(above, y, greatest);
    best = hn::IfThenElse(above, hn::Set(df, static_cast<float>(c)), best);
    taint = hn::Add(taint, Taint(y));
  }
  auto sum = hn::Zero(df);
  for (std::size_t c = 0; c < classes; ++c) {
    const auto term = ExpNonPositive<N>(df, hn::Sub(hn::Load(df, outputs + c * stride), greatest));
    sum = hn::Add(sum, term);
    if (!keep) hn::Store(term, df, outputs + c * stride);
  }
  const auto log_sum = hn::Add(hn::Add(Log<N>(df, sum), greatest), taint);
  return {.sum = sum, .log_sum = log_sum, .best = best};
}

// outputs[c] *= factor.
HWY_INLINE void ScaleClasses(std::size_t classes, std::size_t stride, VF factor, float* outputs) {
  const DF df;
  for (std::size_t c = 0; c < classes; ++c) {
    hn::Store(hn::Mul(hn::Load(df, outputs + c * stride), factor), df, outputs + c * stride);
  }
}

template <class N>
LossSum SparseWith(const LossBatch& batch, const std::uint32_t* labels, float* outputs) {
  const DF df;
  const std::size_t padded = PaddedBatch(batch.batch);
  LossSum result;
  for (std::size_t b = 0; b < padded; b += hn::Lanes(df)) {
    const Samples samples(batch, b);
    Lanes label = {};  // the label's output
    for (std::size_t i = 0; i < samples.filled; ++i) {
      label.at[i] = outputs[labels[b + i] * padded + b + i];
    }
    const Column column = Exponentials<N>(batch.outputs, padded, outputs + b, batch.scale == 0);
    Lanes loss, best, scale;
    hn::Store(hn::Sub(column.log_sum, hn::Load(df, label.at)), df, loss.at);
    hn::Store(column.best, df, best.at);
    hn::Store(samples.scale, df, scale.at);
    samples.AddTo(result, loss);
    for (std::size_t i = 0; i < samples.filled; ++i) {
      result.correct += best.at[i] == static_cast<float>(labels[b + i]) ? 1u : 0u;
    }
    if (batch.scale == 0) continue;
    ScaleClasses(batch.outputs, padded, hn::Div(samples.scale, column.sum), outputs + b);
    for (std::size_t i = 0; i < samples.filled; ++i) {
      outputs[labels[b + i] * padded + b + i] -= scale.at[i];
    }
  }
  return result;
}

// -sum_c t_c (y_c - log_sum) of one vector of samples. Returns also what the gradient needs.
struct Compared {
  VF total;  // sum_c t_c
  VF loss;
  VF best;  // class of the greatest target
};

template <class N>
HWY_INLINE Compared CompareTargets(std::size_t classes, std::size_t stride, const float* targets,
                                   const float* outputs) {
  const DF df;
  auto greatest = hn::Load(df, targets);
  auto best = hn::Zero(df);
  auto total = hn::Zero(df);
  auto product = hn::Zero(df);
  for (std::size_t c = 0; c < classes; ++c) {
    const auto t = hn::Load(df, targets + c * stride);
    const auto above = hn::Gt(t, greatest);
    greatest = hn::IfThenElse(above, t, greatest);
    best = hn::IfThenElse(above, hn::Set(df, static_cast<float>(c)), best);
    total = hn::Add(total, t);
    product = N::MulAdd(t, hn::Load(df, outputs + c * stride), product);
  }
  return {.total = total, .loss = product, .best = best};
}

template <class N>
LossSum TargetsWith(const LossBatch& batch, const float* targets, float* outputs) {
  const DF df;
  const std::size_t padded = PaddedBatch(batch.batch);
  LossSum result;
  for (std::size_t b = 0; b < padded; b += hn::Lanes(df)) {
    const Samples samples(batch, b);
    const Compared wanted = CompareTargets<N>(batch.outputs, padded, targets + b, outputs + b);
    const Column column = Exponentials<N>(batch.outputs, padded, outputs + b, batch.scale == 0);
    Lanes loss, best, right;
    hn::Store(hn::Sub(hn::Mul(wanted.total, column.log_sum), wanted.loss), df, loss.at);
    hn::Store(column.best, df, best.at);
    hn::Store(wanted.best, df, right.at);
    samples.AddTo(result, loss);
    for (std::size_t i = 0; i < samples.filled; ++i) {
      result.correct += best.at[i] == right.at[i] ? 1u : 0u;
    }
    if (batch.scale == 0) continue;
    const auto factor = hn::Div(hn::Mul(samples.scale, wanted.total), column.sum);
    for (std::size_t c = 0; c < batch.outputs; ++c) {
      float* at = outputs + c * padded + b;
      const auto t = hn::Load(df, targets + c * padded + b);
      const auto gradient = N::NegMulAdd(samples.scale, t, hn::Mul(hn::Load(df, at), factor));
      hn::Store(hn::IfThenElseZero(hn::FirstN(df, samples.filled), gradient), df, at);
    }
  }
  return result;
}

LossSum Sparse(const LossBatch& batch, const std::uint32_t* labels, float* outputs) {
  return WithNumerics(batch.numerics, [&](auto policy) HWY_ATTR {
    return SparseWith<decltype(policy)>(batch, labels, outputs);
  });
}

LossSum Targets(const LossBatch& batch, const float* targets, float* outputs) {
  return WithNumerics(batch.numerics, [&](auto policy) HWY_ATTR {
    return TargetsWith<decltype(policy)>(batch, targets, outputs);
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Sparse);
HWY_EXPORT(Targets);

LossSum SoftmaxCrossEntropy(const LossBatch& batch, const std::uint32_t* labels, float* outputs) {
  for (std::size_t b = 0; b < batch.batch; ++b) {
    COVEY_CHECK(labels[b] < batch.outputs, labels[b], batch.outputs);
  }
  return HWY_DYNAMIC_DISPATCH(Sparse)(batch, labels, outputs);
}

LossSum SoftmaxCrossEntropyTargets(const LossBatch& batch, const float* targets, float* outputs) {
  return HWY_DYNAMIC_DISPATCH(Targets)(batch, targets, outputs);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
