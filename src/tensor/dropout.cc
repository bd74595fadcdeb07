#include "covey/tensor/dropout.h"

#include <cmath>

#include "covey/base/check.h"
#include "covey/base/random.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/dropout.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/part-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DU = hn::RebindToUnsigned<DF>;
using VU = hn::Vec<DU>;

HWY_INLINE VU Mix(VU x) {
  const DU du;
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(du, 0x7feb352du));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Mul(x, hn::Set(du, 0x846ca68bu));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

void Drop(const DropoutMask& mask, const DropoutGrid& grid, std::uint32_t threshold,
          const float* in, float* out) {
  const DF df;
  const DU du;
  const hn::RebindToSigned<DF> di;
  const std::size_t lanes = hn::Lanes(df);
  const auto scale = hn::Set(df, 1.0f / (1.0f - mask.rate));
  const auto below = hn::Set(di, static_cast<std::int32_t>(threshold));
  const VU own = hn::Mul(hn::Iota(du, 0), hn::Set(du, grid.column_step));
  for (std::size_t r = 0; r < grid.rows; ++r) {
    const std::uint32_t row = grid.first + static_cast<std::uint32_t>(r) * grid.row_step;
    for (std::size_t c = 0; c < grid.columns; c += lanes) {
      const std::size_t at = r * grid.stride + c;
      const std::uint32_t first = row + static_cast<std::uint32_t>(c) * grid.column_step;
      const VU number = hn::Add(own, hn::Set(du, first));
      const VU bits =
          Mix(hn::Xor(Mix(hn::Xor(number, hn::Set(du, mask.keys[0]))), hn::Set(du, mask.keys[1])));
      const auto dropped = hn::Gt(below, hn::BitCast(di, hn::ShiftRight<8>(bits)));
      const auto value = hn::Mul(LoadPart(df, in + at, grid.columns - c), scale);
      StorePart(df, hn::IfThenZeroElse(hn::RebindMask(df, dropped), value), grid.columns - c,
                out + at);
    }
  }
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Drop);

DropoutMask MaskOf(float rate, std::uint64_t seed, std::uint32_t layer, std::uint64_t step) {
  COVEY_CHECK(rate >= 0 && rate < 1, rate);
  Stream stream(seed, layer, Purpose::kDropout);
  stream.Seek(2 * step);
  DropoutMask mask{.rate = rate};
  for (std::uint32_t& key : mask.keys) key = stream.Next32();
  return mask;
}

void ApplyDropout(const DropoutMask& mask, const DropoutGrid& grid, const float* in, float* out) {
  const auto threshold = static_cast<std::uint32_t>(std::lround(std::ldexp(mask.rate, 24)));
  HWY_DYNAMIC_DISPATCH(Drop)(mask, grid, threshold, in, out);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
