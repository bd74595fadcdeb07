// Activations: those of other stages, and the layer of its own.
#include <cstring>

#include "covey/base/check.h"
#include "covey/tensor/padding.h"
#include "nn/activations.h"
#include "nn/parts.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

tensor::Function FunctionOf(Activation activation) {
  switch (activation) {
    case Activation::kLinear:
      return tensor::Function::kLinear;
    case Activation::kRelu:
      return tensor::Function::kRelu;
    case Activation::kLeakyRelu:
      return tensor::Function::kLeakyRelu;
    case Activation::kTanh:
      return tensor::Function::kTanh;
    case Activation::kSigmoid:
      return tensor::Function::kSigmoid;
    case Activation::kHardSigmoid:
      return tensor::Function::kHardSigmoid;
    case Activation::kSoftmax:
      break;
  }
  COVEY_CHECK(false, activation);
  return tensor::Function::kLinear;
}

}  // namespace

tensor::Activation Elementwise(Activation activation, tensor::Numerics numerics) {
  return {.function = FunctionOf(activation), .numerics = numerics};
}

void FeatureActivation::Forward(std::size_t features, std::size_t batch, float* y) const {
  if (activation_ == Activation::kSoftmax) {
    return tensor::Softmax({.features = features, .batch = batch, .numerics = numerics_}, y);
  }
  tensor::Activate(Elementwise(activation_, numerics_), features * tensor::PaddedBatch(batch), y);
}

void FeatureActivation::Backward(std::size_t features, std::size_t batch, const float* z,
                                 float* delta) const {
  if (activation_ == Activation::kSoftmax) {
    return tensor::SoftmaxGradient({.features = features, .batch = batch, .numerics = numerics_}, z,
                                   delta);
  }
  tensor::ActivationGradient(Elementwise(activation_, numerics_),
                             features * tensor::PaddedBatch(batch), z, delta);
}

namespace {

// Of flat shapes: by feature, as dense neighbours want it.
class FlatActivationStage final : public Stage {
 public:
  FlatActivationStage(const StageSource& source, Activation activation)
      : features_(Volume(source.infos[0].input)), function_(activation, source.spec.numerics) {}

  void Forward(const ForwardPass& pass) override {
    std::memcpy(pass.output, pass.input, Bytes(pass));
    function_.Forward(features_, pass.batch, pass.output);
  }
  void Backward(const BackwardPass& pass) override {
    if (pass.before == nullptr) return;
    std::memcpy(pass.before, pass.delta, Bytes(pass.forward));
    function_.Backward(features_, pass.forward.batch, pass.forward.output, pass.before);
  }

 private:
  std::size_t Bytes(const ForwardPass& pass) const {
    return BufferSize(Order::kByFeature, features_, pass.batch) * sizeof(float);
  }

  std::size_t features_;
  FeatureActivation function_;
};

// Of images and sequences, which are never softmax: by sample.
class SampleActivationStage final : public Stage {
 public:
  SampleActivationStage(const StageSource& source, Activation activation)
      : features_(Volume(source.infos[0].input)),
        function_(Elementwise(activation, source.spec.numerics)) {}

  void Forward(const ForwardPass& pass) override {
    const std::size_t stride = SampleStride(features_);
    ForParts(pass, [&](std::size_t first, std::size_t samples, std::size_t, std::size_t) {
      float* output = pass.output + first * stride;
      std::memcpy(output, pass.input + first * stride, samples * stride * sizeof(float));
      for (std::size_t n = 0; n < samples; ++n) {  // what lies between samples stays zero
        tensor::Activate(function_, features_, output + n * stride);
      }
    });
  }
  void Backward(const BackwardPass& pass) override {
    if (pass.before == nullptr) return;
    const std::size_t stride = SampleStride(features_);
    ForParts(pass.forward, [&](std::size_t first, std::size_t samples, std::size_t, std::size_t) {
      const std::size_t at = first * stride, count = samples * stride;
      std::memcpy(pass.before + at, pass.delta + at, count * sizeof(float));
      tensor::ActivationGradient(function_, count, pass.forward.output + at, pass.before + at);
    });
  }

 private:
  std::size_t features_;
  tensor::Activation function_;
};

}  // namespace

Compiled MakeActivation(const StageSource& source, const Activate& activate) {
  Compiled made;
  if (source.infos[0].input.size() == 1) {
    made.stage = std::make_unique<FlatActivationStage>(source, activate.activation);
    made.input = made.output = Order::kByFeature;
  } else {
    made.stage = std::make_unique<SampleActivationStage>(source, activate.activation);
    made.input = made.output = Order::kBySample;
  }
  return made;
}

}  // namespace covey::nn
