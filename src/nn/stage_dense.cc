// Fully connected layer with its activation.
#include "covey/base/check.h"
#include "covey/tensor/dense.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

class DenseStage final : public Stage {
 public:
  DenseStage(const StageSource& source, const Dense& dense)
      : inputs_(Volume(source.infos[0].input)),
        units_(dense.units),
        numerics_(source.spec.numerics),
        relu_(dense.activation == Activation::kRelu),
        weights_(source.offset),
        bias_(source.offset + units_ * inputs_),
        scratch_(tensor::DenseScratchSize(source.batch)) {
    COVEY_CHECK(relu_ || dense.activation == Activation::kLinear, dense.activation);
  }

  void Forward(const ForwardPass& pass) override {
    const tensor::Epilogue epilogue = relu_ ? tensor::Epilogue::kRelu : tensor::Epilogue::kLinear;
    tensor::DenseForward(Shape(pass), Input(pass), pass.x + weights_, pass.x + bias_, epilogue,
                         scratch_.data(), pass.output);
  }

  void Backward(const BackwardPass& pass) override {
    const ForwardPass& forward = pass.forward;
    if (relu_) {
      const std::size_t size = units_ * tensor::PaddedBatch(forward.batch);
      for (std::size_t i = 0; i < size; ++i) {
        pass.delta[i] = forward.output[i] > 0 ? pass.delta[i] : 0.0f;
      }
    }
    if (pass.before != nullptr) {
      tensor::DenseBackward(Shape(forward), forward.x + weights_, pass.delta, nullptr, pass.before);
    }
    tensor::DenseUpdate(Shape(forward), Input(forward), pass.delta, pass.rule,
                        {.x = pass.target, .weights = weights_, .bias = bias_}, scratch_.data());
  }

 private:
  tensor::DenseShape Shape(const ForwardPass& pass) const {
    return {.inputs = inputs_, .units = units_, .batch = pass.batch, .numerics = numerics_};
  }
  static tensor::DenseInput Input(const ForwardPass& pass) {
    if (pass.input != nullptr) return {.activations = pass.input};
    return {.rows = pass.rows};
  }

  std::size_t inputs_;
  std::size_t units_;
  tensor::Numerics numerics_;
  bool relu_;
  std::size_t weights_;  // offsets into x
  std::size_t bias_;
  tensor::FlatVector scratch_;
};

}  // namespace

Compiled MakeDense(const StageSource& source, const Dense& dense) {
  return {.stage = std::make_unique<DenseStage>(source, dense),
          .layers = 1,
          .input = Order::kByFeature,
          .output = Order::kByFeature,
          .reads_rows = true};
}

}  // namespace covey::nn
