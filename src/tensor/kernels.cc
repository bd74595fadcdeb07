// Element-wise passes and reductions over flat vectors.
#include "covey/tensor/kernels.h"

#include <cstdint>

#include "covey/base/check.h"
#include "covey/tensor/codec.h"
#include "tensor/passes.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;

// Four vectors a turn, and each array's four stores side by side: turn about, two arrays that both
// miss the first cache cost 1.4 times as much (bench_kernels, BM_Pull). Not HWY_RESTRICT, or g++
// loads x again behind the stores to d, and waits where both lie alike in their pages.
void PullPass(const float* q, float gamma, std::size_t n, float* x, float* d) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto g = hn::Set(df, gamma);
  const auto load = [&](const float* from, std::size_t at)
                        HWY_ATTR { return hn::LoadU(df, from + at); };
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const std::size_t at1 = i + lanes;
    const std::size_t at2 = at1 + lanes;
    const std::size_t at3 = at2 + lanes;
    const auto x0 = load(x, i);
    const auto x1 = load(x, at1);
    const auto x2 = load(x, at2);
    const auto x3 = load(x, at3);
    const auto d0 = hn::Mul(g, hn::Sub(load(q, i), x0));
    const auto d1 = hn::Mul(g, hn::Sub(load(q, at1), x1));
    const auto d2 = hn::Mul(g, hn::Sub(load(q, at2), x2));
    const auto d3 = hn::Mul(g, hn::Sub(load(q, at3), x3));
    hn::StoreU(d0, df, d + i);
    hn::StoreU(d1, df, d + at1);
    hn::StoreU(d2, df, d + at2);
    hn::StoreU(d3, df, d + at3);
    hn::StoreU(hn::Add(x0, d0), df, x + i);
    hn::StoreU(hn::Add(x1, d1), df, x + at1);
    hn::StoreU(hn::Add(x2, d2), df, x + at2);
    hn::StoreU(hn::Add(x3, d3), df, x + at3);
  }
  for (; i < n; ++i) {
    const float delta = gamma * (q[i] - x[i]);
    d[i] = delta;
    x[i] = x[i] + delta;
  }
}

void SubtractPass(const float* HWY_RESTRICT d, std::size_t n, float* HWY_RESTRICT x) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Sub(hn::LoadU(df, x + i), hn::LoadU(df, d + i)), df, x + i);
  }
  for (; i < n; ++i) x[i] -= d[i];
}

void AxpyPass(float a, const float* HWY_RESTRICT x, std::size_t n, float* HWY_RESTRICT y) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto va = hn::Set(df, a);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(df, y + i), hn::Mul(va, hn::LoadU(df, x + i))), df, y + i);
  }
  for (; i < n; ++i) y[i] += a * x[i];
}

// The bits without the sign are ordered like the magnitude, and Inf and NaN come above every
// number: an element is good when they are below those of 2^64.
bool BoundedPass(const float* x, std::size_t n) {
  const hn::ScalableTag<std::int32_t> di;
  const std::size_t lanes = hn::Lanes(di);
  const auto* bits = reinterpret_cast<const std::int32_t*>(x);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  auto greatest = hn::Zero(di);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    greatest = hn::Max(greatest, hn::And(hn::LoadU(di, bits + i), magnitude));
  }
  std::int32_t rest = hn::GetLane(hn::MaxOfLanes(di, greatest));
  for (; i < n; ++i) {
    const std::int32_t one = bits[i] & 0x7fffffff;
    rest = one > rest ? one : rest;
  }
  return rest < kTwoTo64Bits;
}

// sum (a - b)^2 in double; b null counts as zeros. Element i goes to sum i mod 16 whatever the
// width of a vector, and nothing is fused: the same bits on every level.
double SquaresPass(const float* a, const float* b, std::size_t n) {
  constexpr std::size_t kSums = 16;
  HWY_ALIGN double sums[kSums] = {};
  std::size_t i = 0;
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> half;
  const std::size_t lanes = hn::Lanes(dd);
  const auto add = [&](std::size_t at, std::size_t slot) HWY_ATTR {
    auto value = hn::PromoteTo(dd, hn::LoadU(half, a + at));
    if (b != nullptr) value = hn::Sub(value, hn::PromoteTo(dd, hn::LoadU(half, b + at)));
    hn::Store(hn::Add(hn::Mul(value, value), hn::Load(dd, sums + slot)), dd, sums + slot);
  };
  for (; i + kSums <= n; i += kSums) {
    for (std::size_t slot = 0; slot < kSums; slot += lanes) add(i + slot, slot);
  }
#endif
  for (; i < n; ++i) {
    const double value = static_cast<double>(a[i]) - (b != nullptr ? static_cast<double>(b[i]) : 0);
    sums[i % kSums] += value * value;
  }
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(PullPass);
HWY_EXPORT(SubtractPass);
HWY_EXPORT(AxpyPass);
HWY_EXPORT(BoundedPass);
HWY_EXPORT(SquaresPass);

void PullFloats(const float* q, float gamma, std::size_t n, float* x, float* d) {
  HWY_DYNAMIC_DISPATCH(PullPass)(q, gamma, n, x, d);
}

void SubtractFloats(const float* d, std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(SubtractPass)(d, n, x);
}

bool BoundedFloats(const float* x, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(BoundedPass)(x, n);
}

void Axpy(float a, ConstVectorView x, VectorView y) {
  COVEY_CHECK(x.size() == y.size(), x.size(), y.size());
  HWY_DYNAMIC_DISPATCH(AxpyPass)(a, x.data(), x.size(), y.data());
}

double SquaredNorm(ConstVectorView x) {
  return HWY_DYNAMIC_DISPATCH(SquaresPass)(x.data(), nullptr, x.size());
}

double SquaredDistance(ConstVectorView a, ConstVectorView b) {
  COVEY_CHECK(a.size() == b.size(), a.size(), b.size());
  return HWY_DYNAMIC_DISPATCH(SquaresPass)(a.data(), b.data(), a.size());
}

bool AllFinite(ConstVectorView x) { return BoundedFloats(x.data(), x.size()); }

}  // namespace covey::tensor
#endif  // HWY_ONCE
