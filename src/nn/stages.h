// All stages, by the layers that they do.
#pragma once

#include <cstddef>

#include "nn/stage.h"

namespace covey::nn {

Compiled MakeDense(const StageSource& source, const Dense& dense);
Compiled MakeActivation(const StageSource& source, const Activate& activate);
Compiled MakeEmbedding(const StageSource& source, const Embedding& embedding);
Compiled MakeLstm(const StageSource& source);
Compiled MakeOneHot(const StageSource& source, const OneHot& one_hot);  // alone or with an LSTM
Compiled MakeOneHotLstm(const StageSource& source);
Compiled MakeConv2d(const StageSource& source, const Conv2d& conv);
Compiled MakePool2d(const StageSource& source, const Pool2d& pool);
Compiled MakeGlobalAveragePool(const StageSource& source);
Compiled MakeDropout(const StageSource& source, const Dropout& dropout);
Compiled MakeGroupNorm(const StageSource& source, const GroupNorm& norm);
Compiled MakeLayerNorm(const StageSource& source, const LayerNorm& norm);

}  // namespace covey::nn
