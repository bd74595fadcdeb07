#include "nn/single_stage.h"

#include <algorithm>

#include "covey/base/check.h"
#include "nn/shapes.h"

namespace covey::nn {
namespace {

Compiled CompileSingle(StageSource source) {
  source.batch = 1;
  source.width = 1;
  return Compile(source);
}

}  // namespace

SingleStage::SingleStage(const StageSource& source)
    : offset_(source.offset), inputs_(Volume(source.infos[0].input)), made_(CompileSingle(source)) {
  COVEY_CHECK(made_.input == Order::kBySample && made_.output == Order::kBySample);
  for (std::size_t l = 0; l < made_.layers; ++l) parameters_ += source.infos[l].parameters;
  outputs_ = Volume(source.infos[made_.layers - 1].output);
  output_ = tensor::FlatVector(BufferSize(Order::kBySample, outputs_, 1));
}

void SingleStage::Backward(const BackwardPass& pass) {
  const std::uint8_t* rows[tensor::PaddedBatch(1)] = {};
  BackwardPass single = pass;
  single.norms = nullptr;
  single.rule = {.kind = tensor::UpdateKind::kStore, .first = pass.target};
  single.forward.batch = 1;
  single.forward.tasks = &tasks_;
  single.forward.output = output_.data();
  for (std::size_t b = 0; b < pass.forward.batch; ++b) {
    if (pass.forward.input != nullptr) {
      single.forward.input = pass.forward.input + b * SampleStride(inputs_);
    } else {
      std::fill(std::begin(rows), std::end(rows), pass.forward.rows.rows[b]);
      single.forward.rows.rows = rows;
    }
    single.delta = pass.delta + b * SampleStride(outputs_);
    if (pass.before != nullptr) single.before = pass.before + b * SampleStride(inputs_);
    made_.stage->Forward(single.forward);
    made_.stage->Backward(single);
    double sum = 0;
    for (std::size_t i = 0; i < parameters_; ++i) {
      const auto g = static_cast<double>(pass.target[offset_ + i]);
      sum += g * g;
    }
    pass.norms[b] += sum;
  }
}

}  // namespace covey::nn
