// Fully connected layer with its activation.
#include <algorithm>
#include <vector>

#include "covey/tensor/dense.h"
#include "nn/activations.h"
#include "nn/shapes.h"
#include "nn/stages.h"
#include "nn/transpose.h"

namespace covey::nn {
namespace {

class DenseStage final : public Stage {
 public:
  DenseStage(const StageSource& source, const Dense& dense)
      : inputs_(Volume(source.infos[0].input)),
        units_(dense.units),
        numerics_(source.spec.numerics),
        activation_(dense.activation),
        function_(activation_, numerics_),
        weights_(source.offset),
        bias_(source.offset + units_ * inputs_),
        scratch_(tensor::DenseScratchSize(source.batch)),
        squares_(2 * source.batch) {}

  void Forward(const ForwardPass& pass) override {
    const bool relu = activation_ == Activation::kRelu;
    const tensor::Epilogue epilogue = relu ? tensor::Epilogue::kRelu : tensor::Epilogue::kLinear;
    tensor::DenseForward(Shape(pass), Input(pass), pass.x + weights_, pass.x + bias_, epilogue,
                         scratch_.data(), pass.output);
    if (!relu && activation_ != Activation::kLinear) {
      function_.Forward(units_, pass.batch, pass.output);
    }
  }

  void Backward(const BackwardPass& pass) override {
    const ForwardPass& forward = pass.forward;
    if (activation_ != Activation::kLinear) {
      function_.Backward(units_, forward.batch, forward.output, pass.delta);
    }
    if (pass.before != nullptr) {
      tensor::DenseBackward(Shape(forward), forward.x + weights_, pass.delta, nullptr, pass.before);
    }
    if (pass.norms != nullptr) return AddNorms(pass);
    tensor::DenseUpdate(Shape(forward), Input(forward), pass.delta, pass.rule,
                        {.x = pass.target, .weights = weights_, .bias = bias_}, scratch_.data());
  }

 private:
  // The gradient of one sample is delta (input, 1)^T: the square of its norm is
  // |delta|^2 (|input|^2 + 1), and no gradient is formed.
  // Source: Goodfellow 2015, "Efficient Per-Example Gradient Computations", section 4.
  void AddNorms(const BackwardPass& pass) {
    const ForwardPass& forward = pass.forward;
    double* of_delta = squares_.data();
    double* of_input = of_delta + forward.batch;
    Squares(units_, forward.batch, pass.delta, of_delta);
    if (forward.input != nullptr) {
      Squares(inputs_, forward.batch, forward.input, of_input);
    } else {
      SquaresOfRows(forward.rows, inputs_, forward.batch, of_input);
    }
    for (std::size_t b = 0; b < forward.batch; ++b) {
      pass.norms[b] += of_delta[b] * (of_input[b] + 1);
    }
  }

  // sums[b] <- sum_f values[f][b]^2, by feature.
  static void Squares(std::size_t features, std::size_t batch, const float* values, double* sums) {
    const std::size_t padded = tensor::PaddedBatch(batch);
    std::fill_n(sums, batch, 0.0);
    for (std::size_t f = 0; f < features; ++f) {
      for (std::size_t b = 0; b < batch; ++b) {
        const auto value = static_cast<double>(values[f * padded + b]);
        sums[b] += value * value;
      }
    }
  }

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
  Activation activation_;
  FeatureActivation function_;
  std::size_t weights_;  // offsets into x
  std::size_t bias_;
  tensor::FlatVector scratch_;
  std::vector<double> squares_;  // of each sample's delta and input
};

}  // namespace

Compiled MakeDense(const StageSource& source, const Dense& dense) {
  return {.stage = std::make_unique<DenseStage>(source, dense),
          .layers = 1,
          .input = Order::kByFeature,
          .output = Order::kByFeature,
          .reads_rows = true,
          .norms = true};
}

}  // namespace covey::nn
