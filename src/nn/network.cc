#include "covey/nn/network.h"

#include <algorithm>

#include "covey/base/check.h"

namespace covey::nn {

using tensor::PaddedBatch;

Network::Network(const ModelSpec& spec, std::size_t batch) : batch_(batch) {
  COVEY_CHECK(Validate(spec).has_value());
  COVEY_CHECK(batch > 0, batch);
  const tensor::Layout layout = LayoutOf(spec);
  parameters_ = layout.size();
  std::size_t inputs = Features(spec);
  std::size_t outputs = 0;
  std::size_t widest = 0;
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    const LayerSpec& layer = spec.layers[l];
    const bool relu = layer.activation == Activation::kRelu;
    layers_.push_back(
        Layer{.inputs = inputs,
              .units = layer.units,
              .weights = layout.slices()[2 * l].offset,
              .bias = layout.slices()[2 * l + 1].offset,
              .output = outputs,
              .epilogue = relu ? tensor::Epilogue::kRelu : tensor::Epilogue::kLinear});
    outputs += layer.units;
    inputs = layer.units;
    if (l + 1 < spec.layers.size()) widest = std::max(widest, layer.units);
  }
  const std::size_t padded = PaddedBatch(batch);
  activations_ = tensor::FlatVector(outputs * padded);
  for (tensor::FlatVector& delta : deltas_) delta = tensor::FlatVector(widest * padded);
  scratch_ = tensor::FlatVector(tensor::DenseScratchSize(batch));
}

float* Network::Output(std::size_t layer, std::size_t batch) {
  return activations_.data() + layers_[layer].output * PaddedBatch(batch);
}

tensor::DenseInput Network::InputOf(std::size_t layer, const ByteBatch& batch) {
  if (layer > 0) return {.activations = Output(layer - 1, batch.labels.size())};
  return {.rows = batch.rows.data(), .scale = batch.scale, .offset = batch.offset};
}

tensor::CrossEntropy Network::Run(tensor::ConstVectorView x, const ByteBatch& batch, float scale) {
  const std::size_t count = batch.labels.size();
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(count > 0 && count <= batch_, count, batch_);
  COVEY_CHECK(batch.rows.size() >= PaddedBatch(count), batch.rows.size(), count);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    tensor::DenseForward({.inputs = layer.inputs, .units = layer.units, .batch = count},
                         InputOf(l, batch), x.data() + layer.weights, x.data() + layer.bias,
                         layer.epilogue, scratch_.data(), Output(l, count));
  }
  return tensor::SoftmaxCrossEntropy(classes(), count, batch.labels.data(), scale,
                                     Output(layers_.size() - 1, count));
}

tensor::CrossEntropy Network::Evaluate(tensor::ConstVectorView x, const ByteBatch& batch) {
  return Run(x, batch, 0);
}

tensor::CrossEntropy Network::Forward(tensor::ConstVectorView x, const ByteBatch& batch) {
  return Run(x, batch, 1.0f / static_cast<float>(batch.labels.size()));
}

void Network::Update(tensor::VectorView x, const ByteBatch& batch, const tensor::UpdateRule& rule) {
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(rule.kind != tensor::UpdateKind::kStore);
  Backward(x.data(), batch, rule, x.data());
}

void Network::Gradient(tensor::ConstVectorView x, const ByteBatch& batch, tensor::VectorView out) {
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(out.size() == parameters_, out.size(), parameters_);
  Backward(x.data(), batch, {.kind = tensor::UpdateKind::kStore, .first = out.data()}, out.data());
}

void Network::Backward(const float* x, const ByteBatch& batch, const tensor::UpdateRule& rule,
                       float* target) {
  const std::size_t count = batch.labels.size();
  const float* delta = Output(layers_.size() - 1, count);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    const tensor::DenseShape shape{.inputs = layer.inputs, .units = layer.units, .batch = count};
    float* before = deltas_[l % 2].data();
    if (l > 0) {  // with the weights that the forward pass saw
      const bool relu = layers_[l - 1].epilogue == tensor::Epilogue::kRelu;
      tensor::DenseBackward(shape, x + layer.weights, delta, relu ? Output(l - 1, count) : nullptr,
                            before);
    }
    tensor::DenseUpdate(shape, InputOf(l, batch), delta, rule,
                        {.x = target, .weights = layer.weights, .bias = layer.bias},
                        scratch_.data());
    delta = before;
  }
}

}  // namespace covey::nn
