// The network as it trains: one mini-batch through the dense kernels, on memory that is allocated
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "covey/nn/model.h"
#include "covey/tensor/dense.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/update.h"

namespace covey::nn {

// A mini-batch that still lies in its data set.
// Shapes: PaddedBatch(labels.size()) row pointers (past the labels: any readable row), each to the
// model's features in bytes; the value of a byte is byte * scale + offset.
struct ByteBatch {
  std::span<const std::uint8_t* const> rows;
  std::span<const std::uint32_t> labels;
  float scale = 1;
  float offset = 0;
};

// Equation: a_0 = values of the batch; a_l = f_l(W_l a_{l-1} + b_l); loss = mean over the batch of
// -log softmax(a_L)[label]. Gradients by back-propagation.
// Cost: (sum of units + 2 max units) floats a sample of the largest batch; a step reads and writes
// each weight once.
// Thread: one thread at a time.
class Network {
 public:
  // Requires: a valid spec; batch > 0.
  Network(const ModelSpec& spec, std::size_t batch);

  std::size_t batch() const { return batch_; }
  std::size_t features() const { return layers_.front().inputs; }
  std::size_t classes() const { return layers_.back().units; }
  std::size_t parameters() const { return parameters_; }

  // Loss and right answers of a batch; no gradients.
  // Requires: x.size() == parameters(); 0 < labels.size() <= batch(); labels < classes().
  tensor::CrossEntropy Evaluate(tensor::ConstVectorView x, const ByteBatch& batch);

  // As Evaluate, and keeps what Update needs.
  tensor::CrossEntropy Forward(tensor::ConstVectorView x, const ByteBatch& batch);

  // Back-propagates the batch of the last Forward and applies `rule` to every parameter once, with
  // the gradient of the mean loss at the x of that Forward.
  // Requires: x and batch unchanged since; the rule writes to x (not kStore).
  void Update(tensor::VectorView x, const ByteBatch& batch, const tensor::UpdateRule& rule);

  // Back-propagates the batch of the last Forward into out. Requires: as Update; out.size() ==
  // parameters().
  void Gradient(tensor::ConstVectorView x, const ByteBatch& batch, tensor::VectorView out);

 private:
  struct Layer {
    std::size_t inputs = 0;
    std::size_t units = 0;
    std::size_t weights = 0;  // offsets into x
    std::size_t bias = 0;
    std::size_t output = 0;  // offset into activations_, in samples' floats
    tensor::Epilogue epilogue = tensor::Epilogue::kLinear;
  };

  float* Output(std::size_t layer, std::size_t batch);
  tensor::DenseInput InputOf(std::size_t layer, const ByteBatch& batch);
  tensor::CrossEntropy Run(tensor::ConstVectorView x, const ByteBatch& batch, float scale);
  // `target` is what the rule updates: x itself, or for kStore anything of its size.
  void Backward(const float* x, const ByteBatch& batch, const tensor::UpdateRule& rule,
                float* target);

  std::vector<Layer> layers_;
  std::size_t batch_;
  std::size_t parameters_ = 0;
  tensor::FlatVector activations_;  // outputs of all layers, one behind the other
  tensor::FlatVector deltas_[2];    // gradients of two neighbouring layers' outputs
  tensor::FlatVector scratch_;
};

}  // namespace covey::nn
