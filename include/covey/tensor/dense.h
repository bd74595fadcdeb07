// Kernels of dense layers over one mini-batch: forward, gradient of the input, gradient of the
// weights fused with the update of an optimizer, softmax cross-entropy.
//
// Shapes: activations and their gradients are feature-major, [features][PaddedBatch(batch)],
// 64-byte aligned: sample b of feature k stands at k * PaddedBatch(batch) + b. Weights are
// [units][inputs], row-major, at any alignment. Columns from `batch` on are padding: finite rubbish
// in activations, zero in gradients.
// Thread: free functions, safe at once on disjoint outputs.  Cost: no allocation.
// Determinism: same build, same level: same bits; a sample's activations do not depend on the rest
// of its batch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/flat_vector.h"
#include "covey/tensor/update.h"

namespace covey::tensor {

inline constexpr std::size_t kBatchAlignment = 16;  // one vector of the widest level

constexpr std::size_t PaddedBatch(std::size_t batch) {
  return (batch + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
}

struct DenseShape {
  std::size_t inputs = 0;
  std::size_t units = 0;
  std::size_t batch = 0;
};

// What a layer reads: activations of the layer before it, or rows of bytes straight from a data
// set.
struct DenseInput {
  const float* activations = nullptr;  // [inputs][PaddedBatch(batch)]; null: the rows
  // PaddedBatch(batch) pointers to `inputs` bytes each (past `batch`: any readable row); the value
  // of a byte is byte * scale + offset.
  const std::uint8_t* const* rows = nullptr;
  float scale = 1;
  float offset = 0;
};

enum class Epilogue : std::uint8_t { kLinear, kRelu };

// Floats of scratch, 64-byte aligned, that the functions below need for batches of up to `batch`
// samples.
std::size_t DenseScratchSize(std::size_t batch);

// output[u][b] = f(bias[u] + sum_k weights[u][k] input[k][b]), f(y) = y or max(y, 0).
// Shapes: output [units][PaddedBatch(batch)]; scratch DenseScratchSize(batch).
void DenseForward(const DenseShape& shape, const DenseInput& input, const float* weights,
                  const float* bias, Epilogue epilogue, float* scratch, float* output);

// out[k][b] = sum_u weights[u][k] delta[u][b], and 0 where mask[k][b] <= 0: the gradient of the
// layer before.
// mask: that layer's output when it is a ReLU (at 0 the gradient is 0), else null.
void DenseBackward(const DenseShape& shape, const float* weights, const float* delta,
                   const float* mask, float* out);

// Where a layer's parameters lie in the flat vector.
struct DenseParameters {
  float* x = nullptr;  // the whole vector
  std::size_t weights = 0;
  std::size_t bias = 0;
};

// Applies `rule` to the layer's weights with gradient dW[u][k] = sum_b delta[u][b] input[k][b] and
// to its bias with db[u] = sum_b delta[u][b]. The gradient itself is never stored as a whole.
void DenseUpdate(const DenseShape& shape, const DenseInput& input, const float* delta,
                 const UpdateRule& rule, const DenseParameters& parameters, float* scratch);

struct CrossEntropy {
  double loss_sum = 0;  // NaN or infinite when any logit of the batch is
  std::uint32_t correct =
      0;  // samples whose label has the greatest logit; ties go to the lower class
};

// Softmax and cross-entropy of logits [classes][PaddedBatch(batch)] against labels[0..batch), in
// place: logits[c][b] <- scale (softmax(logits)[c][b] - [c == labels[b]]), the gradient of scale
// times the summed loss; zero in the padding. A scale of 0 leaves the logits alone (evaluation).
// Requires: labels < classes.
CrossEntropy SoftmaxCrossEntropy(std::size_t classes, std::size_t batch,
                                 const std::uint32_t* labels, float scale, float* logits);

}  // namespace covey::tensor
