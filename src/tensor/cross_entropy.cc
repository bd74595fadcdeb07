// Softmax and cross-entropy, down the classes with the batch in lanes.
#include <cstdint>

#include "covey/base/check.h"
#include "covey/tensor/dense.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/cross_entropy.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;

// Where a sample's loss goes to its lane: log(sum exp(logit - greatest)) + greatest; NaN when a
// logit is not finite.
struct Column {
  float log_sum[HWY_MAX_BYTES / sizeof(float)];
  float best[HWY_MAX_BYTES / sizeof(float)];  // class of the greatest logit
};

// One vector of samples. Returns: the sums of exponentials, whose terms replaced the logits when
// `keep` is false.
HWY_INLINE hn::Vec<DF> Exponentials(std::size_t classes, std::size_t stride, float* logits,
                                    bool keep, Column& column) {
  const DF df;
  auto greatest = hn::Load(df, logits);
  auto best = hn::Zero(df);
  // 0 * logit is 0 but for NaN and infinities, which exp would swallow.
  auto taint = hn::Mul(greatest, hn::Zero(df));
  for (std::size_t c = 1; c < classes; ++c) {
    const auto logit = hn::Load(df, logits + c * stride);
    const auto above = hn::Gt(logit, greatest);
    greatest = hn::IfThenElse(above, logit, greatest);
    best = hn::IfThenElse(above, hn::Set(df, static_cast<float>(c)), best);
    taint = hn::Add(taint, hn::Mul(logit, hn::Zero(df)));
  }
  auto sum = hn::Zero(df);
  for (std::size_t c = 0; c < classes; ++c) {
    const auto term = hn::Exp(df, hn::Sub(hn::Load(df, logits + c * stride), greatest));
    sum = hn::Add(sum, term);
    if (!keep) hn::Store(term, df, logits + c * stride);
  }
  hn::StoreU(hn::Add(hn::Add(hn::Log(df, sum), greatest), taint), df, column.log_sum);
  hn::StoreU(best, df, column.best);
  return sum;
}

CrossEntropy Softmax(std::size_t classes, std::size_t batch, const std::uint32_t* labels,
                     float scale, float* logits) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t padded = PaddedBatch(batch);
  const bool keep = scale == 0;
  CrossEntropy result;
  for (std::size_t b = 0; b < padded; b += lanes) {
    const std::size_t filled = b >= batch ? 0 : (batch - b < lanes ? batch - b : lanes);
    float own[HWY_MAX_BYTES / sizeof(float)] = {};  // the label's logit
    for (std::size_t i = 0; i < filled; ++i) own[i] = logits[labels[b + i] * padded + b + i];
    Column column;
    const auto sum = Exponentials(classes, padded, logits + b, keep, column);
    for (std::size_t i = 0; i < filled; ++i) {
      result.loss_sum += static_cast<double>(column.log_sum[i]) - static_cast<double>(own[i]);
      result.correct += column.best[i] == static_cast<float>(labels[b + i]) ? 1u : 0u;
    }
    if (keep) continue;
    const auto weight =
        hn::IfThenElseZero(hn::FirstN(df, filled), hn::Div(hn::Set(df, scale), sum));
    for (std::size_t c = 0; c < classes; ++c) {
      float* at = logits + c * padded + b;
      hn::Store(hn::Mul(hn::Load(df, at), weight), df, at);
    }
    for (std::size_t i = 0; i < filled; ++i) logits[labels[b + i] * padded + b + i] -= scale;
  }
  return result;
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Softmax);

CrossEntropy SoftmaxCrossEntropy(std::size_t classes, std::size_t batch,
                                 const std::uint32_t* labels, float scale, float* logits) {
  for (std::size_t b = 0; b < batch; ++b) COVEY_CHECK(labels[b] < classes, labels[b], classes);
  return HWY_DYNAMIC_DISPATCH(Softmax)(classes, batch, labels, scale, logits);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
