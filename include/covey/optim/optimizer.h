// Optimizers: settings apart from state; one step counter; slots as flat vectors beside the
// parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/update.h"

namespace covey::optim {

struct Settings {
  enum class Kind : std::uint8_t { kSgd, kAdam, kQuasiGlobal };
  Kind kind = Kind::kAdam;
  float learning_rate = 1e-3f;
  float momentum = 0;                                   // sgd
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-7f;  // adam: the defaults of Keras
  float beta = 0.9f, mu = 0.9f;                         // quasi-global

  bool operator==(const Settings&) const = default;
};

std::string_view Name(Settings::Kind kind);  // "sgd", "adam", "quasi_global"

// Errors: kConfig; names the field ("train.optimizer.beta1"), what was got and its range.
Status Validate(const Settings& settings);

// A vector of an optimizer's state under the name that checkpoints give it; valid as long as the
// optimizer is.
struct NamedState {
  std::string name;
  tensor::VectorView values;
};

// Equation, g the mean gradient of a batch, t the number of this step from 1:
//   sgd:          x <- x - lr g; with momentum: v <- momentum v - lr g;  x <- x + v
//   adam:         m <- m + (1 - beta1)(g - m);  v <- v + (1 - beta2)(g^2 - v)
//                 x <- x - lr sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)
//   quasi_global: m <- beta m_hat + g;  x <- x - lr m
//                 and once a round, after mixing, h local steps after the last time:
//                 d <- (x_ref - x) / (lr h);  m_hat <- mu m_hat + (1 - mu) d;  x_ref <- x
// A round without a local step (h = 0) counts as long as the last one that had any (one step before
// the first): its displacement enters m_hat at the scale of an ordinary round, and where nothing
// moves, m_hat fades.
//
// Requires: valid settings.
// Cost: BeginStep O(1) (quasi-global, first time: one copy of x); Step and Mixed one pass; memory
// of slots: sgd 0 or 1, adam 2, quasi-global 2 times the model.
// Thread: none; the caller serialises.
// Source: Kingma & Ba 2015, end of section 2, in the form of Keras; Lin et al. 2021, "Quasi-Global
// Momentum", algorithm 1. Where we differ: Keras adds epsilon to the root (the "epsilon hat" of the
// paper); quasi-global momentum follows the node's own x through asynchronous exchanges, not a
// synchronous gossip step.
class Optimizer {
 public:
  Optimizer(const Settings& settings, std::size_t size);

  // The step in two halves, for code that fuses the second into its gradient kernels: advances the
  // step counter and returns the rule to apply to every parameter exactly once. x: the parameters
  // before the step.
  tensor::UpdateRule BeginStep(tensor::ConstVectorView x);

  // Both halves. Requires: x.size() == gradient.size() == size.
  void Step(tensor::VectorView x, tensor::ConstVectorView gradient);

  // Hook of the consensus round: called once at the end of each round, after the FIFO was drained.
  // Only quasi-global momentum does anything. It takes x after mixing alone: the displacement
  // counts from the node's own x at the last call, so a copy from before the mixing would be
  // model-sized memory that nothing reads.
  void Mixed(tensor::ConstVectorView x);

  const Settings& settings() const { return settings_; }
  std::uint64_t steps() const { return steps_; }

  // Checkpoints: everything but the step counter, by name: "velocity"; "m", "v"; "m_hat", "x_ref",
  // "round". Restoring writes into the views and then calls RestoreSteps.
  std::vector<NamedState> state();
  void RestoreSteps(std::uint64_t steps) { steps_ = steps; }

 private:
  Settings settings_;
  std::size_t size_;
  std::uint64_t steps_ = 0;
  tensor::FlatVector first_;   // velocity, m or m_hat
  tensor::FlatVector second_;  // v or x_ref
  // Quasi-global: {local steps since the last Mixed, length of the last round with steps, x_ref is
  // set (0 or 1)}. Floats, so that they travel with the other state; exact up to 2^24 steps in a
  // round.
  tensor::FlatVector round_;
};

}  // namespace covey::optim
