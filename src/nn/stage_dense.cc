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
        scratch_size_(tensor::DenseScratchSize(source.batch)),
        scratch_(scratch_size_ * source.width),
        squares_(2 * source.batch) {}

  void Forward(const ForwardPass& pass) override {
    const bool relu = activation_ == Activation::kRelu;
    const tensor::Epilogue epilogue = relu ? tensor::Epilogue::kRelu : tensor::Epilogue::kLinear;
    const std::size_t padded = tensor::PaddedBatch(pass.batch);
    const Ranges units = Units(pass.batch);
    pass.tasks->Run(units.parts, [&](std::size_t part, std::size_t worker) {
      tensor::DenseShape shape = Shape(pass);
      const std::size_t first = units.Cut(part, shape.units);
      tensor::DenseForward(shape, Input(pass), pass.x + weights_ + first * inputs_,
                           pass.x + bias_ + first, epilogue, Scratch(worker),
                           pass.output + first * padded);
    });
    if (!relu && activation_ != Activation::kLinear) {
      function_.Forward(units_, pass.batch, pass.output);
    }
  }

  void Backward(const BackwardPass& pass) override {
    const ForwardPass& forward = pass.forward;
    if (activation_ != Activation::kLinear) {
      function_.Backward(units_, forward.batch, forward.output, pass.delta);
    }
    const std::size_t padded = tensor::PaddedBatch(forward.batch);
    if (pass.before != nullptr) {
      const Ranges inputs = Inputs(forward.batch);
      forward.tasks->Run(inputs.parts, [&](std::size_t part) {
        tensor::DenseShape shape = Shape(forward);
        shape.weight_stride = inputs_;
        const std::size_t first = inputs.Cut(part, shape.inputs);
        tensor::DenseBackward(shape, forward.x + weights_ + first, pass.delta, nullptr,
                              pass.before + first * padded);
      });
    }
    if (pass.norms != nullptr) return AddNorms(pass);
    const Ranges units = Units(forward.batch);
    forward.tasks->Run(units.parts, [&](std::size_t part, std::size_t worker) {
      tensor::DenseShape shape = Shape(forward);
      const std::size_t first = units.Cut(part, shape.units);
      tensor::DenseUpdate(
          shape, Input(forward), pass.delta + first * padded, pass.rule,
          {.x = pass.target, .weights = weights_ + first * inputs_, .bias = bias_ + first},
          Scratch(worker));
    });
  }

 private:
  // Units or inputs cut into ranges of `step` for the threads.
  struct Ranges {
    std::size_t parts = 1;
    std::size_t step = 0;

    // Returns: where the part begins; count becomes its length.
    std::size_t Cut(std::size_t part, std::size_t& count) const {
      const std::size_t first = part * step;
      count = std::min(step, count - first);
      return first;
    }
  };

  static constexpr std::size_t kMostParts = 8;
  static constexpr std::size_t kTile = 12;  // rows of the kernels' largest tile
  // Every range of units converts the whole input for itself, which costs as much as about ten
  // units: fewer than this in a range don't pay.
  static constexpr std::size_t kLeastUnits = 36;
  // Multiply-adds of about ten microseconds, against which waking a thread is little.
  static constexpr std::size_t kLeastWork = 500'000;

  static Ranges Divide(std::size_t count, std::size_t least) {
    const std::size_t even = (count + kMostParts - 1) / kMostParts;
    const std::size_t step = (std::max(even, least) + kTile - 1) / kTile * kTile;
    return {.parts = (count + step - 1) / step, .step = step};
  }
  Ranges Units(std::size_t batch) const {
    const std::size_t work = inputs_ * batch;  // of one unit
    return Divide(units_, std::max(kLeastUnits, kLeastWork / work));
  }
  Ranges Inputs(std::size_t batch) const { return Divide(inputs_, kLeastWork / (units_ * batch)); }

  float* Scratch(std::size_t worker) { return scratch_.data() + worker * scratch_size_; }

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
  std::size_t scratch_size_;  // of one worker
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
