// Activation functions on a buffer, element by element, and softmax over the features.
//
// Equation:
//   kLinear y;  kRelu max(y, 0);  kLeakyRelu y, or slope y below 0;  kTanh tanh y;
//   kSigmoid 1 / (1 + exp(-y));  kHardSigmoid min(max(0.2 y + 0.5, 0), 1), as in Keras
// Derivatives are taken from the output z = f(y): 1;  z > 0;  1 or slope;  1 - z^2;  z (1 - z);
// 0.2 where 0 < z < 1. At a kink that is the one from the left, but for the upper kink of the hard
// sigmoid, where it is 0.
// Softmax: z_c = exp(y_c) / sum_k exp(y_k); gradient by y: z_c (d_c - sum_k d_k z_k), d the one
// by z.
//
// Errors: a NaN gives a NaN (but for derivatives of kRelu and kHardSigmoid, where the forward pass
// has told).
// Thread: free functions, safe at once on disjoint buffers.  Cost: one pass; softmax two or three.
// Determinism: numerics.h; features are summed in ascending order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/numerics.h"
#include "covey/tensor/padding.h"

namespace covey::tensor {

enum class Function : std::uint8_t {
  kLinear,
  kRelu,
  kLeakyRelu,
  kTanh,
  kSigmoid,
  kHardSigmoid,
};

struct Activation {
  Function function = Function::kLinear;
  Numerics numerics = Numerics::kFast;
  float slope = 0.01f;  // kLeakyRelu, above 0
};

// y[i] <- f(y[i]) for i < count; y at any address and in any order of its elements.
void Activate(const Activation& activation, std::size_t count, float* y);

// delta[i] <- delta[i] f'(y), given the output z[i] = f(y).
void ActivationGradient(const Activation& activation, std::size_t count, const float* z,
                        float* delta);

struct SoftmaxShape {
  std::size_t features = 0;
  std::size_t batch = 0;
  Numerics numerics = Numerics::kFast;
};

// In place. Shapes: [features][PaddedBatch(batch)], 64-byte aligned; the padding is treated like
// samples, so finite rubbish stays finite and zeros in a gradient stay zeros.
void Softmax(const SoftmaxShape& shape, float* y);
void SoftmaxGradient(const SoftmaxShape& shape, const float* z, float* delta);

}  // namespace covey::tensor
