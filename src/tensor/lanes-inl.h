// Vectors of floats, and the most that one holds. Compiled once for each level.
#if defined(COVEY_TENSOR_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_LANES_INL_H_
#undef COVEY_TENSOR_LANES_INL_H_
#else
#define COVEY_TENSOR_LANES_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

namespace covey::tensor::HWY_NAMESPACE {

using DF = hwy::HWY_NAMESPACE::ScalableTag<float>;
using VF = hwy::HWY_NAMESPACE::Vec<DF>;

constexpr std::size_t kMaxLanes = HWY_MAX_BYTES / sizeof(float);

}  // namespace covey::tensor::HWY_NAMESPACE

#endif  // include guard
