// How stages that work sample by sample cut a batch into parts.
#pragma once

#include <algorithm>
#include <cstddef>

#include "nn/stage.h"

namespace covey::nn {

// Samples of a part: few, so that a batch of 8 keeps two threads busy.
inline constexpr std::size_t kPartSamples = 4;

constexpr std::size_t PartsOf(std::size_t batch) {
  return (batch + kPartSamples - 1) / kPartSamples;
}

// Calls body(first sample, samples, part, worker) for each part of the batch, on pass.tasks.
template <class Body>
void ForParts(const ForwardPass& pass, const Body& body) {
  pass.tasks->Run(PartsOf(pass.batch), [&](std::size_t part, std::size_t worker) {
    const std::size_t first = part * kPartSamples;
    body(first, std::min(kPartSamples, pass.batch - first), part, worker);
  });
}

// Zeroes what lies between samples: buffers of gradients are used for many shapes.
inline void ClearPadding(std::size_t features, std::size_t samples, float* buffer) {
  const std::size_t stride = SampleStride(features);
  for (std::size_t n = 0; n < samples; ++n) {
    std::fill(buffer + n * stride + features, buffer + (n + 1) * stride, 0.0f);
  }
}

}  // namespace covey::nn
