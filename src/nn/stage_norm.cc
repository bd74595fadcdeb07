// Group and layer normalisation.
#include <algorithm>

#include "covey/tensor/norm.h"
#include "nn/parts.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

class NormStage final : public Stage {
 public:
  NormStage(const StageSource& source, const tensor::NormShape& shape)
      : shape_(shape),
        numerics_(source.spec.numerics),
        weight_(source.offset),
        bias_(source.offset + shape.channels),
        stride_(SampleStride(shape.features())),
        scratch_size_(SampleStride(tensor::NormScratchSize(shape))),
        sums_size_(2 * SampleStride(shape.channels)),
        scratch_(source.width * scratch_size_),
        statistics_(source.batch * shape.statistics()),
        sums_(PartsOf(source.batch) * sums_size_),
        gradient_(2 * shape.channels) {}

  void Forward(const ForwardPass& pass) override {
    ForParts(pass, [&](std::size_t first, std::size_t samples, std::size_t, std::size_t worker) {
      tensor::NormForward(numerics_, shape_, samples, pass.input + first * stride_,
                          pass.x + weight_, pass.x + bias_, Scratch(worker), Statistics(first),
                          pass.output + first * stride_);
    });
  }

  void Backward(const BackwardPass& pass) override {
    const ForwardPass& forward = pass.forward;
    ForParts(
        forward, [&](std::size_t first, std::size_t samples, std::size_t part, std::size_t worker) {
          float* before = nullptr;
          if (pass.before != nullptr) {
            before = pass.before + first * stride_;
            ClearPadding(shape_.features(), samples, before);
          }
          float* sums = sums_.data() + part * sums_size_;
          std::fill_n(sums, sums_size_, 0.0f);
          tensor::NormBackward(numerics_, shape_, samples, forward.input + first * stride_,
                               forward.x + weight_, Statistics(first), pass.delta + first * stride_,
                               Scratch(worker), sums, sums + sums_size_ / 2, before);
        });
    std::fill_n(gradient_.data(), gradient_.size(), 0.0f);
    for (std::size_t part = 0; part < PartsOf(forward.batch); ++part) {
      const float* sums = sums_.data() + part * sums_size_;
      for (std::size_t c = 0; c < shape_.channels; ++c) {
        gradient_[c] += sums[c];
        gradient_[shape_.channels + c] += sums[sums_size_ / 2 + c];
      }
    }
    tensor::ApplyUpdate(pass.rule, weight_, gradient_.view(),
                        {pass.target, weight_ + gradient_.size()}, numerics_);
  }

 private:
  float* Scratch(std::size_t worker) { return scratch_.data() + worker * scratch_size_; }
  float* Statistics(std::size_t sample) {
    return statistics_.data() + sample * shape_.statistics();
  }

  tensor::NormShape shape_;
  tensor::Numerics numerics_;
  std::size_t weight_;  // offsets into x; the bias follows the weight
  std::size_t bias_;
  std::size_t stride_;
  std::size_t scratch_size_;
  std::size_t sums_size_;
  tensor::FlatVector scratch_;     // of each worker
  tensor::FlatVector statistics_;  // of each sample
  tensor::FlatVector sums_;        // of each part: weight, then bias
  tensor::FlatVector gradient_;
};

Compiled Make(const StageSource& source, const tensor::NormShape& shape) {
  return {.stage = std::make_unique<NormStage>(source, shape),
          .layers = 1,
          .input = Order::kBySample,
          .output = Order::kBySample};
}

}  // namespace

Compiled MakeGroupNorm(const StageSource& source, const GroupNorm& norm) {
  const Shape& input = source.infos[0].input;
  const std::size_t channels = input.back();
  return Make(source, {.instances = 1,
                       .places = Volume(input) / channels,
                       .channels = channels,
                       .groups = norm.groups,
                       .epsilon = norm.epsilon});
}

Compiled MakeLayerNorm(const StageSource& source, const LayerNorm& norm) {
  const Shape& input = source.infos[0].input;
  const std::size_t channels = input.back();
  return Make(source, {.instances = Volume(input) / channels,
                       .places = 1,
                       .channels = channels,
                       .groups = 1,
                       .epsilon = norm.epsilon});
}

}  // namespace covey::nn
