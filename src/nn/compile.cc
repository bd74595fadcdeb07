// Which stage does which layers.
#include "covey/base/check.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

struct Maker {
  const StageSource& source;

  Compiled operator()(const Dense& dense) const { return MakeDense(source, dense); }
  Compiled operator()(const Embedding& embedding) const { return MakeEmbedding(source, embedding); }
  Compiled operator()(const Flatten&) const { return {}; }
  Compiled operator()(const Lstm&) const { return MakeLstm(source); }
  Compiled operator()(const OneHot& one_hot) const { return MakeOneHot(source, one_hot); }
  template <class Other>
  Compiled operator()(const Other&) const {
    COVEY_CHECK(false, source.index);
    return {};
  }
};

}  // namespace

Compiled Compile(const StageSource& source) { return std::visit(Maker{source}, source.layers[0]); }

}  // namespace covey::nn
