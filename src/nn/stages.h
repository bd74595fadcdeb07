// All stages, by the layers that they do.
#pragma once

#include <cstddef>

#include "nn/stage.h"

namespace covey::nn {

Compiled MakeDense(const StageSource& source, const Dense& dense);
Compiled MakeEmbedding(const StageSource& source, const Embedding& embedding);
Compiled MakeLstm(const StageSource& source);
Compiled MakeOneHot(const StageSource& source, const OneHot& one_hot);  // alone or with an LSTM
Compiled MakeOneHotLstm(const StageSource& source);

}  // namespace covey::nn
