// Sums from which metrics come, over the batches of an evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "covey/gradient/evaluator.h"
#include "covey/nn/network.h"

namespace covey::gradient {

// Thread: one. Add allocates nothing.
class Metrics {
 public:
  explicit Metrics(const nn::ModelSpec& spec);

  void Reset();
  // Takes a batch whose forward pass gave `outputs`, [outputs][PaddedBatch(batch.size)].
  void Add(const float* outputs, const nn::Batch& batch);
  // Fills top5, errors and loss_error. Requires: at least one sample.
  void Fill(Evaluation& evaluation) const;

 private:
  void AddRanks(const float* outputs, const nn::Batch& batch);
  void AddErrors(const float* outputs, const nn::Batch& batch);

  nn::Loss loss_;
  double huber_delta_;
  std::size_t outputs_;
  std::uint64_t samples_ = 0;
  std::uint64_t among_best_ = 0;
  double squared_ = 0;
  double absolute_ = 0;
  double loss_sum_ = 0;  // of single samples' losses, and of their squares
  double loss_squares_ = 0;
  std::vector<double> first_;    // a target of the first sample, from which the others are counted
  std::vector<double> targets_;  // sums of them by output, and of their squares
  std::vector<double> target_squares_;
};

// Returns: the class with the greatest output of sample b; of equals the lowest.
std::size_t Answer(const float* outputs, std::size_t classes, std::size_t stride, std::size_t b);

}  // namespace covey::gradient
