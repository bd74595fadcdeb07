// One step of an optimizer over a range of parameters, in the form that kernels apply while a
// gradient is still in registers.
//
// Equation, element by element, g the gradient:
//   kStore:        first <- g                              (x is not touched)
//   kSgd:          x <- x - step g
//   kMomentum:     first <- decay first - step g;  x <- x + first
//   kAdam:         first <- first + (1 - beta1)(g - first)
//                  second <- second + (1 - beta2)(g^2 - second)
//                  x <- x - step first / (sqrt(second) + epsilon)
//   kQuasiGlobal:  x <- x - step (decay first + g)         (first is only read)
// Square root and division are exactly rounded on every level.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/flat_vector.h"

namespace covey::tensor {

enum class UpdateKind : std::uint8_t { kStore, kSgd, kMomentum, kAdam, kQuasiGlobal };

// Shapes: first and second have as many elements as the whole parameter vector, or are null where
// unused.
struct UpdateRule {
  UpdateKind kind = UpdateKind::kSgd;
  float step = 0;     // learning rate; Adam: with both bias corrections folded in
  float decay = 0;    // momentum, or beta
  float beta1 = 0;    // Adam
  float beta2 = 0;    // Adam
  float epsilon = 0;  // Adam, added to the root
  float* first = nullptr;
  float* second = nullptr;
};

// Applies `rule` to the parameters [offset, offset + gradient.size()) of x.
// Requires: that range lies within x and within the rule's vectors.
void ApplyUpdate(const UpdateRule& rule, std::size_t offset, ConstVectorView gradient,
                 VectorView x);

}  // namespace covey::tensor
