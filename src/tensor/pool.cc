// Pooling, with the channels in lanes.
#include "covey/tensor/pool.h"

#include <cstring>

#include "covey/tensor/conv.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/pool.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/part-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;

// Calls body(first place of the window, index of the output's first channel) for each window.
template <class Body>
HWY_INLINE void ForWindows(const PoolShape& s, Body body) {
  std::size_t out = 0;
  for (std::size_t y = 0; y < s.out_height(); ++y) {
    for (std::size_t x = 0; x < s.out_width(); ++x, out += s.channels) {
      body(y * s.stride_height * s.width + x * s.stride_width, out);
    }
  }
}

// Calls body(place) for each place of a window, row by row.
template <class Body>
HWY_INLINE void ForPlaces(const PoolShape& s, std::size_t first, Body body) {
  for (std::size_t a = 0; a < s.size_height; ++a) {
    for (std::size_t b = 0; b < s.size_width; ++b) body(first + a * s.width + b);
  }
}

void MaxForward(const PoolShape& s, const float* input, float* output, std::int32_t* choice) {
  const DF df;
  const DI di;
  const std::size_t lanes = hn::Lanes(df);
  ForWindows(s, [&](std::size_t first, std::size_t out) HWY_ATTR {
    for (std::size_t c = 0; c < s.channels; c += lanes) {
      const std::size_t count = s.channels - c;
      auto greatest = LoadPart(df, input + first * s.channels + c, count);
      auto from = hn::Set(di, static_cast<std::int32_t>(first));
      ForPlaces(s, first, [&](std::size_t place) HWY_ATTR {
        const auto value = LoadPart(df, input + place * s.channels + c, count);
        const auto above = hn::Or(hn::Gt(value, greatest), hn::IsNaN(value));
        greatest = hn::IfThenElse(above, value, greatest);
        from = hn::IfThenElse(hn::RebindMask(di, above),
                              hn::Set(di, static_cast<std::int32_t>(place)), from);
      });
      StorePart(df, greatest, count, output + out + c);
      StorePart(di, from, count, choice + out + c);
    }
  });
}

void MaxBackward(const PoolShape& s, const float* delta, const std::int32_t* choice,
                 float* gradient) {
  for (std::size_t i = 0; i < s.outputs(); i += s.channels) {
    for (std::size_t c = 0; c < s.channels; ++c) {
      gradient[static_cast<std::size_t>(choice[i + c]) * s.channels + c] += delta[i + c];
    }
  }
}

void AverageForward(const PoolShape& s, const float* input, float* output) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto share = hn::Set(df, 1.0f / static_cast<float>(s.size_height * s.size_width));
  ForWindows(s, [&](std::size_t first, std::size_t out) HWY_ATTR {
    for (std::size_t c = 0; c < s.channels; c += lanes) {
      const std::size_t count = s.channels - c;
      auto sum = hn::Zero(df);
      ForPlaces(s, first, [&](std::size_t place) HWY_ATTR {
        sum = hn::Add(sum, LoadPart(df, input + place * s.channels + c, count));
      });
      StorePart(df, hn::Mul(sum, share), count, output + out + c);
    }
  });
}

void AverageBackward(const PoolShape& s, const float* delta, float* gradient) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto share = hn::Set(df, 1.0f / static_cast<float>(s.size_height * s.size_width));
  ForWindows(s, [&](std::size_t first, std::size_t out) HWY_ATTR {
    for (std::size_t c = 0; c < s.channels; c += lanes) {
      const std::size_t count = s.channels - c;
      const auto part = hn::Mul(LoadPart(df, delta + out + c, count), share);
      ForPlaces(s, first, [&](std::size_t place) HWY_ATTR {
        float* to = gradient + place * s.channels + c;
        StorePart(df, hn::Add(LoadPart(df, to, count), part), count, to);
      });
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(MaxForward);
HWY_EXPORT(MaxBackward);
HWY_EXPORT(AverageForward);
HWY_EXPORT(AverageBackward);

void MaxPoolForward(const PoolShape& shape, std::size_t samples, const float* input, float* output,
                    std::int32_t* choice) {
  const std::size_t in = SampleStride(shape.features());
  const std::size_t out = SampleStride(shape.outputs());
  for (std::size_t n = 0; n < samples; ++n) {
    HWY_DYNAMIC_DISPATCH(MaxForward)
    (shape, input + n * in, output + n * out, choice + n * out);
  }
}

void MaxPoolBackward(const PoolShape& shape, std::size_t samples, const float* delta,
                     const std::int32_t* choice, float* input_gradient) {
  const std::size_t in = SampleStride(shape.features());
  const std::size_t out = SampleStride(shape.outputs());
  for (std::size_t n = 0; n < samples; ++n) {
    std::memset(input_gradient + n * in, 0, in * sizeof(float));
    HWY_DYNAMIC_DISPATCH(MaxBackward)
    (shape, delta + n * out, choice + n * out, input_gradient + n * in);
  }
}

void AveragePoolForward(const PoolShape& shape, std::size_t samples, const float* input,
                        float* output) {
  const std::size_t in = SampleStride(shape.features());
  const std::size_t out = SampleStride(shape.outputs());
  for (std::size_t n = 0; n < samples; ++n) {
    HWY_DYNAMIC_DISPATCH(AverageForward)(shape, input + n * in, output + n * out);
  }
}

void AveragePoolBackward(const PoolShape& shape, std::size_t samples, const float* delta,
                         float* input_gradient) {
  const std::size_t in = SampleStride(shape.features());
  const std::size_t out = SampleStride(shape.outputs());
  for (std::size_t n = 0; n < samples; ++n) {
    std::memset(input_gradient + n * in, 0, in * sizeof(float));
    HWY_DYNAMIC_DISPATCH(AverageBackward)(shape, delta + n * out, input_gradient + n * in);
  }
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
