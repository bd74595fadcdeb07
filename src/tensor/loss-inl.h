// What the losses share. Compiled once for each level.
#if defined(COVEY_TENSOR_LOSS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_LOSS_INL_H_
#undef COVEY_TENSOR_LOSS_INL_H_
#else
#define COVEY_TENSOR_LOSS_INL_H_
#endif

#include <cstddef>

#include "covey/tensor/loss.h"
#include "hwy/highway.h"
#include "tensor/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One number for each sample of a vector.
struct Lanes {
  HWY_ALIGN float at[kMaxLanes];
};

// The samples of one vector: how many there are and what each counts.
struct Samples {
  std::size_t first = 0;
  std::size_t filled = 0;  // the rest is padding
  Lanes weight;            // 1 where there are no weights; 0 in the padding
  VF scale;                // batch.scale * weight

  HWY_INLINE Samples(const LossBatch& batch, std::size_t b) : first(b) {
    const DF df;
    const std::size_t lanes = hn::Lanes(df);
    filled = b >= batch.batch ? 0 : (batch.batch - b < lanes ? batch.batch - b : lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
      weight.at[i] = i >= filled ? 0.0f : (batch.weights != nullptr ? batch.weights[b + i] : 1.0f);
    }
    scale = hn::Mul(hn::Set(df, batch.scale), hn::Load(df, weight.at));
  }

  // sum += w l over the samples, in ascending order.
  HWY_INLINE void AddTo(LossSum& sum, const Lanes& loss) const {
    for (std::size_t i = 0; i < filled; ++i) {
      sum.loss_sum += static_cast<double>(weight.at[i]) * static_cast<double>(loss.at[i]);
    }
  }
};

// 0 where x is finite, else NaN: added to what would hide that a number is not finite.
HWY_INLINE VF Taint(VF x) { return hn::Sub(x, x); }

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
