#include "covey/nn/reference.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "covey/base/check.h"
#include "nn/folded.h"
#include "nn/reference_dense.h"
#include "nn/reference_image.h"
#include "nn/reference_loss.h"
#include "nn/reference_lstm.h"
#include "nn/reference_norm.h"
#include "nn/shapes.h"

namespace covey::nn {
namespace {

// The loss of one sample; `b` tells its label or targets.
template <class T>
reference::SampleLoss<T> LossOf(const ModelSpec& spec, const std::vector<T>& outputs,
                                const ReferenceBatch<T>& batch, std::size_t b) {
  if (HasLabels(spec)) {
    COVEY_CHECK(batch.labels[b] < outputs.size(), batch.labels[b], outputs.size());
    std::vector<T> one_hot(outputs.size());
    one_hot[batch.labels[b]] = 1;
    return reference::CategoricalCrossEntropy(outputs, one_hot.data());
  }
  const T* targets = batch.targets.data() + b * outputs.size();
  switch (spec.loss) {
    case Loss::kBinaryCrossEntropy:
      return reference::BinaryCrossEntropy(outputs, targets);
    case Loss::kMeanSquaredError:
      return reference::MeanSquaredError(outputs, targets);
    case Loss::kHuber:
      return reference::Huber(outputs, targets, static_cast<T>(spec.huber_delta));
    default:
      return reference::CategoricalCrossEntropy(outputs, targets);
  }
}

// Calls use(layer) with the reference layer of kind and settings `spec`.
template <class T, class Use>
auto WithLayer(const LayerSpec& spec, Use use) {
  return std::visit(
      [&](const auto& settings) {
        return use(reference::Layer<T, std::decay_t<decltype(settings)>>{settings});
      },
      spec);
}

// Sample b's factors of the dropout layer at `layer`; null: all 1.
template <class T>
const T* FactorsOf(const ReferenceBatch<T>& batch, std::size_t layer, std::size_t b,
                   std::size_t values) {
  if (layer >= batch.dropout.size() || batch.dropout[layer].empty()) return nullptr;
  return batch.dropout[layer].data() + b * values;
}

}  // namespace

template <class T>
ReferenceNetwork<T>::ReferenceNetwork(const ModelSpec& spec)
    : spec_(WithoutFoldedActivation(spec)) {
  Result<std::vector<LayerInfo>> infos = Infer(spec_);
  COVEY_CHECK(infos.has_value());
  infos_ = std::move(*infos);
  for (const LayerInfo& info : infos_) {
    offsets_.push_back(parameters_);
    parameters_ += info.parameters;
  }
}

template <class T>
ReferenceResult<T> ReferenceNetwork<T>::Run(std::span<const T> x, const ReferenceBatch<T>& batch,
                                            WithGradient with_gradient) const {
  const std::size_t outputs = Volume(infos_.back().output);
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(batch.samples.size() == batch.size * Features(spec_), batch.samples.size());
  COVEY_CHECK(HasLabels(spec_) ? batch.labels.size() == batch.size
                               : batch.targets.size() == batch.size * outputs,
              batch.labels.size(), batch.targets.size());
  COVEY_CHECK(batch.weights.empty() || batch.weights.size() == batch.size, batch.weights.size());
  ReferenceResult<T> result;
  if (with_gradient == WithGradient::kYes) result.gradient.assign(x.size(), T{0});
  for (std::size_t b = 0; b < batch.size; ++b) {
    const std::vector<Values> values = Forward(x, batch, b);
    reference::SampleLoss<T> loss = LossOf(spec_, values.back(), batch, b);
    const T weight = batch.weights.empty() ? T{1} : batch.weights[b];
    const T share = weight / static_cast<T>(batch.size);
    result.loss += share * loss.loss;
    result.correct += loss.correct ? 1 : 0;
    result.outputs.insert(result.outputs.end(), values.back().begin(), values.back().end());
    if (with_gradient == WithGradient::kNo) continue;
    for (T& delta : loss.delta) delta *= share;
    Backward(x, batch, b, values, std::move(loss.delta), result.gradient);
  }
  return result;
}

template <class T>
auto ReferenceNetwork<T>::Forward(std::span<const T> x, const ReferenceBatch<T>& batch,
                                  std::size_t b) const -> std::vector<Values> {
  const auto sample = batch.samples.subspan(b * Features(spec_), Features(spec_));
  std::vector<Values> values{Values(sample.begin(), sample.end())};
  for (std::size_t l = 0; l < infos_.size(); ++l) {
    const reference::Place<T> place{.info = infos_[l],
                                    .parameters = x.data() + offsets_[l],
                                    .input = values[l],
                                    .dropout = FactorsOf(batch, l, b, values[l].size())};
    Values output = WithLayer<T>(spec_.layers[l], [&](auto layer) { return layer.Forward(place); });
    values.push_back(std::move(output));
  }
  return values;
}

template <class T>
void ReferenceNetwork<T>::Backward(std::span<const T> x, const ReferenceBatch<T>& batch,
                                   std::size_t b, const std::vector<Values>& values, Values delta,
                                   Values& gradient) const {
  for (std::size_t l = infos_.size(); l-- > 0;) {
    const reference::Place<T> place{.info = infos_[l],
                                    .parameters = x.data() + offsets_[l],
                                    .input = values[l],
                                    .dropout = FactorsOf(batch, l, b, values[l].size())};
    reference::Return<T> back{.output = values[l + 1],
                              .delta = std::move(delta),
                              .gradient = gradient.data() + offsets_[l]};
    delta = WithLayer<T>(spec_.layers[l],
                         [&](auto layer) { return layer.Backward(place, std::move(back)); });
  }
}

template class ReferenceNetwork<float>;
template class ReferenceNetwork<double>;

GradientCheck CheckGradient(const ModelSpec& spec, std::span<const double> x,
                            const ReferenceBatch<double>& batch, double h, double floor) {
  const ReferenceNetwork<double> network(spec);
  const auto analytic = network.Run(x, batch, WithGradient::kYes).gradient;
  std::vector<double> moved(x.begin(), x.end());
  GradientCheck result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    moved[i] = x[i] + h;
    const double above = network.Run(moved, batch, WithGradient::kNo).loss;
    moved[i] = x[i] - h;
    const double below = network.Run(moved, batch, WithGradient::kNo).loss;
    moved[i] = x[i];
    const double numeric = (above - below) / (2 * h);
    const double scale = std::max({std::abs(analytic[i]), std::abs(numeric), floor});
    const double error = std::abs(analytic[i] - numeric) / scale;
    if (std::isnan(error)) return {.worst = error, .at = i};
    if (error > result.worst) result = {.worst = error, .at = i};
  }
  return result;
}

}  // namespace covey::nn
