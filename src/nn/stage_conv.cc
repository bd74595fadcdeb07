// Convolution, on its own or fused with ReLU and 2 x 2 max pooling.
#include <algorithm>
#include <vector>

#include "covey/tensor/conv.h"
#include "nn/activations.h"
#include "nn/parts.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

tensor::ConvShape ShapeOf(const Conv2d& conv, const Shape& input) {
  tensor::ConvShape shape{.height = input[0],
                          .width = input[1],
                          .channels = input[2],
                          .filters = conv.filters,
                          .kernel_height = conv.kernel.height,
                          .kernel_width = conv.kernel.width,
                          .stride_height = conv.stride.height,
                          .stride_width = conv.stride.width};
  if (conv.padding == Padding::kSame) tensor::PadSame(shape);
  return shape;
}

// What both stages share: the packed weights, and gradients that are summed part by part.
class ConvBase : public Stage {
 public:
  ConvBase(const StageSource& source, const Conv2d& conv)
      : shape_(ShapeOf(conv, source.infos[0].input)),
        numerics_(source.spec.numerics),
        weights_(source.offset),
        bias_(source.offset + shape_.weights()),
        in_stride_(SampleStride(shape_.features())),
        scratch_size_(SampleStride(tensor::ConvScratchSize(shape_))),
        sums_size_(tensor::ConvGradientSize(shape_)),
        packed_(tensor::PackedConvSize(shape_)),
        scratch_(source.width * scratch_size_),
        sums_(PartsOf(source.batch) * sums_size_),
        gradient_(shape_.weights() + shape_.filters) {}

 protected:
  struct Part {
    std::size_t first = 0;  // sample
    tensor::ConvInput input;
    float* scratch = nullptr;
    float* sums = nullptr;
  };

  void Pack(const ForwardPass& pass) {
    tensor::PackConvWeights(shape_, pass.x + weights_, packed_.data());
  }

  template <class Body>  // body(part) for each part of the batch
  void ForParts(const ForwardPass& pass, Body body) {
    pass.tasks->Run(PartsOf(pass.batch), [&](std::size_t part, std::size_t worker) {
      const std::size_t first = part * kPartSamples;
      body(Part{.first = first,
                .input = {.images = pass.input + first * in_stride_,
                          .samples = std::min(kPartSamples, pass.batch - first)},
                .scratch = scratch_.data() + worker * scratch_size_,
                .sums = sums_.data() + part * sums_size_});
    });
  }

  // body(part, where its input gradient goes) adds to part.sums; then the parts are added and the
  // rule is applied.
  template <class Body>
  void BackwardParts(const BackwardPass& pass, Body body) {
    ForParts(pass.forward, [&](const Part& part) {
      std::fill_n(part.sums, sums_size_, 0.0f);
      float* before = nullptr;
      if (pass.before != nullptr) {
        before = pass.before + part.first * in_stride_;
        ClearPadding(shape_.features(), part.input.samples, before);
      }
      body(part, before);
    });
    tensor::AddConvGradients(shape_, PartsOf(pass.forward.batch), sums_.data(), gradient_.data(),
                             gradient_.data() + shape_.weights());
    tensor::ApplyUpdate(pass.rule, weights_, gradient_.view(),
                        {pass.target, weights_ + gradient_.size()}, numerics_);
  }

  tensor::ConvShape shape_;
  tensor::Numerics numerics_;
  std::size_t weights_;  // offsets into x; the bias follows the weights
  std::size_t bias_;
  std::size_t in_stride_;
  std::size_t scratch_size_;
  std::size_t sums_size_;
  tensor::FlatVector packed_;
  tensor::FlatVector scratch_;  // of each worker
  tensor::FlatVector sums_;     // of each part
  tensor::FlatVector gradient_;
};

class ConvStage final : public ConvBase {
 public:
  ConvStage(const StageSource& source, const Conv2d& conv)
      : ConvBase(source, conv),
        function_(Elementwise(conv.activation, numerics_)),
        out_stride_(SampleStride(shape_.outputs())) {}

  void Forward(const ForwardPass& pass) override {
    Pack(pass);
    const bool relu = function_.function == tensor::Function::kRelu;
    const bool linear = function_.function == tensor::Function::kLinear;
    const auto epilogue = relu ? tensor::Epilogue::kRelu : tensor::Epilogue::kLinear;
    ForParts(pass, [&](const Part& part) {
      float* output = pass.output + part.first * out_stride_;
      tensor::ConvForward(numerics_, shape_, part.input, packed_.data(), pass.x + bias_, epilogue,
                          part.scratch, output);
      for (std::size_t n = 0; !relu && !linear && n < part.input.samples; ++n) {
        tensor::Activate(function_, shape_.outputs(), output + n * out_stride_);
      }
    });
  }

  void Backward(const BackwardPass& pass) override {
    BackwardParts(pass, [&](const Part& part, float* before) {
      float* delta = pass.delta + part.first * out_stride_;
      const float* output = pass.forward.output + part.first * out_stride_;
      tensor::ActivationGradient(function_, part.input.samples * out_stride_, output, delta);
      tensor::ConvBackward(numerics_, shape_, part.input, packed_.data(), delta, part.scratch,
                           part.sums, before);
    });
  }

 private:
  tensor::Activation function_;
  std::size_t out_stride_;
};

class ConvPoolStage final : public ConvBase {
 public:
  ConvPoolStage(const StageSource& source, const Conv2d& conv)
      : ConvBase(source, conv),
        out_stride_(SampleStride(shape_.pooled())),
        choice_(source.batch * out_stride_) {}

  void Forward(const ForwardPass& pass) override {
    Pack(pass);
    ForParts(pass, [&](const Part& part) {
      const std::size_t at = part.first * out_stride_;
      tensor::ConvPoolForward(numerics_, shape_, part.input, packed_.data(), pass.x + bias_,
                              part.scratch, pass.output + at, choice_.data() + at);
    });
  }

  void Backward(const BackwardPass& pass) override {
    BackwardParts(pass, [&](const Part& part, float* before) {
      const std::size_t at = part.first * out_stride_;
      tensor::ConvPoolBackward(numerics_, shape_, part.input, packed_.data(), pass.delta + at,
                               choice_.data() + at, part.scratch, part.sums, before);
    });
  }

 private:
  std::size_t out_stride_;
  std::vector<std::uint8_t> choice_;
};

bool IsMaxPool2x2(const LayerSpec& layer) {
  const auto* pool = std::get_if<Pool2d>(&layer);
  return pool != nullptr && pool->kind == Pool2d::Kind::kMax && pool->size == Extent{2, 2} &&
         StrideOf(*pool) == Extent{2, 2};
}

}  // namespace

Compiled MakeConv2d(const StageSource& source, const Conv2d& conv) {
  Compiled made;
  made.input = made.output = Order::kBySample;
  if (conv.activation == Activation::kRelu && source.count > 1 && IsMaxPool2x2(source.layers[1])) {
    made.layers = 2;
    made.stage = std::make_unique<ConvPoolStage>(source, conv);
  } else {
    made.stage = std::make_unique<ConvStage>(source, conv);
  }
  return made;
}

}  // namespace covey::nn
