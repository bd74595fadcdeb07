// Activations of stages, by the kernels of tensor/activation.h.
#pragma once

#include <cstddef>

#include "covey/nn/layers.h"
#include "covey/tensor/activation.h"

namespace covey::nn {

// Requires: not softmax, which looks at a whole sample.
tensor::Activation Elementwise(Activation activation, tensor::Numerics numerics);

// An activation in place on a buffer by feature, softmax included.
class FeatureActivation {
 public:
  FeatureActivation(Activation activation, tensor::Numerics numerics)
      : activation_(activation), numerics_(numerics) {}

  // y <- f(y), [features][PaddedBatch(batch)].
  void Forward(std::size_t features, std::size_t batch, float* y) const;
  // delta <- the gradient by y, given that by z = f(y).
  void Backward(std::size_t features, std::size_t batch, const float* z, float* delta) const;

 private:
  Activation activation_;
  tensor::Numerics numerics_;
};

}  // namespace covey::nn
