// Optimizers: settings apart from state; one step counter; slots as flat vectors beside the
// parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/optim/settings.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/numerics.h"
#include "covey/tensor/update.h"

namespace covey::optim {

// A vector of an optimizer's state under the name that checkpoints give it; valid as long as the
// optimizer is.
struct NamedState {
  std::string name;
  tensor::VectorView values;
};

// Equation, G the mean gradient of a batch, clipped; g = G + weight_decay x; t the number of this
// step from 1; lr = learning_rate FactorAt(schedule, t):
//   sgd:          x <- x - lr g; with momentum: v <- momentum v - lr g;  x <- x + v
//                 nesterov: the same v;  x <- x + momentum v - lr g
//   adam:         m <- m + (1 - beta1)(g - m);  v <- v + (1 - beta2)(g^2 - v)
//                 x <- x - lr sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)
//   adamw:        adam with g = G, and x <- (1 - lr weight_decay) x before the move
//   rmsprop:      s <- decay s + (1 - decay) g^2;  x <- x - lr g / sqrt(s + epsilon)
//                 with momentum: v <- momentum v - lr g / sqrt(s + epsilon);  x <- x + v
//   quasi_global: m <- beta m_hat + g - b;  x <- x - lr m
//                 and once a round, in which h local steps moved x by L and mixing moved it by X:
//                 c <- min(1, mixing_limit |L| / |X|);  d <- -(L + c X) / (lr h)
//                 m_hat <- mu m_hat + (1 - mu) d
//                 b <- (1 - correction_fade) b + correction X / (lr h)    (0 without correction)
//   backprop:     x <- x - lr (blend g + (1 - blend) p);  p <- g      (p = 0 before the first step)
//   rprop_*, irprop_*: tensor::SignRule, every step size at first step_initial. Where the gradient
//                 turns: rprop_minus moves on, rprop_plus takes the last move back, irprop_minus
//                 forgets the gradient, irprop_plus takes the move back if the loss has risen and
//                 forgets the gradient.
// A round of quasi_global without a local step lets m_hat and b fade (d = 0). Under a schedule h
// counts each step by its factor.
// b: mixing takes back what is peculiar to a node's data: on average X = lr h (G_i - mean G - b).
// So b learns G_i - mean G, the sum of b over the nodes stays that of X, which is 0 as long as
// every exchange completes, and local steps go where the fleet's do. Lost answers let b wander;
// correction_fade bounds that.
//
// Which can be fused into gradient kernels: all but the Rprop family, and none with clipping by
// norm or value: those need the whole gradient first. See fused().
//
// Requires: valid settings.
// Cost: BeginStep O(log t) (quasi-global, first time: one copy of x); Step one pass (with clipping
// by norm: two over the gradient), BeginMixing and EndMixing one, EndRound four; memory of slots:
// sgd 0 or 1, adam 2, rmsprop 1 or 2, quasi-global 3 or 4, backprop 1, Rprop 2 models.
// Thread: none; the caller serialises.
// Determinism: numerics kPortable: the same bits on every machine.
// Source: Kingma & Ba 2015, end of section 2, in the form of Keras; Loshchilov & Hutter 2019,
// "Decoupled Weight Decay Regularization"; Tieleman & Hinton 2012, lecture 6.5; Sutskever et al.
// 2013 for Nesterov; Lin et al. 2021, "Quasi-Global Momentum", algorithm 1; Igel & Huesken 2003,
// "Empirical evaluation of the improved Rprop learning algorithms", section 2. Where we differ:
// Keras adds epsilon to the root (the "epsilon hat" of the paper); RMSprop has epsilon inside the
// root, as TensorFlow.js; quasi-global momentum follows the node's own x through asynchronous
// exchanges, not a synchronous gossip step, and counts mixing only up to mixing_limit times what
// training moved. Without the limit mixing is amplified: a displacement X comes back as momentum
// and adds up to beta / (1 - beta) times X, which late answers turn into a growing oscillation.
// The correction is the control variate of Scaffnew (Mishchenko et al. 2022, "ProxSkip", algorithm
// 2), driven by mixing with random peers instead of the exact mean, a share at a time.
class Optimizer {
 public:
  Optimizer(const Settings& settings, std::size_t size,
            tensor::Numerics numerics = tensor::Numerics::kFast);

  // Moves the slots that nodes exchange (settings.exchanged) into `exchanged`, which outlives the
  // optimizer: behind the parameters, as ExchangedSize says. There exchanges average them. Late
  // answers may take more from a mean square than is left of it: the next step first raises it to
  // 0, in Adam to m^2, below which no mean of squares is whose mean is m (averages of such pairs
  // aren't either); without that steps would have no bound. Nothing happens without such slots.
  // Requires: exchanged.size() == ExchangedSize(settings, size).
  // Source: Chen, Karimi, Zhao & Li 2022, "On the Convergence of Decentralized Adaptive Gradient
  // Methods": where every node has a mean square of its own, they need not converge.
  void PlaceExchanged(tensor::VectorView exchanged);

  // Whether a step may be taken in halves, its rule fused into gradient kernels.
  bool fused() const;

  // The step in two halves, for code that fuses the second into its gradient kernels: advances the
  // step counter and returns the rule to apply to every parameter exactly once. x: the parameters
  // before the step. Requires: fused().
  tensor::UpdateRule BeginStep(tensor::ConstVectorView x);

  // Both halves. loss: of the same batch at the x before the step; only irprop_plus looks at it.
  // Requires: x.size() == gradient.size() == size.
  void Step(tensor::VectorView x, tensor::ConstVectorView gradient, double loss);

  // Hooks of the consensus: received messages are about to move x; they have moved it; a round is
  // over. Only quasi-global momentum does anything. Requires: x.size() == size; BeginMixing and
  // EndMixing in turns.
  void BeginMixing(tensor::ConstVectorView x);
  void EndMixing(tensor::ConstVectorView x);
  void EndRound(tensor::ConstVectorView x);

  const Settings& settings() const { return settings_; }
  std::uint64_t steps() const { return steps_; }

  // Checkpoints: everything but the step counter, by name: "velocity"; "m", "v"; "mean_square";
  // "m_hat" (- b / beta), "x_ref", "mixed", "correction", "round"; "gradient"; "step", "last_loss".
  // Restoring writes the views, then calls RestoreSteps; what follows has the same bits as without.
  std::vector<NamedState> state();
  void RestoreSteps(std::uint64_t steps) { steps_ = steps; }

 private:
  double LearningRate() const;  // of step steps_
  tensor::UpdateRule NextRule(tensor::ConstVectorView x);
  void RepairMeanSquares();
  void AdamRule(double rate, tensor::UpdateRule& rule);
  tensor::GradientClip ClipOf(tensor::ConstVectorView gradient) const;
  void ResilientStep(tensor::VectorView x, tensor::ConstVectorView gradient, double loss);

  Settings settings_;
  std::size_t size_;
  tensor::Numerics numerics_;
  std::uint64_t steps_ = 0;
  tensor::VectorView first_{};    // velocity, m, m_hat or the previous gradient
  tensor::VectorView second_{};   // v, mean square, step sizes, or x_ref: x at the end of a round
  tensor::FlatVector own_first_;  // where they stand, unless they are exchanged
  tensor::FlatVector own_second_;
  bool mixed_since_ = false;  // since the last step
  tensor::FlatVector mixed_;  // quasi-global: X of this round; while mixing, minus the x before
  tensor::FlatVector correction_;  // quasi-global: b; first_ then holds m_hat - b / beta
  // Quasi-global: {local steps of this round, x_ref is set (0 or 1)}. irprop_plus: {last loss, it
  // is set (0 or 1)}. Floats, so that they travel with the other state; steps are exact up to 2^24
  // in a round.
  tensor::FlatVector small_;
};

}  // namespace covey::optim
