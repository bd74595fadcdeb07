// One training step: gradient and update, in one pass over the model where the optimizer allows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "covey/data/dataset.h"
#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/tasks.h"

namespace covey::gradient {

struct StepResult {
  double loss_sum = 0;        // over the samples of the batch, by their weights, before the update
  std::uint32_t correct = 0;  // of them classified right, before the update
  std::uint32_t samples = 0;
  bool finite = true;  // false: the loss is not a finite number, nothing was updated
};

// A batch may be as large as the shard. Up to 256 samples pass through the model at once and their
// gradient is fused with the update (optim::Optimizer::fused); larger batches, and optimizers that
// need the whole gradient first, store it: small perceptrons by tensor/small_mlp.h, other models in
// pieces of 256 samples that are added in order.
//
// Cost: activations of a batch or piece, the optimizer's slots, and the gradient where it is stored
// (twice for large batches), allocated in the constructor; for SmallMlp and for copies of rows
// (gradient/batch.h) in the first step; later steps allocate nothing. The first use of weights or
// norms may allocate what only they need.
// Speed: bench/train.cc, bench/batch.cc.
// Thread: one thread at a time calls; parts of a step run on `tasks`. Denormal numbers count as
// zero while a step runs.
// Determinism: a function of x, the optimizer's state, the rows and the kernel level; bitwise, for
// any number of threads.
class Trainer {
 public:
  // batch: the largest. Requires: valid spec and settings; batch > 0; tasks, when given, outlives
  // the trainer (else one thread).
  Trainer(const nn::ModelSpec& spec, const optim::Settings& settings, std::size_t batch,
          tensor::Tasks* tasks = nullptr);
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  // x <- x moved by one optimizer step along the mean gradient of the batch `rows` (indices into
  // dataset). When the loss of the batch is NaN or infinite, x, the slots and the step counter stay
  // as they were.
  // Requires: x has the size of the model's layout; 0 < rows.size() <= batch; every row <
  // dataset.size(); the data set has the model's features, and at most its classes or its outputs
  // as targets.
  StepResult Step(tensor::VectorView x, const data::Dataset& dataset,
                  std::span<const std::uint32_t> rows);

  // out <- sum_b w_b grad l_b / rows.size() at x, l_b the loss of the sample in rows[b], whether or
  // not the loss is finite. weights: one w_b a row, finite; empty: all 1, the mean gradient.
  // Requires: as Step.
  // Cost: as a step; weights take small perceptrons off SmallMlp, through a network of their own.
  StepResult Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                      std::span<const std::uint32_t> rows, tensor::VectorView out,
                      std::span<const float> weights = {});

  // norms[b] <- Euclidean norm of grad l_b, with the dropout that Gradient gives the same rows; not
  // finite where that gradient is not. Weights min(1, limit / norm) then make a gradient to which
  // no sample contributes more than limit / rows.size().
  // Requires: as Step; norms.size() == rows.size(). Cost: nn::Network::SampleNorms.
  StepResult SampleNorms(tensor::ConstVectorView x, const data::Dataset& dataset,
                         std::span<const std::uint32_t> rows, std::span<double> norms);

  // After a step that was not finite. Returns: the name of the first layer whose outputs are not
  // all finite; nothing when all are, and only the loss is not.
  std::optional<std::string> FirstNonFinite() const;

  optim::Optimizer& optimizer();
  const optim::Optimizer& optimizer() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covey::gradient
