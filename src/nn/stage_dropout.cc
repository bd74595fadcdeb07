#include <cstring>

#include "covey/tensor/dropout.h"
#include "nn/parts.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

// The element's number is sample * features + feature in both orders.
class DropoutStage final : public Stage {
 public:
  DropoutStage(const StageSource& source, const Dropout& dropout, Order order)
      : rate_(dropout.rate),
        layer_(static_cast<std::uint32_t>(source.index)),
        features_(Volume(source.infos[0].input)),
        order_(order) {}

  void Forward(const ForwardPass& pass) override {
    if (pass.training) return Drop(pass, pass.input, pass.output);
    std::memcpy(pass.output, pass.input, BufferSize(order_, features_, pass.batch) * sizeof(float));
  }

  void Backward(const BackwardPass& pass) override {
    if (pass.before != nullptr) Drop(pass.forward, pass.delta, pass.before);
  }

 private:
  // Padding goes along: rubbish stays finite and zeros stay zeros.
  void Drop(const ForwardPass& pass, const float* from, float* to) const {
    const tensor::DropoutMask mask = tensor::MaskOf(rate_, pass.seed, layer_, pass.step);
    const auto features = static_cast<std::uint32_t>(features_);
    if (order_ == Order::kByFeature) {
      const std::size_t columns = tensor::PaddedBatch(pass.batch);
      tensor::ApplyDropout(mask,
                           {.rows = features_,
                            .columns = columns,
                            .stride = columns,
                            .row_step = 1,
                            .column_step = features},
                           from, to);
      return;
    }
    const std::size_t stride = SampleStride(features_);
    ForParts(pass, [&](std::size_t first, std::size_t samples, std::size_t, std::size_t) {
      tensor::ApplyDropout(mask,
                           {.rows = samples,
                            .columns = stride,
                            .stride = stride,
                            .first = static_cast<std::uint32_t>(first) * features,
                            .row_step = features},
                           from + first * stride, to + first * stride);
    });
  }

  float rate_;
  std::uint32_t layer_;
  std::size_t features_;
  Order order_;
};

}  // namespace

Compiled MakeDropout(const StageSource& source, const Dropout& dropout) {
  // As the neighbours most likely want it: dense layers have flat shapes.
  const Order order = source.infos[0].input.size() == 1 ? Order::kByFeature : Order::kBySample;
  return {.stage = std::make_unique<DropoutStage>(source, dropout, order),
          .layers = 1,
          .input = order,
          .output = order};
}

}  // namespace covey::nn
