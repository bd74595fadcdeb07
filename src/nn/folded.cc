#include "nn/folded.h"

namespace covey::nn {

ModelSpec WithoutFoldedActivation(const ModelSpec& spec) {
  ModelSpec folded = spec;
  const bool softmax = spec.loss == Loss::kSparseCategoricalCrossEntropy ||
                       spec.loss == Loss::kCategoricalCrossEntropy;
  const bool sigmoid = spec.loss == Loss::kBinaryCrossEntropy;
  const auto fold = [&](Activation& activation) {
    if ((softmax && activation == Activation::kSoftmax) ||
        (sigmoid && activation == Activation::kSigmoid)) {
      activation = Activation::kLinear;
    }
  };
  if (auto* dense = std::get_if<Dense>(&folded.layers.back())) fold(dense->activation);
  if (auto* act = std::get_if<Activate>(&folded.layers.back())) fold(act->activation);
  return folded;
}

}  // namespace covey::nn
