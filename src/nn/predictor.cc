#include "covey/nn/predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "covey/base/check.h"
#include "covey/tensor/flush_denormals.h"
#include "covey/tensor/padding.h"

namespace covey::nn {

Predictor::Predictor(const ModelSpec& spec, std::vector<float> mean, std::vector<float> scale)
    : spec_(spec),
      symbols_(Symbols(spec)),
      mean_(std::move(mean)),
      scale_(std::move(scale)),
      single_(spec, 1),
      batch_(spec, kBatch),
      values_(kBatch * Features(spec)),
      rows_(tensor::PaddedBatch(kBatch)),
      labels_(kBatch),
      target_(Outputs(spec)),
      targets_(kBatch, target_.data()) {
  COVEY_CHECK(!mean_.empty() && features() % mean_.size() == 0, mean_.size(), features());
  COVEY_CHECK(scale_.size() == mean_.size(), scale_.size(), mean_.size());
}

Predictor::Checked Predictor::Check(std::span<const float> raw) const {
  COVEY_CHECK(raw.size() % features() == 0, raw.size(), features());
  const auto symbols = static_cast<float>(symbols_);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const float value = raw[i];
    if (!std::isfinite(value)) return {Flaw::kNotFinite, i};
    if (symbols_ > 0 && !(value >= 0 && value < symbols && value == std::floor(value))) {
      return {Flaw::kNoSymbol, i};
    }
  }
  return {};
}

void Predictor::Run(tensor::ConstVectorView x, std::span<const float> raw,
                    std::span<float> outputs) {
  const std::size_t samples = raw.size() / features();
  COVEY_CHECK(outputs.size() == samples * this->outputs(), outputs.size(), samples);
  const tensor::FlushDenormals guard(spec_.numerics);
  for (std::size_t first = 0; first < samples; first += kBatch) {
    const std::size_t count = std::min(kBatch, samples - first);
    RunBatch(x, raw.subspan(first * features(), count * features()),
             outputs.subspan(first * this->outputs(), count * this->outputs()));
  }
}

void Predictor::RunBatch(tensor::ConstVectorView x, std::span<const float> raw,
                         std::span<float> outputs) {
  const std::size_t width = features(), size = raw.size() / width;
  Network& network = size == 1 ? single_ : batch_;
  const std::size_t period = mean_.size();
  for (std::size_t i = 0, f = 0; i < raw.size(); ++i) {
    values_[i] = symbols_ > 0 ? raw[i] : (raw[i] - mean_[f]) * scale_[f];
    f = f + 1 == period ? 0 : f + 1;
  }
  const std::size_t padded = tensor::PaddedBatch(size);
  for (std::size_t b = 0; b < padded; ++b) {
    const float* row = values_.data() + (b < size ? b * width : 0);
    rows_[b] = reinterpret_cast<const std::uint8_t*>(row);
  }
  Batch batch;
  batch.rows = {.rows = rows_.data(), .element = tensor::Element::kFloat32};
  batch.size = size;
  // The loss needs an answer to compare with; what it finds is not looked at.
  if (HasLabels(spec_)) {
    batch.labels = std::span<const std::uint32_t>(labels_).first(size);
  } else {
    batch.targets = targets_.data();
  }
  network.Evaluate(x, batch);
  const float* answers = network.LastOutputs();
  const std::size_t classes = network.outputs();
  for (std::size_t b = 0; b < size; ++b) {
    const std::span<float> answer = outputs.subspan(b * classes, classes);
    for (std::size_t c = 0; c < classes; ++c) answer[c] = answers[c * padded + b];
    Finish(answer);
  }
}

void Predictor::Finish(std::span<float> answer) const {
  if (!IsClassification(spec_)) return;
  if (spec_.loss == Loss::kBinaryCrossEntropy) {
    for (float& value : answer) value = 1 / (1 + std::exp(-value));
    return;
  }
  const float greatest = *std::max_element(answer.begin(), answer.end());
  float sum = 0;
  for (float& value : answer) sum += value = std::exp(value - greatest);
  for (float& value : answer) value /= sum;
}

std::vector<std::size_t> Largest(std::span<const float> values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return values[a] != values[b] ? values[a] > values[b] : a < b;
                    });
  order.resize(count);
  return order;
}

}  // namespace covey::nn
