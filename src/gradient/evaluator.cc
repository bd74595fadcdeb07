#include "covey/gradient/evaluator.h"

#include <algorithm>

#include "covey/nn/network.h"
#include "covey/tensor/flush_denormals.h"
#include "gradient/batch.h"

namespace covey::gradient {
namespace {

// Large enough for the kernels' full width, small enough for activations to stay in the L2 cache.
constexpr std::size_t kBatch = 128;

}  // namespace

struct Evaluator::Impl {
  explicit Impl(const nn::ModelSpec& spec)
      : numerics(spec.numerics), network(spec, kBatch), batch(kBatch) {}

  tensor::Numerics numerics;
  nn::Network network;
  BatchView batch;
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
  for (std::size_t first = 0; first < rows.size(); first += kBatch) {
    const auto part = rows.subspan(first, std::min(kBatch, rows.size() - first));
    const tensor::LossSum result =
        impl_->network.Evaluate(x, impl_->batch.Gather(impl_->network, dataset, part));
    loss += result.loss_sum;
    correct += result.correct;
  }
  if (rows.empty()) return {};
  const auto samples = static_cast<double>(rows.size());
  return {.loss = loss / samples,
          .accuracy = static_cast<double>(correct) / samples,
          .samples = rows.size()};
}

}  // namespace covey::gradient
