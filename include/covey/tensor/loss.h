// Losses over the outputs of one mini-batch, with their gradient.
//
// Equation, y the outputs and t the targets of a sample, w its weight, C outputs:
//   SoftmaxCrossEntropy          l = -log softmax(y)[label]
//   SoftmaxCrossEntropyTargets   l = -sum_c t_c log softmax(y)_c         (t need not sum to 1)
//   BinaryCrossEntropy           l = mean_c -(t_c log s_c + (1 - t_c) log(1 - s_c)), s = sigmoid(y)
//   MeanSquaredError             l = mean_c (y_c - t_c)^2
//   Huber                        l = mean_c h(y_c - t_c), h(e) = e^2 / 2 where |e| <= delta, else
//                                delta (|e| - delta / 2)
//   loss_sum = sum_b w_b l_b;  outputs <- d(scale loss_sum) / d(outputs)
// For the gradient of the mean over the batch, scale = 1 / batch. The cross-entropies take logits.
//
// Shapes: outputs and targets [outputs][PaddedBatch(batch)] by feature, 64-byte aligned; labels and
// weights [batch].
// Errors: loss_sum is NaN or infinite when any output of a sample in the batch is.
// Cost: one pass for elementwise losses, two or three for softmax; no allocation.
// Thread: free functions, safe at once on disjoint outputs.
// Determinism: numerics.h; classes are summed in ascending order, samples in ascending order in
// double. What a sample gets does not depend on the rest of its batch.
// Source: binary cross-entropy from logits as max(y, 0) - y t + log(1 + exp(-|y|)), which cannot
// overflow; Huber 1964, equation 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/numerics.h"
#include "covey/tensor/padding.h"

namespace covey::tensor {

struct LossBatch {
  std::size_t outputs = 0;  // C; classes
  std::size_t batch = 0;    // samples
  // The outputs become the gradient, with zeros in the padding. 0: they stay (evaluation).
  float scale = 0;
  const float* weights = nullptr;  // finite; null: all 1
  Numerics numerics = Numerics::kFast;
};

struct LossSum {
  double loss_sum = 0;
  // Samples, unweighted, that are classified well. Softmax: the label, or the greatest target, has
  // the greatest output; ties go to the lower class. Binary: every output is above 0 just where its
  // target is above 1/2. Otherwise 0.
  std::uint32_t correct = 0;
};

// Requires: labels < batch.outputs.
LossSum SoftmaxCrossEntropy(const LossBatch& batch, const std::uint32_t* labels, float* outputs);

LossSum SoftmaxCrossEntropyTargets(const LossBatch& batch, const float* targets, float* outputs);
LossSum BinaryCrossEntropy(const LossBatch& batch, const float* targets, float* outputs);
LossSum MeanSquaredError(const LossBatch& batch, const float* targets, float* outputs);

struct HuberDelta {
  float value = 1;
};

// Requires: delta > 0.
LossSum Huber(const LossBatch& batch, HuberDelta delta, const float* targets, float* outputs);

}  // namespace covey::tensor
