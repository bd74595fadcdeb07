// The network in plain loops over float or double: the oracle of the fast one, and in double what
// gradient checks run on.
//
// Equations: nn/layers.h, nn::Loss; order of parameters: LayoutOf. Sums run in ascending order, one
// sample after the other; nothing is fused, split or reused.
// Cost: slow, allocates.  Thread: none; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "covey/nn/model.h"

namespace covey::nn {

// Shapes: samples [size][features] as values (symbols as whole numbers); labels [size] where
// HasLabels(spec), else targets [size][outputs]; weights [size], or empty: all 1.
template <class T>
struct ReferenceBatch {
  std::size_t size = 0;
  std::span<const T> samples;
  std::span<const std::uint32_t> labels = {};
  std::span<const T> targets = {};
  std::span<const T> weights = {};
  // What each dropout layer multiplies its values by, [size][values], at the layer's place in the
  // spec; where that is missing or empty the layer changes nothing.
  std::vector<std::vector<T>> dropout = {};
};

template <class T>
struct ReferenceResult {
  T loss = 0;  // mean over the batch of weight times loss
  // Samples that are classified well, as tensor/loss.h counts them; 0 for the other losses.
  std::uint32_t correct = 0;
  std::vector<T> outputs;   // [size][outputs]; logits where the loss does softmax or sigmoid itself
  std::vector<T> gradient;  // of `loss`; empty unless asked for
};

enum class WithGradient : bool { kNo, kYes };

// T: float or double.
template <class T>
class ReferenceNetwork {
 public:
  // Requires: a valid spec.
  explicit ReferenceNetwork(const ModelSpec& spec);

  std::size_t parameters() const { return parameters_; }

  // Requires: x has parameters() elements; the batch fits the spec; labels, symbols in range.
  ReferenceResult<T> Run(std::span<const T> x, const ReferenceBatch<T>& batch,
                         WithGradient with_gradient) const;
  ReferenceResult<T> Run(std::span<const T> x, std::span<const T> samples,
                         std::span<const std::uint32_t> labels, WithGradient with_gradient) const {
    return Run(x, {.size = labels.size(), .samples = samples, .labels = labels}, with_gradient);
  }

 private:
  using Values = std::vector<T>;

  // Returns: the values of sample b, then the output of each layer.
  std::vector<Values> Forward(std::span<const T> x, const ReferenceBatch<T>& batch,
                              std::size_t b) const;
  // Adds the gradient of one sample, `delta` by the outputs.
  void Backward(std::span<const T> x, const ReferenceBatch<T>& batch, std::size_t b,
                const std::vector<Values>& outputs, Values delta, Values& gradient) const;

  ModelSpec spec_;  // without the activation that the loss does itself
  std::vector<LayerInfo> infos_;
  std::vector<std::size_t> offsets_;  // of each layer's parameters
  std::size_t parameters_ = 0;
};

// Compares the gradient with central differences, (loss(x + h) - loss(x - h)) / (2 h), parameter by
// parameter.
// Returns: the greatest relative error, |difference| / max(|analytic|, |numeric|, floor); NaN when
// there is one.
// Source: the usual check; floor keeps parameters without influence from dividing rounding by
// rounding.
struct GradientCheck {
  double worst = 0;
  std::size_t at = 0;  // parameter
};
GradientCheck CheckGradient(const ModelSpec& spec, std::span<const double> x,
                            const ReferenceBatch<double>& batch, double h, double floor);

}  // namespace covey::nn
