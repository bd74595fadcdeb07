// Which stage does which layers.
#include "covey/base/check.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

struct Maker {
  const StageSource& source;

  Compiled operator()(const Dense& dense) const { return MakeDense(source, dense); }
  Compiled operator()(const Flatten&) const { return {}; }
  template <class Other>
  Compiled operator()(const Other&) const {
    COVEY_CHECK(false, source.index);
    return {};
  }
};

}  // namespace

Compiled Compile(const StageSource& source) { return std::visit(Maker{source}, source.layers[0]); }

}  // namespace covey::nn
