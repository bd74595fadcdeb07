// Gradient of the weights, fused with the update of an optimizer.
#include <algorithm>

#include "covey/base/check.h"
#include "covey/tensor/dense.h"
#include "tensor/dense_limits.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/dense_update.cc"
#include "hwy/foreach_target.h"
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
constexpr std::size_t kStripVectors = 7;
#elif HWY_TARGET == HWY_AVX2
constexpr std::size_t kStripVectors = 3;
#else
constexpr std::size_t kStripVectors = 2;
#endif
constexpr std::size_t kStripUnits = 4;

// One strip of features against all units.
struct Strip {
  DenseShape shape;
  const float* input;  // [batch][stride]
  std::size_t stride;
  std::size_t first = 0;  // feature of column 0
  std::size_t count = 0;  // features in the strip
  const float* delta;     // [units][padded]
  std::size_t padded;
};

// The gradient of R units and C vectors of features, left in `gradient` [R][C lanes].
template <std::size_t R, std::size_t C>
HWY_NOINLINE void GradientTile(const Strip& strip, std::size_t u0, std::size_t k0,
                               float* HWY_RESTRICT gradient) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  Tile<R, C> tile;
  tile.Clear();
  tile.Accumulate(strip.delta + u0 * strip.padded, strip.padded, 1, strip.input + k0, strip.stride,
                  strip.shape.batch);
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t c = 0; c < C; ++c) {
      hn::Store(tile.acc[r][c], df, gradient + (r * C + c) * lanes);
    }
  }
}

// Tiles at the edges: the gradient passes through memory, which keeps the number of fused loops
// small.
template <std::size_t R, std::size_t C, class Rule>
void UpdateEdge(const Strip& strip, const Rule& rule, const Slots& slots, std::size_t u0,
                std::size_t k0) {
  const std::size_t lanes = hn::Lanes(DF());
  HWY_ALIGN float gradient[R * C * HWY_MAX_BYTES / sizeof(float)];
  GradientTile<R, C>(strip, u0, k0, gradient);
  const std::size_t width = std::min(C * lanes, strip.count - k0);
  for (std::size_t r = 0; r < R; ++r) {
    const std::size_t i = (u0 + r) * strip.shape.inputs + strip.first + k0;
    StepRange(rule, gradient + r * C * lanes, width, slots.x + i, slots.first + i,
              slots.second + i);
  }
}

// A whole tile: the gradient goes from its registers straight into the rule.
template <class Rule>
void UpdateTile(const Strip& strip, const Rule& rule, const Slots& slots, std::size_t u0,
                std::size_t k0) {
  const std::size_t lanes = hn::Lanes(DF());
  Tile<kStripUnits, kStripVectors> tile;
  tile.Clear();
  tile.Accumulate(strip.delta + u0 * strip.padded, strip.padded, 1, strip.input + k0, strip.stride,
                  strip.shape.batch);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kStripUnits; ++r) {
#pragma GCC unroll 16
    for (std::size_t c = 0; c < kStripVectors; ++c) {
      const std::size_t i = (u0 + r) * strip.shape.inputs + strip.first + k0 + c * lanes;
      StepVector(rule, tile.acc[r][c], slots.x + i, slots.first + i, slots.second + i);
    }
  }
}

template <class Rule>
void UpdateStrip(const Strip& strip, const Rule& rule, const Slots& slots) {
  const std::size_t lanes = hn::Lanes(DF());
  const std::size_t whole = strip.shape.units / kStripUnits * kStripUnits;
  std::size_t k = 0;
  for (; k + kStripVectors * lanes <= strip.count; k += kStripVectors * lanes) {
    for (std::size_t u = 0; u < whole; u += kStripUnits) UpdateTile(strip, rule, slots, u, k);
    for (std::size_t u = whole; u < strip.shape.units; ++u) {
      UpdateEdge<1, kStripVectors>(strip, rule, slots, u, k);
    }
  }
  for (; k < strip.count; k += lanes) {
    for (std::size_t u = 0; u < whole; u += kStripUnits) {
      UpdateEdge<kStripUnits, 1>(strip, rule, slots, u, k);
    }
    for (std::size_t u = whole; u < strip.shape.units; ++u) {
      UpdateEdge<1, 1>(strip, rule, slots, u, k);
    }
  }
}

template <class Rule>
void UpdateBias(const DenseShape& shape, const float* delta, const Rule& rule, const Slots& slots) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t padded = PaddedBatch(shape.batch);
  for (std::size_t u = 0; u < shape.units; ++u) {
    auto sum = hn::Zero(df);
    for (std::size_t b = 0; b < padded; b += lanes) {
      sum = hn::Add(sum, hn::Load(df, delta + u * padded + b));
    }
    const float gradient = hn::GetLane(hn::SumOfLanes(df, sum));
    StepTail(rule, &gradient, 1, slots.x + u, slots.first + u, slots.second + u);
  }
}

void UpdateLayer(const DenseShape& shape, const DenseInput& input, const float* delta,
                 const UpdateRule& rule, const DenseParameters& parameters, float* scratch) {
  WithRule<FastNumerics>(rule, [&](const auto& typed) HWY_ATTR {
    const Slots weights = SlotsAt(rule, parameters.x, parameters.weights);
    Strip strip{.shape = shape,
                .input = scratch,
                .stride = kStripFeatures,
                .delta = delta,
                .padded = PaddedBatch(shape.batch)};
    for (std::size_t k = 0; k < shape.inputs; k += kStripFeatures) {
      strip.first = k;
      strip.count = std::min(kStripFeatures, shape.inputs - k);
      if (input.activations != nullptr) {
        PackActivationsBySample(input.activations, k, strip.count, strip.padded, strip.stride,
                                scratch);
      } else {
        PackBytesBySample(input.rows, k, strip.count, shape.batch, input.scale, input.offset,
                          strip.stride, scratch);
      }
      UpdateStrip(strip, typed, weights);
    }
    UpdateBias(shape, delta, typed, SlotsAt(rule, parameters.x, parameters.bias));
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
  COVEY_CHECK(input.activations != nullptr || input.rows != nullptr);
  HWY_DYNAMIC_DISPATCH(UpdateLayer)(shape, input, delta, rule, parameters, scratch);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
