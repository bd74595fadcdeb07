// Which stage does which layers.
#include "nn/stages.h"

namespace covey::nn {
namespace {

struct Maker {
  const StageSource& source;

  Compiled operator()(const Dense& dense) const { return MakeDense(source, dense); }
  Compiled operator()(const Embedding& embedding) const { return MakeEmbedding(source, embedding); }
  Compiled operator()(const Conv2d& conv) const { return MakeConv2d(source, conv); }
  Compiled operator()(const Pool2d& pool) const { return MakePool2d(source, pool); }
  Compiled operator()(const GlobalAveragePool&) const { return MakeGlobalAveragePool(source); }
  Compiled operator()(const Dropout& dropout) const { return MakeDropout(source, dropout); }
  Compiled operator()(const GroupNorm& norm) const { return MakeGroupNorm(source, norm); }
  Compiled operator()(const LayerNorm& norm) const { return MakeLayerNorm(source, norm); }
  Compiled operator()(const Flatten&) const { return {}; }
  Compiled operator()(const Lstm&) const { return MakeLstm(source); }
  Compiled operator()(const OneHot& one_hot) const { return MakeOneHot(source, one_hot); }
  Compiled operator()(const Activate& activate) const { return MakeActivation(source, activate); }
};

}  // namespace

Compiled Compile(const StageSource& source) { return std::visit(Maker{source}, source.layers[0]); }

}  // namespace covey::nn
