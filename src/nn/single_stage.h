// A stage that takes the samples of a mini-batch one at a time: norms of each sample's gradient,
// for stages that know no shorter way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/dense.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/tasks.h"
#include "nn/stage.h"

namespace covey::nn {

// Cost: memory of the stage for a batch of 1; a sample costs a forward and a backward pass through
// it, which pack the weights anew, and two passes over the gradient.
class SingleStage {
 public:
  // source: as the batch's stage was made from; its batch and width are not looked at.
  // Requires: the stage's input and output are by sample.
  explicit SingleStage(const StageSource& source);

  // Does what BackwardPass::norms asks of a stage, for parameters that start at `offset`; writes
  // pass.before. The gradient of one sample after the other is stored in pass.target.
  void Backward(const BackwardPass& pass);

 private:
  std::size_t offset_;
  std::size_t parameters_ = 0;
  std::size_t inputs_;
  std::size_t outputs_;
  Compiled made_;
  tensor::SerialTasks tasks_;
  tensor::FlatVector output_;
};

}  // namespace covey::nn
