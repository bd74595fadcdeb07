// The same network in plain loops over any scalar: the oracle of the fast one, and in double what
// gradient checks run on.
//
// Equations and order of parameters: as nn/network.h. Values of the batch are given as scalars,
// sample by sample.
// Cost: slow, allocates.  Thread: none; pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "covey/nn/model.h"

namespace covey::nn {

template <class T>
struct ReferenceResult {
  T loss = 0;  // mean over the batch
  std::uint32_t correct = 0;
  std::vector<T> gradient;  // of the mean loss; empty unless asked for
};

enum class WithGradient : bool { kNo, kYes };

template <class T>
class ReferenceNetwork {
 public:
  explicit ReferenceNetwork(const ModelSpec& spec) : spec_(spec), layout_(LayoutOf(spec)) {}

  std::size_t parameters() const { return layout_.size(); }

  // Shapes: x [parameters()], samples [labels.size()][features].
  ReferenceResult<T> Run(std::span<const T> x, std::span<const T> samples,
                         std::span<const std::uint32_t> labels, WithGradient with_gradient) const {
    ReferenceResult<T> result;
    if (with_gradient == WithGradient::kYes) result.gradient.assign(x.size(), T{0});
    const std::size_t features = Features(spec_);
    const T share = T{1} / static_cast<T>(labels.size());
    for (std::size_t b = 0; b < labels.size(); ++b) {
      const auto outputs = Forward(x, samples.subspan(b * features, features));
      std::vector<T> delta = Loss(outputs.back(), labels[b], share, result);
      if (with_gradient == WithGradient::kYes)
        Backward(x, outputs, std::move(delta), result.gradient);
    }
    return result;
  }

 private:
  // Returns: the sample itself, then the output of each layer.
  std::vector<std::vector<T>> Forward(std::span<const T> x, std::span<const T> sample) const {
    std::vector<std::vector<T>> outputs{std::vector<T>(sample.begin(), sample.end())};
    for (std::size_t l = 0; l < spec_.layers.size(); ++l) {
      const std::vector<T>& input = outputs.back();
      const T* weights = x.data() + layout_.slices()[2 * l].offset;
      const T* bias = x.data() + layout_.slices()[2 * l + 1].offset;
      std::vector<T> output(DenseAt(l).units);
      for (std::size_t u = 0; u < output.size(); ++u) {
        T sum = bias[u];
        for (std::size_t k = 0; k < input.size(); ++k)
          sum += weights[u * input.size() + k] * input[k];
        const bool cut = DenseAt(l).activation == Activation::kRelu && sum < T{0};
        output[u] = cut ? T{0} : sum;
      }
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  const Dense& DenseAt(std::size_t l) const { return std::get<Dense>(spec_.layers[l]); }

  // Adds one sample's loss. Returns: its gradient with respect to the logits.
  static std::vector<T> Loss(const std::vector<T>& logits, std::uint32_t label, T share,
                             ReferenceResult<T>& result) {
    const auto greatest = std::max_element(logits.begin(), logits.end());
    T sum = 0;
    for (const T logit : logits) sum += std::exp(logit - *greatest);
    result.loss += share * (std::log(sum) + *greatest - logits[label]);
    result.correct += greatest - logits.begin() == static_cast<std::ptrdiff_t>(label) ? 1u : 0u;
    std::vector<T> delta(logits.size());
    for (std::size_t c = 0; c < logits.size(); ++c) {
      delta[c] = share * (std::exp(logits[c] - *greatest) / sum - (c == label ? T{1} : T{0}));
    }
    return delta;
  }

  void Backward(std::span<const T> x, const std::vector<std::vector<T>>& outputs,
                std::vector<T> delta, std::vector<T>& gradient) const {
    for (std::size_t l = spec_.layers.size(); l-- > 0;) {
      const std::vector<T>& input = outputs[l];
      const std::size_t weights = layout_.slices()[2 * l].offset;
      const std::size_t bias = layout_.slices()[2 * l + 1].offset;
      const bool relu = DenseAt(l).activation == Activation::kRelu;
      std::vector<T> before(input.size(), T{0});
      for (std::size_t u = 0; u < delta.size(); ++u) {
        if (relu && outputs[l + 1][u] <= T{0}) continue;
        gradient[bias + u] += delta[u];
        for (std::size_t k = 0; k < input.size(); ++k) {
          gradient[weights + u * input.size() + k] += delta[u] * input[k];
          before[k] += delta[u] * x[weights + u * input.size() + k];
        }
      }
      delta = std::move(before);
    }
  }

  ModelSpec spec_;
  tensor::Layout layout_;
};

// Compares the gradient with central differences, (loss(x + h) - loss(x - h)) / (2 h), parameter by
// parameter.
// Returns: the greatest relative error, |difference| / max(|analytic|, |numeric|, floor).
// Source: the usual check; floor keeps parameters without influence from dividing rounding by
// rounding.
struct GradientCheck {
  double worst = 0;
  std::size_t at = 0;  // parameter
};
GradientCheck CheckGradient(const ModelSpec& spec, std::span<const double> x,
                            std::span<const double> samples, std::span<const std::uint32_t> labels,
                            double h, double floor);

}  // namespace covey::nn
