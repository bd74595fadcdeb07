#include "gradient/small_model.h"

#include <variant>

namespace covey::gradient {
namespace {

using nn::Activation;
using tensor::Curve;

std::optional<Curve> CurveOf(Activation activation) {
  switch (activation) {
    case Activation::kLinear:
      return Curve::kLinear;
    case Activation::kRelu:
      return Curve::kRelu;
    case Activation::kLeakyRelu:
      return Curve::kLeakyRelu;
    case Activation::kTanh:
      return Curve::kTanh;
    case Activation::kSigmoid:
      return Curve::kSigmoid;
    case Activation::kHardSigmoid:
      return Curve::kHardSigmoid;
    case Activation::kSoftmax:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<tensor::SmallMlpShape> SmallShapeOf(const nn::ModelSpec& spec) {
  const bool labels = spec.loss == nn::Loss::kSparseCategoricalCrossEntropy;
  if (!labels && spec.loss != nn::Loss::kMeanSquaredError) return std::nullopt;
  tensor::SmallMlpShape shape{.inputs = nn::Features(spec),
                              .loss = labels ? tensor::SmallMlpShape::Loss::kSoftmaxCrossEntropy
                                             : tensor::SmallMlpShape::Loss::kMeanSquaredError,
                              .numerics = spec.numerics};
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    if (std::holds_alternative<nn::Flatten>(spec.layers[l])) continue;
    const auto* dense = std::get_if<nn::Dense>(&spec.layers[l]);
    if (dense == nullptr) return std::nullopt;
    // The loss takes logits: a softmax in front of it is part of it.
    const bool folded =
        labels && l + 1 == spec.layers.size() && dense->activation == Activation::kSoftmax;
    const std::optional<Curve> curve = folded ? Curve::kLinear : CurveOf(dense->activation);
    if (!curve) return std::nullopt;
    shape.layers.push_back({.units = dense->units, .curve = *curve});
  }
  if (!tensor::IsSmallMlp(shape)) return std::nullopt;
  return shape;
}

}  // namespace covey::gradient
