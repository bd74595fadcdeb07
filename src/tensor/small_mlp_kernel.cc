// One part of a SmallMlp's samples, block by block.
#include <algorithm>
#include <cstring>

#include "tensor/small_mlp_plan.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/small_mlp_kernel.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/small_mlp-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Samples of one block: `first` is a place in the sample set, `count` of kBlock rows are used.
struct Block {
  const SampleSet* samples;
  std::size_t first;
  std::size_t count;

  std::size_t Place(std::size_t b) const {
    return samples->index != nullptr ? samples->index[first + b] : first + b;
  }
  std::size_t Label(std::size_t b) const {
    return samples->labels != nullptr ? samples->labels[Place(b)] : samples->byte_labels[Place(b)];
  }
};

template <class T>
void LoadRows(const Block& block, std::size_t features, std::size_t stride, float* to) {
  const auto* values = static_cast<const T*>(block.samples->values);
  const float scale = block.samples->scale;
  const float offset = block.samples->offset;
  for (std::size_t b = 0; b < block.count; ++b) {
    const T* HWY_RESTRICT row = values + block.Place(b) * features;
    float* HWY_RESTRICT out = to + b * stride;
    for (std::size_t k = 0; k < features; ++k) out[k] = static_cast<float>(row[k]) * scale + offset;
  }
}

void CopyRow(const float* HWY_RESTRICT from, std::size_t size, float* HWY_RESTRICT to) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t k = 0;
  for (; k + lanes <= size; k += lanes) hn::StoreU(hn::LoadU(d, from + k), d, to + k);
#if HWY_TARGET == HWY_AVX3
  if (k < size) hn::StoreU(hn::MaskedLoad(hn::FirstN(d, size - k), d, from + k), d, to + k);
#else
  for (; k < size; ++k) to[k] = from[k];
#endif
}

// in [kBlock][stride] <- the samples; zeros in the rows that the block lacks.
void LoadBlock(const Block& block, std::size_t features, std::size_t stride, float* in) {
  const SampleSet& samples = *block.samples;
  switch (samples.element) {
    case Element::kUint8:
      LoadRows<std::uint8_t>(block, features, stride, in);
      break;
    case Element::kInt16:
      LoadRows<std::int16_t>(block, features, stride, in);
      break;
    case Element::kFloat32:
      if (samples.scale != 1 || samples.offset != 0) {
        LoadRows<float>(block, features, stride, in);
        break;
      }
      for (std::size_t b = 0; b < block.count; ++b) {
        const auto* values = static_cast<const float*>(samples.values);
        CopyRow(values + block.Place(b) * features, features, in + b * stride);
      }
      break;
  }
  std::memset(in + block.count * stride, 0, (kBlock - block.count) * stride * sizeof(float));
}

template <class N>
void Forward(const SmallMlpPlan& plan, const float* packed, float* scratch) {
  for (const PlanLayer& layer : plan.layers) {
    WithTag(layer.units, [&](auto d) HWY_ATTR {
      const Product product{.a = scratch + layer.input,
                            .a_row = layer.in_stride,
                            .a_step = 1,
                            .v = packed + layer.across,
                            .v_step = layer.out_stride,
                            .depth = layer.inputs,
                            .out = scratch + layer.output,
                            .out_row = layer.out_stride};
      RunProduct<N>(d, product, FromBias{packed + layer.bias}, kBlock, layer.units);
    });
    ApplyCurve<N>(hn::ScalableTag<float>(), layer.curve, kBlock * layer.out_stride,
                  scratch + layer.output);
  }
}

// Adds the block's gradient to the part's.
template <class N>
void Backward(const SmallMlpPlan& plan, const float* packed, float* scratch, float* gradient) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t l = plan.layers.size(); l-- > 0;) {
    const PlanLayer& layer = plan.layers[l];
    const float* delta = scratch + layer.delta;
    for (std::size_t u = 0; u < layer.units; u += lanes) {
      auto sum = hn::Load(d, gradient + layer.bias_gradient + u);
      for (std::size_t b = 0; b < kBlock; ++b) {
        sum = hn::Add(sum, hn::Load(d, delta + b * layer.out_stride + u));
      }
      hn::Store(sum, d, gradient + layer.bias_gradient + u);
    }
    const Product weights{.a = delta,
                          .a_row = 1,
                          .a_step = layer.out_stride,
                          .v = scratch + layer.input,
                          .v_step = layer.in_stride,
                          .depth = kBlock,
                          .out = gradient + layer.gradient,
                          .out_row = layer.in_stride};
    WithTag(layer.inputs, [&](auto narrow) HWY_ATTR {
      RunProduct<N>(narrow, weights, FromOutput(), GradientRows(layer.units), layer.inputs);
    });
    if (l == 0) break;
    const PlanLayer& before = plan.layers[l - 1];
    const Product back{.a = delta,
                       .a_row = layer.out_stride,
                       .a_step = 1,
                       .v = packed + layer.along,
                       .v_step = layer.in_stride,
                       .depth = layer.units,
                       .out = scratch + before.delta,
                       .out_row = before.out_stride};
    WithTag(layer.inputs, [&](auto narrow) HWY_ATTR {
      WithDerivative(before.curve, scratch + before.output, [&](const auto& end) HWY_ATTR {
        RunProduct<N>(narrow, back, end, kBlock, layer.inputs);
      });
    });
  }
}

// Squared error of the block. delta: null, or receives the gradient by the last layer's sums.
// Each output has a sum of its own over the block's samples; these are added in order.
template <class N>
double SquaredError(const SmallMlpPlan& plan, const Block& block, float scale, float* scratch,
                    float* delta) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const PlanLayer& last = plan.layers.back();
  const std::size_t stride = last.out_stride;
  float* sums = scratch + plan.loss_lanes;
  const float* y = scratch + last.output;
  float* targets = scratch + plan.targets;
  for (std::size_t b = 0; b < block.count; ++b) {
    CopyRow(block.samples->targets + block.Place(b) * last.units, last.units, targets + b * stride);
  }
  const auto factor = hn::Set(d, scale * 2 / static_cast<float>(last.units));
  WithDerivative(last.curve, y, [&](const auto& end) HWY_ATTR {
    for (std::size_t u = 0; u < last.units; u += lanes) {
      auto sum = hn::Zero(d);
      for (std::size_t b = 0; b < block.count; ++b) {
        const std::size_t at = b * stride + u;
        const auto error = hn::Sub(hn::Load(d, y + at), hn::Load(d, targets + at));
        sum = N::MulAdd(error, error, sum);
        if (delta != nullptr) {
          hn::Store(Finish<N>(d, end, at, hn::Mul(error, factor)), d, delta + at);
        }
      }
      hn::Store(sum, d, sums + u);
    }
  });
  double total = 0;
  for (std::size_t u = 0; u < last.units; ++u) total += static_cast<double>(sums[u]);
  return total / static_cast<double>(last.units);
}

// Moves [kBlock][stride] to [units][kBlock] or back, so that softmax has samples in its lanes and
// no sum over lanes.
void Transpose(std::size_t units, std::size_t stride, const float* HWY_RESTRICT from,
               float* HWY_RESTRICT to) {
  for (std::size_t u = 0; u < units; ++u) {
    for (std::size_t b = 0; b < kBlock; ++b) to[u * kBlock + b] = from[b * stride + u];
  }
}

void TransposeBack(std::size_t units, std::size_t stride, const float* HWY_RESTRICT from,
                   float* HWY_RESTRICT to) {
  for (std::size_t b = 0; b < kBlock; ++b) {
    for (std::size_t u = 0; u < units; ++u) to[b * stride + u] = from[u * kBlock + b];
  }
}

// Turns logits z [units][kBlock] into softmax(z), and leaves each sample's log-sum-exp.
template <class N>
void SoftmaxColumns(std::size_t units, float* HWY_RESTRICT z, float* HWY_RESTRICT log_sum) {
  const hn::ScalableTag<float> d;
  for (std::size_t b = 0; b < kBlock; b += hn::Lanes(d)) {
    auto greatest = hn::Load(d, z + b);
    for (std::size_t u = 1; u < units; ++u) {
      const auto one = hn::Load(d, z + u * kBlock + b);
      greatest = hn::IfThenElse(hn::Gt(one, greatest), one, greatest);
    }
    auto sum = hn::Zero(d);
    for (std::size_t u = 0; u < units; ++u) {
      const auto e = Exp<N>(d, hn::Sub(hn::Load(d, z + u * kBlock + b), greatest));
      sum = hn::Add(sum, e);
      hn::Store(e, d, z + u * kBlock + b);
    }
    hn::Store(hn::Add(greatest, Log<N>(d, sum)), d, log_sum + b);
    for (std::size_t u = 0; u < units; ++u) {
      const auto e = hn::Load(d, z + u * kBlock + b);
      hn::Store(hn::Div(e, sum), d, z + u * kBlock + b);
    }
  }
}

template <class N>
LossSum CrossEntropy(const SmallMlpPlan& plan, const Block& block, float scale, float* scratch,
                     float* delta) {
  const PlanLayer& last = plan.layers.back();
  const float* logits = scratch + last.output;
  float* columns = scratch + plan.transposed;
  HWY_ALIGN float log_sum[kBlock];
  Transpose(last.units, last.out_stride, logits, columns);
  SoftmaxColumns<N>(last.units, columns, log_sum);
  LossSum loss;
  for (std::size_t b = 0; b < block.count; ++b) {
    const float* z = logits + b * last.out_stride;
    const std::size_t label = block.Label(b);
    loss.loss_sum += static_cast<double>(log_sum[b]) - static_cast<double>(z[label]);
    const auto greatest = static_cast<std::size_t>(std::max_element(z, z + last.units) - z);
    loss.correct += greatest == label ? 1u : 0u;
    columns[label * kBlock + b] -= 1;
  }
  if (delta == nullptr) return loss;
  for (std::size_t i = 0; i < last.units * kBlock; ++i) columns[i] *= scale;
  TransposeBack(last.units, last.out_stride, columns, delta);
  return loss;
}

template <class N>
LossSum RunBlocks(const SmallMlpPlan& plan, const SmallMlpPart& part) {
  const PlanLayer& first = plan.layers.front();
  const PlanLayer& last = plan.layers.back();
  LossSum total;
  if (part.gradient != nullptr) std::memset(part.gradient, 0, plan.part_size * sizeof(float));
  float* delta = part.gradient != nullptr ? part.scratch + last.delta : nullptr;
  for (std::size_t at = part.begin; at < part.end; at += kBlock) {
    const Block block{part.samples, at, std::min(kBlock, part.end - at)};
    LoadBlock(block, first.inputs, first.in_stride, part.scratch + first.input);
    Forward<N>(plan, part.packed, part.scratch);
    if (plan.loss == SmallMlpShape::Loss::kMeanSquaredError) {
      total.loss_sum += SquaredError<N>(plan, block, part.scale, part.scratch, delta);
    } else {
      const LossSum loss = CrossEntropy<N>(plan, block, part.scale, part.scratch, delta);
      total.loss_sum += loss.loss_sum;
      total.correct += loss.correct;
    }
    if (delta == nullptr) continue;
    std::memset(delta + block.count * last.out_stride, 0,
                (kBlock - block.count) * last.out_stride * sizeof(float));
    Backward<N>(plan, part.packed, part.scratch, part.gradient);
  }
  return total;
}

LossSum RunPart(const SmallMlpPlan& plan, const SmallMlpPart& part) {
  return WithNumerics(
      plan.numerics, [&](auto policy) HWY_ATTR { return RunBlocks<decltype(policy)>(plan, part); });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(RunPart);

LossSum RunSmallMlpPart(const SmallMlpPlan& plan, const SmallMlpPart& part) {
  return HWY_DYNAMIC_DISPATCH(RunPart)(plan, part);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
