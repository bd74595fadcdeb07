#include "gradient/metrics.h"

#include <algorithm>
#include <cmath>

#include "covey/tensor/dense.h"

namespace covey::gradient {
namespace {

constexpr std::size_t kBest = 5;

double Huber(double error, double delta) {
  const double size = std::abs(error);
  return size <= delta ? error * error / 2 : delta * (size - delta / 2);
}

}  // namespace

Metrics::Metrics(const nn::ModelSpec& spec)
    : loss_(spec.loss),
      huber_delta_(static_cast<double>(spec.huber_delta)),
      outputs_(nn::Outputs(spec)) {
  if (nn::IsClassification(spec)) return;
  first_.resize(outputs_);
  targets_.resize(outputs_);
  target_squares_.resize(outputs_);
}

void Metrics::Reset() {
  samples_ = among_best_ = 0;
  squared_ = absolute_ = loss_sum_ = loss_squares_ = 0;
  std::fill(targets_.begin(), targets_.end(), 0.0);
  std::fill(target_squares_.begin(), target_squares_.end(), 0.0);
}

void Metrics::Add(const float* outputs, const nn::Batch& batch) {
  if (!targets_.empty()) {
    AddErrors(outputs, batch);
  } else if (loss_ == nn::Loss::kSparseCategoricalCrossEntropy && outputs_ > kBest) {
    AddRanks(outputs, batch);
  }
  samples_ += batch.size;
}

void Metrics::AddRanks(const float* outputs, const nn::Batch& batch) {
  const std::size_t stride = tensor::PaddedBatch(batch.size);
  for (std::size_t b = 0; b < batch.size; ++b) {
    const std::size_t label = batch.labels[b];
    const float own = outputs[label * stride + b];
    std::size_t better = 0;
    for (std::size_t c = 0; c < outputs_; ++c) {
      const float other = outputs[c * stride + b];
      // Written so that an output that is no number never counts as one of the best.
      better += !(other <= own) || (other == own && c < label) ? 1u : 0u;
    }
    among_best_ += better < kBest ? 1u : 0u;
  }
}

void Metrics::AddErrors(const float* outputs, const nn::Batch& batch) {
  const std::size_t stride = tensor::PaddedBatch(batch.size);
  const auto count = static_cast<double>(outputs_);
  for (std::size_t b = 0; b < batch.size; ++b) {
    double loss = 0;
    for (std::size_t c = 0; c < outputs_; ++c) {
      const double target = static_cast<double>(batch.targets[b][c]);
      const double error = static_cast<double>(outputs[c * stride + b]) - target;
      squared_ += error * error;
      absolute_ += std::abs(error);
      loss += loss_ == nn::Loss::kHuber ? Huber(error, huber_delta_) : error * error;
      if (samples_ == 0 && b == 0) first_[c] = target;
      const double moved = target - first_[c];  // against cancellation far from 0
      targets_[c] += moved;
      target_squares_[c] += moved * moved;
    }
    loss /= count;
    loss_sum_ += loss;
    loss_squares_ += loss * loss;
  }
}

void Metrics::Fill(Evaluation& evaluation) const {
  const auto n = static_cast<double>(samples_);
  if (targets_.empty()) {
    if (loss_ == nn::Loss::kSparseCategoricalCrossEntropy && outputs_ > kBest) {
      evaluation.top5 = static_cast<double>(among_best_) / n;
    }
    return;
  }
  RegressionErrors errors;
  errors.mean_squared = squared_ / (n * static_cast<double>(outputs_));
  errors.mean_absolute = absolute_ / (n * static_cast<double>(outputs_));
  double spread = 0;
  for (std::size_t c = 0; c < outputs_; ++c) {
    spread += std::max(0.0, target_squares_[c] - targets_[c] * targets_[c] / n);
  }
  if (spread > 0) errors.r2 = 1 - squared_ / spread;
  evaluation.errors = errors;
  const double mean = loss_sum_ / n;
  evaluation.loss_error = std::sqrt(std::max(0.0, loss_squares_ / n - mean * mean) / n);
}

std::size_t Answer(const float* outputs, std::size_t classes, std::size_t stride, std::size_t b) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < classes; ++c) {
    if (outputs[c * stride + b] > outputs[best * stride + b]) best = c;
  }
  return best;
}

}  // namespace covey::gradient
