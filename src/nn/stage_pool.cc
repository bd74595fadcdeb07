// Pooling that is not fused with a convolution.
#include <vector>

#include "covey/tensor/pool.h"
#include "nn/parts.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

class PoolStage final : public Stage {
 public:
  PoolStage(const StageSource& source, Pool2d::Kind kind, const tensor::PoolShape& shape)
      : kind_(kind),
        shape_(shape),
        in_(SampleStride(shape.features())),
        out_(SampleStride(shape.outputs())),
        choice_(kind == Pool2d::Kind::kMax ? source.batch * out_ : 0) {}

  void Forward(const ForwardPass& pass) override {
    ForParts(pass, [&](std::size_t first, std::size_t samples, std::size_t, std::size_t) {
      const float* input = pass.input + first * in_;
      float* output = pass.output + first * out_;
      if (kind_ == Pool2d::Kind::kMax) {
        tensor::MaxPoolForward(shape_, samples, input, output, choice_.data() + first * out_);
      } else {
        tensor::AveragePoolForward(shape_, samples, input, output);
      }
    });
  }

  void Backward(const BackwardPass& pass) override {
    if (pass.before == nullptr) return;
    ForParts(pass.forward, [&](std::size_t first, std::size_t samples, std::size_t, std::size_t) {
      const float* delta = pass.delta + first * out_;
      float* before = pass.before + first * in_;
      if (kind_ == Pool2d::Kind::kMax) {
        tensor::MaxPoolBackward(shape_, samples, delta, choice_.data() + first * out_, before);
      } else {
        tensor::AveragePoolBackward(shape_, samples, delta, before);
      }
    });
  }

 private:
  Pool2d::Kind kind_;
  tensor::PoolShape shape_;
  std::size_t in_;  // strides
  std::size_t out_;
  std::vector<std::int32_t> choice_;
};

Compiled Make(const StageSource& source, Pool2d::Kind kind, const tensor::PoolShape& shape) {
  return {.stage = std::make_unique<PoolStage>(source, kind, shape),
          .layers = 1,
          .input = Order::kBySample,
          .output = Order::kBySample};
}

}  // namespace

Compiled MakePool2d(const StageSource& source, const Pool2d& pool) {
  const Shape& input = source.infos[0].input;
  const Extent stride = StrideOf(pool);
  return Make(source, pool.kind,
              {.height = input[0],
               .width = input[1],
               .channels = input[2],
               .size_height = pool.size.height,
               .size_width = pool.size.width,
               .stride_height = stride.height,
               .stride_width = stride.width});
}

Compiled MakeGlobalAveragePool(const StageSource& source) {
  const Shape& input = source.infos[0].input;
  return Make(source, Pool2d::Kind::kAverage,
              {.height = input[0],
               .width = input[1],
               .channels = input[2],
               .size_height = input[0],
               .size_width = input[1]});
}

}  // namespace covey::nn
