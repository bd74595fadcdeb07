#include "covey/gradient/trainer.h"

#include <cmath>

#include "covey/nn/network.h"
#include "covey/tensor/flush_denormals.h"
#include "gradient/batch.h"

namespace covey::gradient {

struct Trainer::Impl {
  Impl(const nn::ModelSpec& spec, const optim::Settings& settings, std::size_t size)
      : network(spec, size), optimizer(settings, network.parameters()), batch(size) {}

  StepResult Forward(tensor::ConstVectorView x, const nn::Batch& gathered) {
    const tensor::LossSum loss = network.Forward(x, gathered, optimizer.steps());
    return {.loss_sum = loss.loss_sum,
            .correct = loss.correct,
            .samples = static_cast<std::uint32_t>(gathered.size),
            .finite = std::isfinite(loss.loss_sum)};
  }

  nn::Network network;
  optim::Optimizer optimizer;
  BatchView batch;
};

Trainer::Trainer(const nn::ModelSpec& spec, const optim::Settings& settings, std::size_t batch)
    : impl_(std::make_unique<Impl>(spec, settings, batch)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

StepResult Trainer::Step(tensor::VectorView x, const data::Dataset& dataset,
                         std::span<const std::uint32_t> rows) {
  const tensor::FlushDenormals guard;
  const nn::Batch batch = impl_->batch.Gather(impl_->network, dataset, rows);
  const StepResult result = impl_->Forward(x, batch);
  if (result.finite) impl_->network.Update(x, batch, impl_->optimizer.BeginStep(x));
  return result;
}

StepResult Trainer::Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                             std::span<const std::uint32_t> rows, tensor::VectorView out) {
  COVEY_CHECK(out.size() == x.size(), out.size(), x.size());
  const tensor::FlushDenormals guard;
  const nn::Batch batch = impl_->batch.Gather(impl_->network, dataset, rows);
  const StepResult result = impl_->Forward(x, batch);
  impl_->network.Gradient(x, batch, out);
  return result;
}

optim::Optimizer& Trainer::optimizer() { return impl_->optimizer; }
const optim::Optimizer& Trainer::optimizer() const { return impl_->optimizer; }

}  // namespace covey::gradient
