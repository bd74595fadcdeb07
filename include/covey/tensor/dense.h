// Kernels of dense layers over one mini-batch: forward, gradient of the input, gradient of the
// weights fused with the update of an optimizer.
//
// Shapes: activations and their gradients are feature-major, [features][PaddedBatch(batch)],
// 64-byte aligned: sample b of feature k stands at k * PaddedBatch(batch) + b. Weights are
// [units][inputs], row-major, at any alignment. Columns from `batch` on are padding: finite rubbish
// in activations, zero in gradients.
// Thread: free functions, safe at once on disjoint outputs.  Cost: no allocation.
// Ranges: threads may share a layer, each with a DenseShape and pointers of its own, and get the
// same bits as one thread: DenseForward and DenseUpdate for units [u, u + shape.units) take weights
// + u * stride, bias + u, output or delta + u * PaddedBatch(batch), DenseParameters moved alike;
// DenseBackward for inputs [k, k + shape.inputs) takes weights + k, out and mask + k *
// PaddedBatch(batch), and weight_stride as the layer's whole number of inputs.
// Determinism: shape.numerics, numerics.h. Every sum is added in ascending order of what it runs
// over (inputs, units, samples), but for the bias gradient in fast numerics. A sample's activations
// do not depend on the rest of its batch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/flat_vector.h"
#include "covey/tensor/numerics.h"
#include "covey/tensor/padding.h"
#include "covey/tensor/rows.h"
#include "covey/tensor/update.h"

namespace covey::tensor {

struct DenseShape {
  std::size_t inputs = 0;
  std::size_t units = 0;
  std::size_t batch = 0;
  Numerics numerics = Numerics::kFast;
  std::size_t weight_stride = 0;  // floats from a unit's weights to the next unit's; 0: inputs
};

// What a layer reads: activations of the layer before it, or rows straight from a data set.
struct DenseInput {
  const float* activations = nullptr;  // [inputs][PaddedBatch(batch)]; null: the rows
  RowInput rows = {};                  // of `inputs` elements
  // The same input by sample, [batch][sample_stride], when the caller has that too: saves
  // DenseUpdate a transposition. Rows end in finite rubbish up to a multiple of 16 floats.
  const float* samples = nullptr;
  std::size_t sample_stride = 0;
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

}  // namespace covey::tensor
