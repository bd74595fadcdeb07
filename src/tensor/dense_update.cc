// Gradient of the weights, fused with the update of an optimizer.
#include <algorithm>

#include "covey/base/check.h"
#include "covey/tensor/dense.h"
#include "tensor/dense_limits.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/dense_update.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/pack-inl.h"
#include "tensor/rules-inl.h"
#include "tensor/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// 32 registers hold 4 x 7 sums, 16 registers 4 x 3 (4 x 2 where a product needs a register of its
// own).
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
template <class N>
constexpr std::size_t kStripVectors = 7;
#elif HWY_TARGET == HWY_AVX2
template <class N>
constexpr std::size_t kStripVectors = N::kPortable ? 2 : 3;
#else
template <class N>
constexpr std::size_t kStripVectors = 2;
#endif
constexpr std::size_t kStripUnits = 4;

// Units whose bias gradients are summed before the rule is applied to them.
constexpr std::size_t kBiasUnits = 64;

// One strip of features against all units.
struct Strip {
  DenseShape shape;
  std::size_t weight_stride;
  const float* input = nullptr;  // [batch][stride]
  std::size_t stride = 0;
  std::size_t first = 0;  // feature of column 0
  std::size_t count = 0;  // features in the strip
  const float* delta;     // [units][padded]
  std::size_t padded;
};

// The gradient of R units and C vectors of features.
template <class N, std::size_t R, std::size_t C>
HWY_INLINE void SumGradient(const Strip& strip, std::size_t u0, std::size_t k0, Tile<R, C>& tile) {
  tile.Clear();
  tile.template Accumulate<N>(strip.delta + u0 * strip.padded, strip.padded, 1, strip.input + k0,
                              strip.stride, strip.shape.batch);
}

// The same, left in `gradient` [R][C lanes].
template <class N, std::size_t R, std::size_t C>
HWY_NOINLINE void GradientTile(const Strip& strip, std::size_t u0, std::size_t k0,
                               float* HWY_RESTRICT gradient) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  Tile<R, C> tile;
  SumGradient<N>(strip, u0, k0, tile);
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t c = 0; c < C; ++c) {
      hn::Store(tile.acc[r][c], df, gradient + (r * C + c) * lanes);
    }
  }
}

// Tiles at the edges: the gradient passes through memory, which keeps the number of fused loops
// small.
template <class N, std::size_t R, std::size_t C, class Rule>
void UpdateEdge(const Strip& strip, const Rule& rule, const Slots& slots, std::size_t u0,
                std::size_t k0) {
  const std::size_t lanes = hn::Lanes(DF());
  HWY_ALIGN float gradient[R * C * HWY_MAX_BYTES / sizeof(float)];
  GradientTile<N, R, C>(strip, u0, k0, gradient);
  const std::size_t width = std::min(C * lanes, strip.count - k0);
  for (std::size_t r = 0; r < R; ++r) {
    const std::size_t i = (u0 + r) * strip.weight_stride + strip.first + k0;
    StepRange(rule, gradient + r * C * lanes, width, slots.x + i, slots.first + i,
              slots.second + i);
  }
}

// A whole tile: the gradient goes from its registers straight into the rule. (Without fused
// multiply-adds the sums need all registers but one for products, and the rule would spill them.)
template <class N, class Rule>
void UpdateTile(const Strip& strip, const Rule& rule, const Slots& slots, std::size_t u0,
                std::size_t k0) {
  constexpr std::size_t kVectors = kStripVectors<N>;
  if constexpr (N::kPortable) {
    return UpdateEdge<N, kStripUnits, kVectors>(strip, rule, slots, u0, k0);
  }
  const std::size_t lanes = hn::Lanes(DF());
  Tile<kStripUnits, kVectors> tile;
  SumGradient<N>(strip, u0, k0, tile);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kStripUnits; ++r) {
#pragma GCC unroll 16
    for (std::size_t c = 0; c < kVectors; ++c) {
      const std::size_t i = (u0 + r) * strip.weight_stride + strip.first + k0 + c * lanes;
      StepVector(rule, tile.acc[r][c], slots.x + i, slots.first + i, slots.second + i);
    }
  }
}

template <class N, class Rule>
void UpdateStrip(const Strip& strip, const Rule& rule, const Slots& slots) {
  constexpr std::size_t kVectors = kStripVectors<N>;
  const std::size_t lanes = hn::Lanes(DF());
  const std::size_t whole = strip.shape.units / kStripUnits * kStripUnits;
  std::size_t k = 0;
  for (; k + kVectors * lanes <= strip.count; k += kVectors * lanes) {
    for (std::size_t u = 0; u < whole; u += kStripUnits) UpdateTile<N>(strip, rule, slots, u, k);
    for (std::size_t u = whole; u < strip.shape.units; ++u) {
      UpdateEdge<N, 1, kVectors>(strip, rule, slots, u, k);
    }
  }
  for (; k < strip.count; k += lanes) {
    for (std::size_t u = 0; u < whole; u += kStripUnits) {
      UpdateEdge<N, kStripUnits, 1>(strip, rule, slots, u, k);
    }
    for (std::size_t u = whole; u < strip.shape.units; ++u) {
      UpdateEdge<N, 1, 1>(strip, rule, slots, u, k);
    }
  }
}

// Sums over the batch: over lanes, or by ascending sample.
template <class N>
HWY_INLINE float BiasGradient(const float* delta, std::size_t batch) {
  if constexpr (N::kPortable) {
    float sum = 0;
    for (std::size_t b = 0; b < batch; ++b) sum += delta[b];
    return sum;
  } else {
    const DF df;
    auto sum = hn::Zero(df);
    for (std::size_t b = 0; b < batch; b += hn::Lanes(df)) {
      sum = hn::Add(sum, hn::Load(df, delta + b));
    }
    return hn::GetLane(hn::SumOfLanes(df, sum));
  }
}

template <class N, class Rule>
void UpdateBias(const DenseShape& shape, const float* delta, const Rule& rule, const Slots& slots) {
  const std::size_t padded = PaddedBatch(shape.batch);
  float gradient[kBiasUnits];
  for (std::size_t first = 0; first < shape.units; first += kBiasUnits) {
    const std::size_t count = std::min(kBiasUnits, shape.units - first);
    for (std::size_t i = 0; i < count; ++i) {
      gradient[i] = BiasGradient<N>(delta + (first + i) * padded, shape.batch);
    }
    StepRange(rule, gradient, count, slots.x + first, slots.first + first, slots.second + first);
  }
}

// Brings features [strip.first, strip.first + strip.count) of the input into the order by sample.
template <class N>
void PackStrip(const DenseInput& input, float* scratch, Strip& strip) {
  if (input.samples != nullptr) {
    strip.input = input.samples + strip.first;
    strip.stride = input.sample_stride;
    return;
  }
  strip.input = scratch;
  strip.stride = kStripFeatures;
  if (input.activations != nullptr) {
    PackActivationsBySample(input.activations, strip.first, strip.count, strip.padded, strip.stride,
                            scratch);
  } else {
    PackRowsBySample<N>(input.rows, strip.first, strip.count, strip.shape.batch, strip.stride,
                        scratch);
  }
}

template <class N>
void UpdateLayerWith(const DenseShape& shape, const DenseInput& input, const float* delta,
                     const UpdateRule& rule, const DenseParameters& parameters, float* scratch) {
  WithRule<N>(rule, [&](const auto& typed) HWY_ATTR {
    const Slots weights = SlotsAt(rule, parameters.x, parameters.weights);
    Strip strip{.shape = shape,
                .weight_stride = shape.weight_stride != 0 ? shape.weight_stride : shape.inputs,
                .delta = delta,
                .padded = PaddedBatch(shape.batch)};
    for (std::size_t k = 0; k < shape.inputs; k += kStripFeatures) {
      strip.first = k;
      strip.count = std::min(kStripFeatures, shape.inputs - k);
      PackStrip<N>(input, scratch, strip);
      UpdateStrip<N>(strip, typed, weights);
    }
    UpdateBias<N>(shape, delta, typed, SlotsAt(rule, parameters.x, parameters.bias));
  });
}

void UpdateLayer(const DenseShape& shape, const DenseInput& input, const float* delta,
                 const UpdateRule& rule, const DenseParameters& parameters, float* scratch) {
  WithNumerics(shape.numerics, [&](auto policy) HWY_ATTR {
    UpdateLayerWith<decltype(policy)>(shape, input, delta, rule, parameters, scratch);
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(UpdateLayer);

std::size_t DenseScratchSize(std::size_t batch) {
  return std::max(kStripFeatures * PaddedBatch(batch), kPanelFeatures * kPanelSamples);
}

void DenseUpdate(const DenseShape& shape, const DenseInput& input, const float* delta,
                 const UpdateRule& rule, const DenseParameters& parameters, float* scratch) {
  COVEY_CHECK(input.activations != nullptr || input.rows.rows != nullptr ||
              input.samples != nullptr);
  HWY_DYNAMIC_DISPATCH(UpdateLayer)(shape, input, delta, rule, parameters, scratch);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
