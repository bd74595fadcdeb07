// Loads and stores of vectors that may be cut short. Compiled once for each level.
#if defined(COVEY_TENSOR_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_PART_INL_H_
#undef COVEY_TENSOR_PART_INL_H_
#else
#define COVEY_TENSOR_PART_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Returns: the first `count` elements from `from` on, or a whole vector where that is less; zeros
// in the rest. Reads nothing beyond.
template <class D>
HWY_INLINE hn::Vec<D> LoadPart(D d, const hn::TFromD<D>* from, std::size_t count) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::LoadU(d, from);
  HWY_ALIGN hn::TFromD<D> copy[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)] = {};
  std::memcpy(copy, from, count * sizeof(copy[0]));
  return hn::Load(d, copy);
}

// Stores the first `count` elements, or all where that is more. Writes nothing beyond.
template <class D>
HWY_INLINE void StorePart(D d, hn::Vec<D> value, std::size_t count, hn::TFromD<D>* to) {
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::StoreU(value, d, to);
  HWY_ALIGN hn::TFromD<D> copy[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(value, d, copy);
  std::memcpy(to, copy, count * sizeof(copy[0]));
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
