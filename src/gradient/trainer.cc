#include "covey/gradient/trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "covey/nn/network.h"
#include "covey/tensor/flush_denormals.h"
#include "covey/tensor/kernels.h"
#include "covey/tensor/small_mlp.h"
#include "gradient/batch.h"
#include "gradient/small_model.h"

namespace covey::gradient {
namespace {

// Larger batches pass through a network in pieces of so many samples, so that activations stay in
// the cache and a whole shard needs no more memory than this.
constexpr std::size_t kPiece = 256;
constexpr unsigned kPieceBits =
    40;  // where the number of a piece stands in the step of its dropout

}  // namespace

// Two ways: small models whose gradient is needed as a whole go through SmallMlp, all others
// through a network, whose update is fused with the gradient where the optimizer allows it.
struct Trainer::Impl {
  Impl(const nn::ModelSpec& spec, const optim::Settings& settings, std::size_t size,
       tensor::Tasks* given)
      : tasks(given != nullptr ? *given : serial),
        numerics(spec.numerics),
        features(nn::Features(spec)),
        outputs(nn::Outputs(spec)),
        largest(size),
        optimizer(settings, nn::LayoutOf(spec).size(), spec.numerics) {
    COVEY_CHECK(size > 0, size);
    const std::size_t parameters = nn::LayoutOf(spec).size();
    const bool whole = !optimizer.fused() || size > kPiece;
    if (whole) gradient = tensor::FlatVector(parameters);
    if (const auto shape = SmallShapeOf(spec); whole && shape) {
      small.emplace(*shape, tasks.width());
      return;
    }
    network.emplace(spec, std::min(size, kPiece), given);
    batch.emplace(std::min(size, kPiece));
    if (size > kPiece) piece = tensor::FlatVector(parameters);
  }

  // Whether a step is one pass over the model.
  bool fused() const { return network && optimizer.fused() && largest <= kPiece; }

  StepResult Forward(tensor::ConstVectorView x, const nn::Batch& gathered, std::uint64_t number) {
    const tensor::LossSum loss =
        network->Forward(x, gathered, optimizer.steps() + (number << kPieceBits));
    return {.loss_sum = loss.loss_sum,
            .correct = loss.correct,
            .samples = static_cast<std::uint32_t>(gathered.size),
            .finite = std::isfinite(loss.loss_sum)};
  }

  StepResult Small(tensor::ConstVectorView x, const data::Dataset& dataset,
                   std::span<const std::uint32_t> rows, tensor::VectorView out);
  StepResult Pieces(tensor::ConstVectorView x, const data::Dataset& dataset,
                    std::span<const std::uint32_t> rows, tensor::VectorView out);
  // out <- mean gradient of the batch.
  StepResult Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                      std::span<const std::uint32_t> rows, tensor::VectorView out);

  tensor::SerialTasks serial;
  tensor::Tasks& tasks;
  tensor::Numerics numerics;
  std::size_t features;
  std::size_t outputs;
  std::size_t largest;
  optim::Optimizer optimizer;
  std::optional<tensor::SmallMlp> small;
  std::optional<nn::Network> network;
  std::optional<BatchView> batch;
  tensor::FlatVector gradient;            // of the batch, where it is not fused with the update
  tensor::FlatVector piece;               // of one piece of a large batch
  std::optional<std::string> non_finite;  // layer of the first piece that went wrong
};

StepResult Trainer::Impl::Small(tensor::ConstVectorView x, const data::Dataset& dataset,
                                std::span<const std::uint32_t> rows, tensor::VectorView out) {
  COVEY_CHECK(dataset.features() == features, dataset.features(), features);
  COVEY_CHECK(dataset.has_labels() ? dataset.classes() <= outputs : dataset.outputs() == outputs,
              dataset.classes(), dataset.outputs(), outputs);
  const std::uint32_t last = *std::max_element(rows.begin(), rows.end());
  COVEY_CHECK(last < dataset.size(), last, dataset.size());
  const tensor::SampleSet samples{.values = dataset.row(0),
                                  .element = dataset.element(),
                                  .scale = dataset.scale(),
                                  .offset = dataset.offset(),
                                  .targets = dataset.has_labels() ? nullptr : dataset.target(0),
                                  .byte_labels = dataset.labels().data(),
                                  .index = rows.data(),
                                  .count = rows.size()};
  const tensor::LossSum loss = small->Gradient(x, samples, tasks, out);
  return {.loss_sum = loss.loss_sum,
          .correct = loss.correct,
          .samples = static_cast<std::uint32_t>(rows.size()),
          .finite = std::isfinite(loss.loss_sum)};
}

StepResult Trainer::Impl::Pieces(tensor::ConstVectorView x, const data::Dataset& dataset,
                                 std::span<const std::uint32_t> rows, tensor::VectorView out) {
  std::fill(out.begin(), out.end(), 0.0f);
  non_finite.reset();
  StepResult total;
  for (std::size_t at = 0; at < rows.size(); at += kPiece) {
    const auto some = rows.subspan(at, std::min(kPiece, rows.size() - at));
    const nn::Batch gathered = batch->Gather(*network, dataset, some);
    const StepResult result = Forward(x, gathered, at / kPiece);
    if (!result.finite && !non_finite) non_finite = network->FirstNonFinite();
    network->Gradient(x, gathered, piece.view());
    const float share = static_cast<float>(some.size()) / static_cast<float>(rows.size());
    tensor::Axpy(share, piece.view(), out);
    total.loss_sum += result.loss_sum;
    total.correct += result.correct;
    total.samples += result.samples;
  }
  total.finite = std::isfinite(total.loss_sum);
  return total;
}

StepResult Trainer::Impl::Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                                   std::span<const std::uint32_t> rows, tensor::VectorView out) {
  COVEY_CHECK(!rows.empty() && rows.size() <= largest, rows.size(), largest);
  if (small) return Small(x, dataset, rows, out);
  if (rows.size() > kPiece) return Pieces(x, dataset, rows, out);
  const nn::Batch gathered = batch->Gather(*network, dataset, rows);
  const StepResult result = Forward(x, gathered, 0);
  network->Gradient(x, gathered, out);
  return result;
}

Trainer::Trainer(const nn::ModelSpec& spec, const optim::Settings& settings, std::size_t batch,
                 tensor::Tasks* tasks)
    : impl_(std::make_unique<Impl>(spec, settings, batch, tasks)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

StepResult Trainer::Step(tensor::VectorView x, const data::Dataset& dataset,
                         std::span<const std::uint32_t> rows) {
  const tensor::FlushDenormals guard(impl_->numerics);
  Impl& impl = *impl_;
  if (impl.fused()) {
    const nn::Batch batch = impl.batch->Gather(*impl.network, dataset, rows);
    const StepResult result = impl.Forward(x, batch, 0);
    if (result.finite) impl.network->Update(x, batch, impl.optimizer.BeginStep(x));
    return result;
  }
  const StepResult result = impl.Gradient(x, dataset, rows, impl.gradient.view());
  if (result.finite) {
    const double mean = result.loss_sum / static_cast<double>(result.samples);
    impl.optimizer.Step(x, impl.gradient.view(), mean);
  }
  return result;
}

StepResult Trainer::Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                             std::span<const std::uint32_t> rows, tensor::VectorView out) {
  COVEY_CHECK(out.size() == x.size(), out.size(), x.size());
  const tensor::FlushDenormals guard(impl_->numerics);
  return impl_->Gradient(x, dataset, rows, out);
}

std::optional<std::string> Trainer::FirstNonFinite() const {
  if (impl_->non_finite) return impl_->non_finite;
  return impl_->network ? impl_->network->FirstNonFinite() : std::nullopt;
}

optim::Optimizer& Trainer::optimizer() { return impl_->optimizer; }
const optim::Optimizer& Trainer::optimizer() const { return impl_->optimizer; }

}  // namespace covey::gradient
