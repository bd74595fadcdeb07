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

void Add(const StepResult& part, StepResult& total) {
  total.loss_sum += part.loss_sum;
  total.correct += part.correct;
  total.samples += part.samples;
  total.finite = std::isfinite(total.loss_sum);
}

}  // namespace

// Two ways: small models whose gradient is needed as a whole go through SmallMlp, all others
// through a network, whose update is fused with the gradient where the optimizer allows it.
// SmallMlp knows nothing of single samples and layers: a network helps it out, made when needed.
struct Trainer::Impl {
  Impl(const nn::ModelSpec& model, const optim::Settings& settings, std::size_t size,
       tensor::Tasks* given)
      : tasks(given != nullptr ? *given : serial),
        spec(model),
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
    } else {
      MakeNetwork();
    }
  }

  // Whether a step is one pass over the model.
  bool fused() const { return !small && optimizer.fused() && largest <= kPiece; }

  void MakeNetwork();
  // Calls body(gathered, first row, number) for the rows piece by piece.
  template <class Body>
  void ForPieces(const data::Dataset& dataset, std::span<const std::uint32_t> rows, Body body);
  // Forward of one piece; notes the layer that went wrong.
  StepResult Forward(tensor::ConstVectorView x, const nn::Batch& gathered, std::uint64_t number) {
    const tensor::LossSum loss =
        network->Forward(x, gathered, optimizer.steps() + (number << kPieceBits));
    const bool finite = std::isfinite(loss.loss_sum);
    if (!finite && !non_finite) non_finite = network->FirstNonFinite();
    return {.loss_sum = loss.loss_sum,
            .correct = loss.correct,
            .samples = static_cast<std::uint32_t>(gathered.size),
            .finite = finite};
  }

  StepResult Small(tensor::ConstVectorView x, const data::Dataset& dataset,
                   std::span<const std::uint32_t> rows, tensor::VectorView out);
  StepResult Pieces(tensor::ConstVectorView x, const data::Dataset& dataset,
                    std::span<const std::uint32_t> rows, tensor::VectorView out,
                    std::span<const float> weights);
  // out <- mean of the weighted gradients of the batch.
  StepResult Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                      std::span<const std::uint32_t> rows, tensor::VectorView out,
                      std::span<const float> weights);
  StepResult SampleNorms(tensor::ConstVectorView x, const data::Dataset& dataset,
                         std::span<const std::uint32_t> rows, std::span<double> norms);

  tensor::SerialTasks serial;
  tensor::Tasks& tasks;
  nn::ModelSpec spec;
  tensor::Numerics numerics;
  std::size_t features;
  std::size_t outputs;
  std::size_t largest;
  optim::Optimizer optimizer;
  std::optional<tensor::SmallMlp> small;
  std::optional<nn::Network> network;
  std::optional<BatchView> batch;
  tensor::FlatVector gradient;            // of the batch, where it is not fused with the update
  tensor::FlatVector piece;               // of one piece of a large batch; scratch of SampleNorms
  std::optional<std::string> non_finite;  // layer of the first piece that went wrong
};

void Trainer::Impl::MakeNetwork() {
  if (network) return;
  const std::size_t size = std::min(largest, kPiece);
  network.emplace(spec, size, &tasks);
  batch.emplace(size);
  if (largest > kPiece) piece = tensor::FlatVector(network->parameters());
}

template <class Body>
void Trainer::Impl::ForPieces(const data::Dataset& dataset, std::span<const std::uint32_t> rows,
                              Body body) {
  for (std::size_t at = 0; at < rows.size(); at += kPiece) {
    const auto some = rows.subspan(at, std::min(kPiece, rows.size() - at));
    body(batch->Gather(*network, dataset, some), at, at / kPiece);
  }
}

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
  const bool finite = std::isfinite(loss.loss_sum);
  if (!finite) {
    MakeNetwork();
    ForPieces(dataset, rows, [&](const nn::Batch& gathered, std::size_t, std::size_t number) {
      Forward(x, gathered, number);
    });
  }
  return {.loss_sum = loss.loss_sum,
          .correct = loss.correct,
          .samples = static_cast<std::uint32_t>(rows.size()),
          .finite = finite};
}

StepResult Trainer::Impl::Pieces(tensor::ConstVectorView x, const data::Dataset& dataset,
                                 std::span<const std::uint32_t> rows, tensor::VectorView out,
                                 std::span<const float> weights) {
  std::fill(out.begin(), out.end(), 0.0f);
  StepResult total;
  ForPieces(dataset, rows, [&](nn::Batch gathered, std::size_t first, std::size_t number) {
    if (!weights.empty()) gathered.weights = weights.subspan(first, gathered.size);
    Add(Forward(x, gathered, number), total);
    network->Gradient(x, gathered, piece.view());
    const float share = static_cast<float>(gathered.size) / static_cast<float>(rows.size());
    tensor::Axpy(share, piece.view(), out);
  });
  return total;
}

StepResult Trainer::Impl::Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                                   std::span<const std::uint32_t> rows, tensor::VectorView out,
                                   std::span<const float> weights) {
  COVEY_CHECK(!rows.empty() && rows.size() <= largest, rows.size(), largest);
  COVEY_CHECK(weights.empty() || weights.size() == rows.size(), weights.size(), rows.size());
  non_finite.reset();
  // SmallMlp reads the rows where they lie.
  const bool alike = dataset.normalization().uniform();
  if (small && weights.empty() && alike) return Small(x, dataset, rows, out);
  MakeNetwork();
  if (rows.size() > kPiece) return Pieces(x, dataset, rows, out, weights);
  nn::Batch gathered = batch->Gather(*network, dataset, rows);
  gathered.weights = weights;
  const StepResult result = Forward(x, gathered, 0);
  network->Gradient(x, gathered, out);
  return result;
}

StepResult Trainer::Impl::SampleNorms(tensor::ConstVectorView x, const data::Dataset& dataset,
                                      std::span<const std::uint32_t> rows,
                                      std::span<double> norms) {
  COVEY_CHECK(!rows.empty() && rows.size() <= largest, rows.size(), largest);
  COVEY_CHECK(norms.size() == rows.size(), norms.size(), rows.size());
  non_finite.reset();
  MakeNetwork();
  if (piece.size() == 0) piece = tensor::FlatVector(network->parameters());
  StepResult total;
  ForPieces(dataset, rows, [&](const nn::Batch& gathered, std::size_t first, std::size_t number) {
    Add(Forward(x, gathered, number), total);
    network->SampleNorms(x, gathered, norms.subspan(first, gathered.size), piece.view());
  });
  return total;
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
    impl.non_finite.reset();
    const nn::Batch batch = impl.batch->Gather(*impl.network, dataset, rows);
    const StepResult result = impl.Forward(x, batch, 0);
    if (result.finite) impl.network->Update(x, batch, impl.optimizer.BeginStep(x));
    return result;
  }
  const StepResult result = impl.Gradient(x, dataset, rows, impl.gradient.view(), {});
  if (result.finite) {
    const double mean = result.loss_sum / static_cast<double>(result.samples);
    impl.optimizer.Step(x, impl.gradient.view(), mean);
  }
  return result;
}

StepResult Trainer::Gradient(tensor::ConstVectorView x, const data::Dataset& dataset,
                             std::span<const std::uint32_t> rows, tensor::VectorView out,
                             std::span<const float> weights) {
  COVEY_CHECK(out.size() == x.size(), out.size(), x.size());
  const tensor::FlushDenormals guard(impl_->numerics);
  return impl_->Gradient(x, dataset, rows, out, weights);
}

StepResult Trainer::SampleNorms(tensor::ConstVectorView x, const data::Dataset& dataset,
                                std::span<const std::uint32_t> rows, std::span<double> norms) {
  const tensor::FlushDenormals guard(impl_->numerics);
  return impl_->SampleNorms(x, dataset, rows, norms);
}

std::optional<std::string> Trainer::FirstNonFinite() const { return impl_->non_finite; }

optim::Optimizer& Trainer::optimizer() { return impl_->optimizer; }
const optim::Optimizer& Trainer::optimizer() const { return impl_->optimizer; }

}  // namespace covey::gradient
