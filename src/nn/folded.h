// Output activations that the loss does itself.
#pragma once

#include "covey/nn/model.h"

namespace covey::nn {

// Returns: the spec with softmax before a categorical cross-entropy, sigmoid before the binary one,
// taken off the last layer: the losses take logits.
ModelSpec WithoutFoldedActivation(const ModelSpec& spec);

}  // namespace covey::nn
