// Conversions to and from narrow formats.
#include "tensor/narrow.h"

#include <bit>
#include <cstdint>

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/narrow.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using NarrowF = hn::ScalableTag<float>;
using NarrowI = hn::RebindToSigned<NarrowF>;
using NarrowU16 = hn::Rebind<std::uint16_t, NarrowF>;
using NarrowI8 = hn::Rebind<std::int8_t, NarrowF>;

constexpr std::int32_t kSign = INT32_MIN;
constexpr std::int32_t kMagnitude = INT32_MAX;
constexpr std::int32_t kInfinity = 0x7f800000;
constexpr std::int32_t kFirstNormal16 = 113 << 23;  // 2^-14
// Adding 2^-1 to a smaller number leaves its multiple of 2^-24, the unit of binary16's denormals,
// rounded to nearest even in the lowest bits.
constexpr std::int32_t kDenormalMagic = 126 << 23;
constexpr std::int32_t kGreatest16Bits = 0x477fe000;  // 65504
constexpr std::int32_t kExponents16 = 112 << 23;      // difference of the exponents' biases

// Only bits are shifted and added, so that the F16C of some levels can't differ from the rest.
template <typename V>
V Float16Bits(V bits) {
  const NarrowF df;
  const NarrowI di;
  const auto sign = hn::And(bits, hn::Set(di, kSign));
  auto magnitude = hn::And(bits, hn::Set(di, kMagnitude));
  const auto nan = hn::Gt(magnitude, hn::Set(di, kInfinity));
  magnitude = hn::Min(magnitude, hn::Set(di, kGreatest16Bits));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto rounded = hn::Add(hn::Add(magnitude, hn::Set(di, 0xfff - kExponents16)), odd);
  const auto normal = hn::ShiftRight<13>(rounded);
  const auto magic = hn::Set(di, kDenormalMagic);
  const auto shifted = hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, magic));
  const auto denormal = hn::Sub(hn::BitCast(di, shifted), magic);
  auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, kFirstNormal16)), denormal, normal);
  half = hn::IfThenElse(nan, hn::Set(di, 0x7e00), half);
  return hn::Or(
      half,
      hn::BitCast(di, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<NarrowI>(), sign))));
}

template <typename V>
V Float32Bits(V half) {
  const NarrowF df;
  const NarrowI di;
  const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(di, 0x8000)));
  const auto shifted = hn::ShiftLeft<13>(hn::And(half, hn::Set(di, 0x7fff)));
  const auto exponent = hn::And(shifted, hn::Set(di, 0x7c00 << 13));
  const auto normal = hn::Add(shifted, hn::Set(di, kExponents16));
  const auto special = hn::Add(normal, hn::Set(di, kExponents16));
  const auto raised = hn::BitCast(df, hn::Add(shifted, hn::Set(di, kFirstNormal16)));
  const auto denormal =
      hn::BitCast(di, hn::Sub(raised, hn::BitCast(df, hn::Set(di, kFirstNormal16))));
  auto bits = hn::IfThenElse(hn::Eq(exponent, hn::Zero(di)), denormal, normal);
  bits = hn::IfThenElse(hn::Eq(exponent, hn::Set(di, 0x7c00 << 13)), special, bits);
  return hn::Or(bits, sign);
}

template <typename V>
V Bfloat16Bits(V bits) {
  const NarrowI di;
  const auto magnitude = hn::And(bits, hn::Set(di, kMagnitude));
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(di, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(di, 0x7fff)), odd);
  // Rounding carries a NaN of few bits to infinity or over the sign: it keeps its upper half.
  const auto quiet = hn::Or(bits, hn::Set(di, 0x00400000));
  const auto kept = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, kInfinity)), quiet, rounded);
  return hn::And(hn::ShiftRight<16>(kept), hn::Set(di, 0xffff));
}

// Applies `convert` to every whole vector, and to the rest through a padded copy.
template <typename From, typename To, typename Load, typename Convert>
void ForVectors(const From* in, std::size_t n, To* out, const Load& load, const Convert& convert) {
  const std::size_t lanes = hn::Lanes(NarrowF());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) convert(load(in + i), out + i);
  if (i == n) return;
  HWY_ALIGN From padded_in[HWY_MAX_BYTES / 2] = {};
  HWY_ALIGN To padded_out[HWY_MAX_BYTES / 2];
  for (std::size_t k = 0; i + k < n; ++k) padded_in[k] = in[i + k];
  convert(load(padded_in), padded_out);
  for (std::size_t k = 0; i + k < n; ++k) out[i + k] = padded_out[k];
}

void ToFloat16Pass(const float* x, std::size_t n, std::uint16_t* out) {
  const auto load = [](const float* at)
                        HWY_ATTR { return hn::BitCast(NarrowI(), hn::LoadU(NarrowF(), at)); };
  ForVectors(x, n, out, load, [](auto bits, std::uint16_t* to) HWY_ATTR {
    hn::StoreU(hn::DemoteTo(NarrowU16(), Float16Bits(bits)), NarrowU16(), to);
  });
}

void FromFloat16Pass(const std::uint16_t* in, std::size_t n, float* x) {
  const auto load = [](const std::uint16_t* at)
                        HWY_ATTR { return hn::PromoteTo(NarrowI(), hn::LoadU(NarrowU16(), at)); };
  ForVectors(in, n, x, load, [](auto half, float* to) HWY_ATTR {
    hn::StoreU(hn::BitCast(NarrowF(), Float32Bits(half)), NarrowF(), to);
  });
}

void ToBfloat16Pass(const float* x, std::size_t n, std::uint16_t* out) {
  const auto load = [](const float* at)
                        HWY_ATTR { return hn::BitCast(NarrowI(), hn::LoadU(NarrowF(), at)); };
  ForVectors(x, n, out, load, [](auto bits, std::uint16_t* to) HWY_ATTR {
    hn::StoreU(hn::DemoteTo(NarrowU16(), Bfloat16Bits(bits)), NarrowU16(), to);
  });
}

void FromBfloat16Pass(const std::uint16_t* in, std::size_t n, float* x) {
  const auto load = [](const std::uint16_t* at)
                        HWY_ATTR { return hn::PromoteTo(NarrowI(), hn::LoadU(NarrowU16(), at)); };
  ForVectors(in, n, x, load, [](auto half, float* to) HWY_ATTR {
    hn::StoreU(hn::BitCast(NarrowF(), hn::ShiftLeft<16>(half)), NarrowF(), to);
  });
}

std::int32_t GreatestBits(const float* x, std::size_t n) {
  const NarrowI di;
  const std::size_t lanes = hn::Lanes(di);
  const auto* bits = reinterpret_cast<const std::int32_t*>(x);
  auto greatest = hn::Zero(di);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    greatest = hn::Max(greatest, hn::And(hn::LoadU(di, bits + i), hn::Set(di, kMagnitude)));
  }
  std::int32_t rest = hn::GetLane(hn::MaxOfLanes(di, greatest));
  for (; i < n; ++i) {
    const std::int32_t one = bits[i] & kMagnitude;
    rest = one > rest ? one : rest;
  }
  return rest;
}

float ToInt8Pass(const float* x, std::size_t n, std::int8_t* out) {
  const float greatest = std::bit_cast<float>(GreatestBits(x, n));
  const float scale = greatest / 127.0f;
  // Below it the inverse would overflow; such a block is as good as zero.
  constexpr float kSmallest = 1e-36f;
  const float inverse = greatest > kSmallest ? 127.0f / greatest : 0.0f;
  const auto load = [](const float* at) HWY_ATTR { return hn::LoadU(NarrowF(), at); };
  ForVectors(x, n, out, load, [inverse](auto values, std::int8_t* to) HWY_ATTR {
    const auto whole = hn::NearestInt(hn::Mul(values, hn::Set(NarrowF(), inverse)));
    hn::StoreU(hn::DemoteTo(NarrowI8(), whole), NarrowI8(), to);
  });
  return greatest <= kSmallest ? 0.0f : scale;
}

void FromInt8Pass(const std::int8_t* in, float scale, std::size_t n, float* x) {
  const auto load = [](const std::int8_t* at)
                        HWY_ATTR { return hn::PromoteTo(NarrowI(), hn::LoadU(NarrowI8(), at)); };
  ForVectors(in, n, x, load, [scale](auto whole, float* to) HWY_ATTR {
    const auto values = hn::ConvertTo(NarrowF(), whole);
    hn::StoreU(hn::Mul(values, hn::Set(NarrowF(), scale)), NarrowF(), to);
  });
}

void DifferencePass(const float* q, float gamma, const float* x, std::size_t n, float* d) {
  const NarrowF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto g = hn::Set(df, gamma);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Mul(g, hn::Sub(hn::LoadU(df, q + i), hn::LoadU(df, x + i))), df, d + i);
  }
  for (; i < n; ++i) d[i] = gamma * (q[i] - x[i]);
}

void AddPass(const float* d, std::size_t n, float* x) {
  const NarrowF df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(df, x + i), hn::LoadU(df, d + i)), df, x + i);
  }
  for (; i < n; ++i) x[i] += d[i];
}

std::uint16_t GreatestMagnitudePass(const std::uint16_t* in, std::size_t n) {
  const hn::ScalableTag<std::uint16_t> du;
  const std::size_t lanes = hn::Lanes(du);
  auto greatest = hn::Zero(du);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    greatest = hn::Max(greatest, hn::And(hn::LoadU(du, in + i), hn::Set(du, 0x7fff)));
  }
  HWY_ALIGN std::uint16_t last[HWY_MAX_BYTES / 2] = {};
  hn::Store(greatest, du, last);
  std::uint16_t rest = 0;
  for (std::size_t k = 0; k < lanes; ++k) rest = last[k] > rest ? last[k] : rest;
  for (; i < n; ++i) {
    const auto one = static_cast<std::uint16_t>(in[i] & 0x7fff);
    rest = one > rest ? one : rest;
  }
  return rest;
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(ToFloat16Pass);
HWY_EXPORT(FromFloat16Pass);
HWY_EXPORT(ToBfloat16Pass);
HWY_EXPORT(FromBfloat16Pass);
HWY_EXPORT(ToInt8Pass);
HWY_EXPORT(FromInt8Pass);
HWY_EXPORT(DifferencePass);
HWY_EXPORT(AddPass);
HWY_EXPORT(GreatestMagnitudePass);

void ToFloat16(const float* x, std::size_t n, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(ToFloat16Pass)(x, n, out);
}

void FromFloat16(const std::uint16_t* in, std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(FromFloat16Pass)(in, n, x);
}

void ToBfloat16(const float* x, std::size_t n, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(ToBfloat16Pass)(x, n, out);
}

void FromBfloat16(const std::uint16_t* in, std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(FromBfloat16Pass)(in, n, x);
}

float ToInt8(const float* x, std::size_t n, std::int8_t* out) {
  return HWY_DYNAMIC_DISPATCH(ToInt8Pass)(x, n, out);
}

void FromInt8(const std::int8_t* in, float scale, std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(FromInt8Pass)(in, scale, n, x);
}

void Difference(const float* q, float gamma, const float* x, std::size_t n, float* d) {
  HWY_DYNAMIC_DISPATCH(DifferencePass)(q, gamma, x, n, d);
}

void Add(const float* d, std::size_t n, float* x) { HWY_DYNAMIC_DISPATCH(AddPass)(d, n, x); }

std::uint16_t GreatestMagnitude(const std::uint16_t* in, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(GreatestMagnitudePass)(in, n);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
