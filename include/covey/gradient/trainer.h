// One training step on the calling thread: gradient and update in one pass over the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "covey/data/dataset.h"
#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"
#include "covey/tensor/flat_vector.h"

namespace covey::gradient {

struct StepResult {
  double loss_sum = 0;        // over the samples of the batch, before the update
  std::uint32_t correct = 0;  // of them classified right, before the update
  std::uint32_t samples = 0;
  bool finite = true;  // false: the loss is not a finite number, nothing was updated
};

// Cost: activations of one batch and the optimizer's slots, allocated in the constructor; Step and
// Gradient allocate nothing. 784-72-10, batch 32: see bench/train.cc.
// Thread: one thread at a time. Denormal numbers count as zero while a step runs.
// Determinism: a function of x, the optimizer's state, the rows and the kernel level; bitwise.
class Trainer {
 public:
  // Requires: valid spec and settings; batch > 0.
  Trainer(const nn::ModelSpec& spec, const optim::Settings& settings, std::size_t batch);
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  // x <- x moved by one optimizer step along the mean gradient of the batch `rows` (indices into
  // dataset). When the loss of the batch is NaN or infinite, x, the slots and the step counter stay
  // as they were.
  // Requires: x has the size of the model's layout; 0 < rows.size() <= batch; every row <
  // dataset.size(); the data set has the model's features and at most its classes.
  StepResult Step(tensor::VectorView x, const data::Dataset& dataset,
                  std::span<const std::uint32_t> rows);

  // out <- mean gradient of the batch at x (whether or not the loss is finite). Same requirements.
  StepResult Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                      std::span<const std::uint32_t> rows, tensor::VectorView out);

  optim::Optimizer& optimizer();
  const optim::Optimizer& optimizer() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covey::gradient
