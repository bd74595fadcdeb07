// Which models the kernel of whole shards (tensor/small_mlp.h) can train.
#pragma once

#include <optional>

#include "covey/nn/model.h"
#include "covey/tensor/small_mlp.h"

namespace covey::gradient {

// Returns: the model as SmallMlp sees it; nothing for layers, losses or sizes that it lacks.
// Requires: a valid spec.
std::optional<tensor::SmallMlpShape> SmallShapeOf(const nn::ModelSpec& spec);

}  // namespace covey::gradient
