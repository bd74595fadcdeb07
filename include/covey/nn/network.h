// The network as it trains: one mini-batch forward and back through the kernels, on memory that is
// allocated once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "covey/nn/model.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/loss.h"
#include "covey/tensor/rows.h"
#include "covey/tensor/tasks.h"
#include "covey/tensor/update.h"

namespace covey::nn {

// A mini-batch that still lies in its data set.
// Shapes: PaddedBatch(size) rows of the model's features.
struct Batch {
  tensor::RowInput rows;
  std::size_t size = 0;                   // samples
  std::span<const std::uint32_t> labels;  // one a sample
};

// Equation: a_0 = values of the batch; a_l = layer_l(a_{l-1}); the loss is the mean over the batch
// of what nn::Loss says. Gradients by back-propagation.
// Cost: activations of every layer and gradients of two, for the largest batch; a step reads and
// writes each weight once.
// Thread: one thread at a time calls; parts of a step run on `tasks`.
// Determinism: x, batch, dropout's seed and step, kernel level; not the number of threads.
class Network {
 public:
  // Requires: a valid spec; batch > 0; tasks, when given, outlives the network (else one thread).
  // seed: of dropout.
  Network(const ModelSpec& spec, std::size_t batch, tensor::Tasks* tasks = nullptr,
          std::uint64_t seed = 0);
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  std::size_t batch() const { return batch_; }
  std::size_t features() const { return features_; }
  std::size_t outputs() const { return outputs_; }
  std::size_t parameters() const { return parameters_; }

  // Loss and right answers of a batch; no gradients, no dropout.
  // Requires: x.size() == parameters(); 0 < size <= batch(); labels < outputs().
  tensor::LossSum Evaluate(tensor::ConstVectorView x, const Batch& batch);

  // As Evaluate, with dropout, and keeps what Update needs. step: tells the dropout of one
  // mini-batch from the next one's.
  tensor::LossSum Forward(tensor::ConstVectorView x, const Batch& batch, std::uint64_t step = 0);

  // Back-propagates the batch of the last Forward and applies `rule` to every parameter once, with
  // the gradient of the mean loss at the x of that Forward.
  // Requires: x and batch unchanged since; the rule writes to x (not kStore).
  void Update(tensor::VectorView x, const Batch& batch, const tensor::UpdateRule& rule);

  // Back-propagates the batch of the last Forward into out. Requires: as Update; out.size() ==
  // parameters().
  void Gradient(tensor::ConstVectorView x, const Batch& batch, tensor::VectorView out);

  // Returns: the name of the first layer whose outputs in the last pass are not all finite; nothing
  // when all are.
  std::optional<std::string> FirstNonFinite() const;

 private:
  struct Step;  // a stage and its buffers

  tensor::LossSum Run(tensor::ConstVectorView x, const Batch& batch, float scale);
  // `target` is what the rule updates: x itself, or for kStore anything of its size.
  void Backward(const float* x, const Batch& batch, const tensor::UpdateRule& rule, float* target);

  std::vector<Step> steps_;
  std::unique_ptr<tensor::Tasks> own_tasks_;
  tensor::Tasks* tasks_;
  tensor::Numerics numerics_;
  std::uint64_t seed_;
  std::uint64_t step_ = 0;
  std::size_t last_size_ = 0;  // samples of the last pass
  std::size_t batch_;
  std::size_t features_;
  std::size_t outputs_;
  std::size_t parameters_;
  tensor::FlatVector deltas_[2];  // gradients of two neighbouring stages' outputs
};

}  // namespace covey::nn
