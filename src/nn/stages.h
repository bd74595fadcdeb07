// All stages, by the layers that they do.
#pragma once

#include <cstddef>

#include "nn/stage.h"

namespace covey::nn {

Compiled MakeDense(const StageSource& source, const Dense& dense);

}  // namespace covey::nn
