// One step of an optimizer over a range of parameters, in the form that kernels apply while a
// gradient is still in registers.
//
// Equation, element by element, G the gradient, g = G + l2 x the one with weight decay:
//   kStore:           first <- G                              (x is not touched)
//   kAccumulate:      first <- first + G                      (x is not touched)
//   kSgd:             x <- x - step g
//   kMomentum:        first <- decay first - step g;  x <- x + first
//   kNesterov:        first <- decay first - step g;  x <- x + (decay first - step g)
//   kAdam:            first <- first + (1 - beta1)(g - first)
//                     second <- second + (1 - beta2)(g^2 - second)
//                     x <- keep x - step first / (sqrt(second) + epsilon)
//   kRmsProp:         second <- beta2 second + (1 - beta2) g^2
//                     x <- x - step g / sqrt(second + epsilon)
//   kRmsPropMomentum: the same second;  first <- decay first - step g / sqrt(second + epsilon)
//                     x <- x + first
//   kQuasiGlobal:     x <- x - step (decay first + g)         (first is only read)
//   kBackprop:        x <- x - step (decay g + (1 - decay) first);  first <- g
// Square root and division are exactly rounded on every level.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/flat_vector.h"
#include "covey/tensor/numerics.h"

namespace covey::tensor {

enum class UpdateKind : std::uint8_t {
  kStore,
  kAccumulate,
  kSgd,
  kMomentum,
  kNesterov,
  kAdam,
  kRmsProp,
  kRmsPropMomentum,
  kQuasiGlobal,
  kBackprop
};

// Shapes: first and second have as many elements as the whole parameter vector, or are null where
// unused.
struct UpdateRule {
  UpdateKind kind = UpdateKind::kSgd;
  float step = 0;     // learning rate; Adam: with both bias corrections folded in
  float decay = 0;    // momentum, beta, or the share of the present gradient (kBackprop)
  float beta1 = 0;    // Adam
  float beta2 = 0;    // Adam, RMSprop
  float epsilon = 0;  // Adam: added to the root; RMSprop: inside it
  float l2 = 0;       // weight decay that is added to the gradient
  float keep = 1;     // kAdam: decoupled weight decay, 1 - learning rate * decay
  float* first = nullptr;
  float* second = nullptr;
};

// What becomes of a gradient before a rule sees it: clamp(scale g, -limit, limit). A NaN stays one.
struct GradientClip {
  float scale = 1;
  float limit = 0;  // 0: none
};

// Applies `rule` to the parameters [offset, offset + gradient.size()) of x.
// Requires: that range lies within x and within the rule's vectors.
// Cost: one pass over gradient, x and the rule's vectors.
void ApplyUpdate(const UpdateRule& rule, std::size_t offset, ConstVectorView gradient, VectorView x,
                 Numerics numerics, const GradientClip& clip = {});

// Resilient propagation: the sign of the gradient decides, each parameter has a step size of its
// own. g as above, p the gradient kept from the step before:
//   g p > 0: step <- min(eta_plus step, step_max)
//   g p < 0: step <- max(eta_minus step, step_min)
//   backtrack: where g p < 0, x <- x + sign(p) step (the step before this one's change), which
//              takes the last move back, and p <- 0; elsewhere as below
//   forget:    where g p < 0, p <- 0 and x stays; elsewhere as below
//   x <- x - sign(g) step;  p <- g
// sign(0) = 0; a NaN leaves the parameter and its step alone.
struct SignRule {
  enum class OnTurn : std::uint8_t { kMove, kForget, kBacktrack };
  OnTurn on_turn = OnTurn::kMove;
  float eta_minus = 0, eta_plus = 0;
  float step_min = 0, step_max = 0;
  float l2 = 0;
  float* previous = nullptr;  // p, x.size() elements
  float* step = nullptr;      // x.size() elements
};

// Requires: gradient.size() == x.size().  Cost: one pass.
// Determinism: the same bits at every level and with either numerics, but for the rounding of l2 x.
void ApplySignUpdate(const SignRule& rule, ConstVectorView gradient, VectorView x,
                     Numerics numerics);

}  // namespace covey::tensor
