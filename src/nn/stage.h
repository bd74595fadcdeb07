// The parts that a Network is made of: each does one layer of the model, or several that pay off
// together, over a mini-batch.
//
// Shapes: a stage says in which order its input and its output lie in memory; Network transposes
// where two neighbours differ.
//   by feature: [features][PaddedBatch(batch)]; padding: finite rubbish in activations, zero in
//               gradients. What dense kernels want.
//   by sample:  [batch][SampleStride(features)]; a sample's floats in the row-major order of its
//               shape (images: channels fastest), then zeros.
// Everything is 64-byte aligned.
// Thread: one thread calls a stage; its parts run on pass.tasks. How the work is cut into parts
// never depends on the number of threads, and results of parts are added in their order.
// Cost: all memory is allocated at construction, for the largest batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "covey/nn/model.h"
#include "covey/tensor/dense.h"
#include "covey/tensor/numerics.h"
#include "covey/tensor/rows.h"
#include "covey/tensor/tasks.h"
#include "covey/tensor/update.h"

namespace covey::nn {

enum class Order : std::uint8_t { kByFeature, kBySample };

// Floats from one sample to the next in buffers by sample.
constexpr std::size_t SampleStride(std::size_t features) { return (features + 15) / 16 * 16; }

// Floats that a buffer of `batch` samples takes.
constexpr std::size_t BufferSize(Order order, std::size_t features, std::size_t batch) {
  return order == Order::kByFeature ? features * tensor::PaddedBatch(batch)
                                    : batch * SampleStride(features);
}

// One way of a mini-batch through a stage.
struct ForwardPass {
  std::size_t batch = 0;     // samples
  const float* x = nullptr;  // all parameters
  tensor::RowInput rows;     // the samples, for the first stage; it has no `input`
  const float* input = nullptr;
  float* output = nullptr;
  bool training = false;   // dropout drops; what Backward needs is kept
  std::uint64_t step = 0;  // tells one mini-batch's dropout from the next one's
  std::uint64_t seed = 0;  // of dropout
  tensor::Tasks* tasks = nullptr;
};

// The way back, after a ForwardPass with `training` over the same batch.
struct BackwardPass {
  ForwardPass forward;      // as it was, x included: unchanged until `rule` is applied
  float* delta = nullptr;   // gradient of the loss by the stage's output; may be overwritten
  float* before = nullptr;  // receives the gradient by its input; null when nobody wants it
  tensor::UpdateRule rule;  // applied to each of the stage's parameters once, after x was read
  float* target = nullptr;  // the vector that the rule updates: x itself, or any for kStore
  // Not null, and only where Compiled::norms says so: no rule is applied; to norms[b] the stage
  // adds the square of the norm of sample b's own gradient by the stage's parameters, where `delta`
  // is of the loss of that sample alone.
  double* norms = nullptr;  // [batch]
};

class Stage {
 public:
  virtual ~Stage() = default;
  virtual void Forward(const ForwardPass& pass) = 0;
  virtual void Backward(const BackwardPass& pass) = 0;
};

// A stage with what Network must know of it.
struct Compiled {
  std::unique_ptr<Stage> stage;  // null: the layers change nothing but the shape's name
  std::size_t layers = 1;        // of the spec that it does, from where the stage before it ended
  Order input = Order::kByFeature;
  Order output = Order::kByFeature;
  bool reads_rows =
      false;           // as first stage it reads pass.rows itself; else they are loaded by sample
  bool norms = false;  // it has a way to BackwardPass::norms that is shorter than sample by sample
};

// What a stage is made from. Layers i, i + 1, ... of the spec are at layers[0], layers[1], ...;
// infos and `offset` (of the first slice in x) go with them.
struct StageSource {
  const ModelSpec& spec;
  const LayerSpec* layers;
  const LayerInfo* infos;
  std::size_t count = 0;   // layers from here to the end
  std::size_t offset = 0;  // of this layer's parameters in x
  std::size_t batch = 0;   // largest
  std::size_t width = 1;   // of the tasks that passes will bring: scratch buffers for workers
  std::size_t index = 0;   // of the layer in the spec
};

// Makes the stage for the layers at the front of `source`: the one place that knows all stages.
Compiled Compile(const StageSource& source);

}  // namespace covey::nn
