// Group and layer normalisation of single samples.
//
// Equation, over the values of each instance that share a group of neighbouring channels, n of
// them:
//   mean = sum x / n;  variance = sum (x - mean)^2 / n;  h = (x - mean) / sqrt(variance + epsilon)
//   y[c] = h weight[c] + bias[c]
// and back, g = dy weight[c]:
//   dx = (g - sum g / n - h sum(g h) / n) / sqrt(variance + epsilon)
//   dweight[c] = sum dy h;  dbias[c] = sum dy
// Group normalisation: one instance a sample, all of its places. Layer normalisation: each place of
// the sample is an instance with one group.
//
// Shapes: samples [instances][places][channels], SampleStride(features) apart.
// Thread: free functions, safe at once on disjoint outputs and scratch.  Cost: no allocation.
// Determinism: channels in lanes, sums over ascending places, then channels, then samples.
// Source: Wu & He 2018, equations 2 and 7; Ba, Kiros & Hinton 2016.
#pragma once

#include <cstddef>

#include "covey/tensor/numerics.h"

namespace covey::tensor {

struct NormShape {
  std::size_t instances = 1;
  std::size_t places = 1;
  std::size_t channels = 1;
  std::size_t groups = 1;  // divides channels
  float epsilon = 1e-5f;

  constexpr std::size_t features() const { return instances * places * channels; }
  constexpr std::size_t statistics() const { return 2 * instances * groups; }  // of a sample
};

// Floats of scratch, 64-byte aligned, that one call below needs.
std::size_t NormScratchSize(const NormShape& shape);

// Shapes: input, output [samples][SampleStride(features)]; statistics [samples][statistics()],
// kept for the way back.
void NormForward(Numerics numerics, const NormShape& shape, std::size_t samples, const float* input,
                 const float* weight, const float* bias, float* scratch, float* statistics,
                 float* output);

// Adds to weight_sums and bias_sums [channels] the gradients summed over the samples.
// input_gradient: [samples][SampleStride(features)], may be delta itself; null when not wanted.
void NormBackward(Numerics numerics, const NormShape& shape, std::size_t samples,
                  const float* input, const float* weight, const float* statistics,
                  const float* delta, float* scratch, float* weight_sums, float* bias_sums,
                  float* input_gradient);

}  // namespace covey::tensor
