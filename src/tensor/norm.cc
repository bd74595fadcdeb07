// Normalisation, with the channels in lanes.
#include "covey/tensor/norm.h"

#include <cmath>
#include <cstring>

#include "covey/tensor/conv.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/norm.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/numerics-inl.h"
#include "tensor/part-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Values by channel, each row SampleStride(channels) long, so that whole vectors of it may be read
// and written.
struct NormRows {
  NormRows(const NormShape& shape, float* scratch)
      : mean(scratch),
        inverse(mean + SampleStride(shape.channels)),
        first(inverse + SampleStride(shape.channels)),
        second(first + SampleStride(shape.channels)) {}
  float* mean;
  float* inverse;  // 1 / deviation
  float* first;    // sums over places, or shares of them
  float* second;
};

// Calls body(channel, count of channels from there) for each vector of channels.
template <class Body>
HWY_INLINE void ForChannels(const NormShape& s, Body body) {
  const std::size_t lanes = hn::Lanes(DF());
  for (std::size_t c = 0; c < s.channels; c += lanes) body(c, s.channels - c);
}

// Replaces the sums by channel in `row` by their mean over a group's values, channel by channel.
// weight, if not null, multiplies each sum.
HWY_INLINE void GroupMeans(const NormShape& s, const float* weight, float* row) {
  const std::size_t width = s.channels / s.groups;
  const double count = static_cast<double>(s.places * width);
  for (std::size_t g = 0; g < s.groups; ++g) {
    float* group = row + g * width;
    // Four sums, one after the other, because each addition waits for the one before it.
    double sums[4] = {};
    for (std::size_t i = 0; i < width; ++i) {
      const double factor = weight != nullptr ? static_cast<double>(weight[g * width + i]) : 1.0;
      sums[i % 4] += factor * static_cast<double>(group[i]);
    }
    const float mean = static_cast<float>(((sums[0] + sums[1]) + (sums[2] + sums[3])) / count);
    for (std::size_t i = 0; i < width; ++i) group[i] = mean;
  }
}

template <class N>
void ForwardInstance(const NormShape& s, const float* in, const float* weight, const float* bias,
                     const NormRows& rows, float* statistics, float* out) {
  const DF df;
  ForChannels(s, [&](std::size_t c, std::size_t count) HWY_ATTR {
    VF sum = hn::Zero(df);
    for (std::size_t p = 0; p < s.places; ++p) {
      sum = hn::Add(sum, LoadPart(df, in + p * s.channels + c, count));
    }
    hn::Store(sum, df, rows.mean + c);
  });
  GroupMeans(s, nullptr, rows.mean);
  ForChannels(s, [&](std::size_t c, std::size_t count) HWY_ATTR {
    const VF mean = hn::Load(df, rows.mean + c);
    VF sum = hn::Zero(df);
    for (std::size_t p = 0; p < s.places; ++p) {
      const VF off = hn::Sub(LoadPart(df, in + p * s.channels + c, count), mean);
      sum = N::MulAdd(off, off, sum);
    }
    hn::Store(sum, df, rows.inverse + c);
  });
  GroupMeans(s, nullptr, rows.inverse);
  const std::size_t width = s.channels / s.groups;
  for (std::size_t g = 0; g < s.groups; ++g) {
    const float inverse = 1.0f / std::sqrt(rows.inverse[g * width] + s.epsilon);
    statistics[2 * g] = rows.mean[g * width];
    statistics[2 * g + 1] = inverse;
    for (std::size_t i = 0; i < width; ++i) rows.inverse[g * width + i] = inverse;
  }
  ForChannels(s, [&](std::size_t c, std::size_t count) HWY_ATTR {
    const VF mean = hn::Load(df, rows.mean + c);
    const VF inverse = hn::Load(df, rows.inverse + c);
    const VF w = LoadPart(df, weight + c, count);
    const VF b = LoadPart(df, bias + c, count);
    for (std::size_t p = 0; p < s.places; ++p) {
      const std::size_t at = p * s.channels + c;
      const VF h = hn::Mul(hn::Sub(LoadPart(df, in + at, count), mean), inverse);
      StorePart(df, N::MulAdd(h, w, b), count, out + at);
    }
  });
}

template <class N>
void BackwardInstance(const NormShape& s, const float* in, const float* weight,
                      const float* statistics, const float* delta, const NormRows& rows,
                      float* weight_sums, float* bias_sums, float* gradient) {
  const DF df;
  const std::size_t width = s.channels / s.groups;
  for (std::size_t c = 0; c < s.channels; ++c) {
    rows.mean[c] = statistics[2 * (c / width)];
    rows.inverse[c] = statistics[2 * (c / width) + 1];
  }
  ForChannels(s, [&](std::size_t c, std::size_t count) HWY_ATTR {
    const VF mean = hn::Load(df, rows.mean + c);
    const VF inverse = hn::Load(df, rows.inverse + c);
    VF first = hn::Zero(df);
    VF second = hn::Zero(df);
    for (std::size_t p = 0; p < s.places; ++p) {
      const std::size_t at = p * s.channels + c;
      const VF dy = LoadPart(df, delta + at, count);
      const VF h = hn::Mul(hn::Sub(LoadPart(df, in + at, count), mean), inverse);
      first = hn::Add(first, dy);
      second = N::MulAdd(dy, h, second);
    }
    hn::Store(first, df, rows.first + c);
    hn::Store(second, df, rows.second + c);
    StorePart(df, hn::Add(LoadPart(df, bias_sums + c, count), first), count, bias_sums + c);
    StorePart(df, hn::Add(LoadPart(df, weight_sums + c, count), second), count, weight_sums + c);
  });
  if (gradient == nullptr) return;
  GroupMeans(s, weight, rows.first);
  GroupMeans(s, weight, rows.second);
  ForChannels(s, [&](std::size_t c, std::size_t count) HWY_ATTR {
    const VF mean = hn::Load(df, rows.mean + c);
    const VF inverse = hn::Load(df, rows.inverse + c);
    const VF first = hn::Load(df, rows.first + c);
    const VF second = hn::Load(df, rows.second + c);
    const VF w = LoadPart(df, weight + c, count);
    for (std::size_t p = 0; p < s.places; ++p) {
      const std::size_t at = p * s.channels + c;
      const VF g = hn::Mul(LoadPart(df, delta + at, count), w);
      const VF h = hn::Mul(hn::Sub(LoadPart(df, in + at, count), mean), inverse);
      const VF dx = hn::Mul(N::NegMulAdd(h, second, hn::Sub(g, first)), inverse);
      StorePart(df, dx, count, gradient + at);
    }
  });
}

void Normalise(Numerics numerics, const NormShape& s, std::size_t samples, const float* input,
               const float* weight, const float* bias, float* scratch, float* statistics,
               float* output) {
  const NormRows rows(s, scratch);
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t i = 0; i < s.instances; ++i) {
        const std::size_t at = n * SampleStride(s.features()) + i * s.places * s.channels;
        ForwardInstance<decltype(policy)>(s, input + at, weight, bias, rows,
                                          statistics + n * s.statistics() + i * 2 * s.groups,
                                          output + at);
      }
    }
  });
}

void NormaliseBack(Numerics numerics, const NormShape& s, std::size_t samples, const float* input,
                   const float* weight, const float* statistics, const float* delta, float* scratch,
                   float* weight_sums, float* bias_sums, float* input_gradient) {
  const NormRows rows(s, scratch);
  WithNumerics(numerics, [&](auto policy) HWY_ATTR {
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t i = 0; i < s.instances; ++i) {
        const std::size_t at = n * SampleStride(s.features()) + i * s.places * s.channels;
        BackwardInstance<decltype(policy)>(
            s, input + at, weight, statistics + n * s.statistics() + i * 2 * s.groups, delta + at,
            rows, weight_sums, bias_sums,
            input_gradient != nullptr ? input_gradient + at : nullptr);
      }
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Normalise);
HWY_EXPORT(NormaliseBack);

std::size_t NormScratchSize(const NormShape& shape) { return 4 * SampleStride(shape.channels); }

void NormForward(Numerics numerics, const NormShape& shape, std::size_t samples, const float* input,
                 const float* weight, const float* bias, float* scratch, float* statistics,
                 float* output) {
  HWY_DYNAMIC_DISPATCH(Normalise)
  (numerics, shape, samples, input, weight, bias, scratch, statistics, output);
}

void NormBackward(Numerics numerics, const NormShape& shape, std::size_t samples,
                  const float* input, const float* weight, const float* statistics,
                  const float* delta, float* scratch, float* weight_sums, float* bias_sums,
                  float* input_gradient) {
  HWY_DYNAMIC_DISPATCH(NormaliseBack)
  (numerics, shape, samples, input, weight, statistics, delta, scratch, weight_sums, bias_sums,
   input_gradient);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
