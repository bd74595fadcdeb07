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
  std::span<const std::uint32_t> labels;  // one a sample; empty when the loss takes targets
  const float* const* targets = nullptr;  // one row of outputs() floats a sample, at any alignment
  std::span<const float> weights = {};    // one a sample, finite; empty: all 1
};

// Equation: a_0 = values of the batch; a_l = layer_l(a_{l-1}); the loss is sum_b w_b l_b / size,
// l_b what nn::Loss says and w_b the weight of sample b. Gradients by back-propagation.
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
  // Returns: sum_b w_b l_b; right answers count without weights.
  // Requires: x.size() == parameters(); 0 < size <= batch(); labels < outputs().
  tensor::LossSum Evaluate(tensor::ConstVectorView x, const Batch& batch);

  // As Evaluate, with dropout, and keeps what Update needs. step: tells the dropout of one
  // mini-batch from the next one's.
  tensor::LossSum Forward(tensor::ConstVectorView x, const Batch& batch, std::uint64_t step = 0);

  // Back-propagates the batch of the last Forward and applies `rule` to every parameter once, with
  // the gradient sum_b w_b grad l_b / size at the x of that Forward.
  // Requires: x and batch unchanged since; the rule writes to x (not kStore).
  void Update(tensor::VectorView x, const Batch& batch, const tensor::UpdateRule& rule);

  // Back-propagates the batch of the last Forward into out. Requires: as Update; out.size() ==
  // parameters().
  void Gradient(tensor::ConstVectorView x, const Batch& batch, tensor::VectorView out);

  // norms[b] <- Euclidean norm of grad l_b, the gradient of sample b's own loss without its weight,
  // for the batch of the last Forward. With weights min(1, limit / norm) a second Forward and
  // Gradient then give a gradient to which no sample contributes more than limit / size.
  // Afterwards only another Forward may follow. scratch: of parameters() elements; its contents are
  // lost.
  // Requires: x and batch unchanged since that Forward; norms.size() == batch.size.
  // Cost: no more than a Gradient for dense layers, whose norms need no gradients. Other layers
  // with parameters go through the samples one by one on one thread: for each a forward and a
  // backward pass through the layer at batch 1. The first call allocates those layers' memory for
  // batch 1, later calls nothing.
  // Source: Goodfellow 2015, "Efficient Per-Example Gradient Computations", section 4; what it is
  // for: Abadi et al. 2016, algorithm 1.
  void SampleNorms(tensor::ConstVectorView x, const Batch& batch, std::span<double> norms,
                   tensor::VectorView scratch);

  // What the last pass gave out: [outputs()][PaddedBatch(size)] by feature; logits where the loss
  // does the last layer's activation itself. Valid until the next pass.
  const float* LastOutputs() const;

  // Returns: the name of the first layer whose outputs in the last pass are not all finite; nothing
  // when all are.
  std::optional<std::string> FirstNonFinite() const;

 private:
  struct Step;  // a stage and its buffers

  // Which gradient of the loss a pass asks for: of scale times its sum.
  struct Asked {
    float scale = 0;  // 0: none
    std::span<const float> weights = {};
  };
  tensor::LossSum Run(tensor::ConstVectorView x, const Batch& batch, Asked asked);
  // The loss of the outputs of the last pass; leaves its gradient in deltas_[0].
  tensor::LossSum LossOf(const Batch& batch, Asked asked);
  void GatherTargets(const Batch& batch);
  // `target` is what the rule updates: x itself, or for kStore anything of its size.
  void Backward(const float* x, const Batch& batch, const tensor::UpdateRule& rule, float* target,
                double* norms = nullptr);
  void PrepareNorms();

  ModelSpec spec_;  // without the activation that the loss does itself
  std::vector<LayerInfo> infos_;
  std::vector<Step> steps_;
  std::unique_ptr<tensor::Tasks> own_tasks_;
  tensor::Tasks* tasks_;
  std::uint64_t seed_;
  std::uint64_t step_ = 0;
  std::size_t last_size_ = 0;  // samples of the last pass
  std::size_t batch_;
  std::size_t features_;
  std::size_t outputs_;
  std::size_t parameters_;
  tensor::FlatVector deltas_[2];  // gradients of two neighbouring stages' outputs
  tensor::FlatVector last_;       // the outputs by feature, where the last stage's are by sample
  tensor::FlatVector targets_;    // of the batch, by feature; empty where there are labels
};

}  // namespace covey::nn
