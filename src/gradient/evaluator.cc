#include "covey/gradient/evaluator.h"

#include <algorithm>

#include "covey/nn/network.h"
#include "covey/tensor/flush_denormals.h"
#include "gradient/batch.h"
#include "gradient/metrics.h"

namespace covey::gradient {
namespace {

// Large enough for the kernels' full width, small enough for activations to stay in the L2 cache.
constexpr std::size_t kBatch = 128;

}  // namespace

struct Evaluator::Impl {
  explicit Impl(const nn::ModelSpec& spec)
      : numerics(spec.numerics),
        network(spec, kBatch),
        batch(kBatch),
        metrics(spec),
        classification(nn::IsClassification(spec)) {}

  tensor::Numerics numerics;
  nn::Network network;
  BatchView batch;
  Metrics metrics;
  bool classification;
};

Evaluator::Evaluator(const nn::ModelSpec& spec) : impl_(std::make_unique<Impl>(spec)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Evaluation Evaluator::Run(tensor::ConstVectorView x, const data::Dataset& dataset,
                          std::span<const std::uint32_t> rows) {
  const tensor::FlushDenormals guard(impl_->numerics);
  double loss = 0;
  std::uint64_t correct = 0;
  impl_->metrics.Reset();
  for (std::size_t first = 0; first < rows.size(); first += kBatch) {
    const auto part = rows.subspan(first, std::min(kBatch, rows.size() - first));
    const nn::Batch batch = impl_->batch.Gather(impl_->network, dataset, part);
    const tensor::LossSum result = impl_->network.Evaluate(x, batch);
    impl_->metrics.Add(impl_->network.LastOutputs(), batch);
    loss += result.loss_sum;
    correct += result.correct;
  }
  if (rows.empty()) return {};
  const auto samples = static_cast<double>(rows.size());
  Evaluation evaluation;
  evaluation.loss = loss / samples;
  if (impl_->classification) evaluation.accuracy = static_cast<double>(correct) / samples;
  evaluation.samples = rows.size();
  impl_->metrics.Fill(evaluation);
  return evaluation;
}

Confusion Evaluator::Confuse(tensor::ConstVectorView x, const data::Dataset& dataset,
                             std::span<const std::uint32_t> rows) {
  COVEY_CHECK(dataset.has_labels());
  const tensor::FlushDenormals guard(impl_->numerics);
  const std::size_t classes = impl_->network.outputs();
  Confusion confusion{.classes = classes, .counts = {}};
  confusion.counts.resize(classes * classes);
  for (std::size_t first = 0; first < rows.size(); first += kBatch) {
    const auto part = rows.subspan(first, std::min(kBatch, rows.size() - first));
    const nn::Batch batch = impl_->batch.Gather(impl_->network, dataset, part);
    impl_->network.Evaluate(x, batch);
    const std::size_t stride = tensor::PaddedBatch(batch.size);
    for (std::size_t b = 0; b < batch.size; ++b) {
      const std::size_t answer = Answer(impl_->network.LastOutputs(), classes, stride, b);
      ++confusion.counts[batch.labels[b] * classes + answer];
    }
  }
  return confusion;
}

}  // namespace covey::gradient
