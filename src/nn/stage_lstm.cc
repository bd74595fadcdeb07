// LSTM layer; as first layer also behind one_hot, whose vectors are then never made.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "covey/base/check.h"
#include "covey/tensor/embedding.h"
#include "covey/tensor/lstm.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

tensor::LstmShape ShapeOf(const StageSource& source, const Lstm& lstm, std::size_t at) {
  const bool symbols = at > 0;
  return {.inputs = source.infos[at].input[1],
          .units = lstm.units,
          .steps = source.infos[at].input[0],
          .gates = lstm.gates == Activation::kHardSigmoid ? tensor::LstmGates::kHardSigmoid
                                                          : tensor::LstmGates::kSigmoid,
          .input = symbols ? tensor::LstmInputKind::kSymbols : tensor::LstmInputKind::kFloats,
          .output = lstm.output == Lstm::Output::kSequence ? tensor::LstmOutputKind::kSequence
                                                           : tensor::LstmOutputKind::kLast};
}

class LstmStage final : public Stage {
 public:
  LstmStage(const StageSource& source, const Lstm& lstm, std::size_t at)
      : shape_(ShapeOf(source, lstm, at)),
        numerics_(source.spec.numerics),
        offset_(source.offset),
        in_stride_(SampleStride(shape_.steps * shape_.inputs)),
        out_stride_(SampleStride(Volume(source.infos[at].output))),
        distance_(SampleStride(tensor::LstmPartGradientSize(shape_))),
        packed_(tensor::LstmPackedSize(shape_)),
        // A tape grows with its samples, so those of a batch's parts lie side by side.
        tapes_(tensor::LstmTapeSize(shape_, source.batch)),
        gradients_(std::min<std::size_t>(8, tensor::LstmParts(source.batch)) * distance_),
        table_(tensor::LstmTableSize(shape_)),
        gradient_(source.infos[at].parameters),
        symbols_(at > 0 ? source.batch * shape_.steps : 0),
        parts_(8) {}

  void Forward(const ForwardPass& pass) override {
    const float* weights = pass.x + offset_;
    const std::size_t recurrent = 4 * shape_.units * shape_.inputs;
    const std::size_t bias = recurrent + 4 * shape_.units * shape_.units;
    tensor::LstmPack(shape_, {weights, weights + recurrent, weights + bias}, packed_.data());
    if (!symbols_.empty()) {
      tensor::ReadSymbols(pass.rows,
                          {.samples = pass.batch, .length = shape_.steps, .symbols = shape_.inputs},
                          symbols_.data());
    }
    Cut(pass);
    const std::size_t most = tensor::LstmPartSamples(pass.batch);
    pass.tasks->Run(tensor::LstmParts(pass.batch), [&](std::size_t p) {
      tensor::LstmForward(shape_, numerics_, packed_.data(), parts_[p], out_stride_,
                          pass.output + p * most * out_stride_);
    });
  }

  void Backward(const BackwardPass& pass) override {
    const ForwardPass& forward = pass.forward;
    const std::size_t most = tensor::LstmPartSamples(forward.batch);
    const std::size_t count = tensor::LstmParts(forward.batch);
    float* before = symbols_.empty() ? pass.before : nullptr;
    forward.tasks->Run(count, [&](std::size_t p) {
      float* to = before == nullptr ? nullptr : before + p * most * in_stride_;
      tensor::LstmBackward(shape_, numerics_, packed_.data(), parts_[p],
                           {.delta = pass.delta + p * most * out_stride_,
                            .delta_stride = out_stride_,
                            .before = to,
                            .before_stride = in_stride_,
                            .gradient = gradients_.data() + p * distance_});
      if (to != nullptr) ClearPadding(parts_[p].samples, to);
    });
    if (!symbols_.empty()) {
      forward.tasks->Run(tensor::kLstmRanges, [&](std::size_t range) {
        tensor::LstmScatter(shape_, parts_.data(), count, range, table_.data());
      });
    }
    tensor::LstmGradient(shape_, gradients_.data(), distance_, count,
                         symbols_.empty() ? nullptr : table_.data(), gradient_.view());
    tensor::ApplyUpdate(pass.rule, offset_, gradient_.view(),
                        {pass.target, offset_ + gradient_.size()}, numerics_);
  }

 private:
  void Cut(const ForwardPass& pass) {
    const std::size_t most = tensor::LstmPartSamples(pass.batch);
    for (std::size_t p = 0; p < tensor::LstmParts(pass.batch); ++p) {
      const std::size_t first = p * most;
      parts_[p] = {.samples = std::min(most, pass.batch - first),
                   .values = symbols_.empty() ? pass.input + first * in_stride_ : nullptr,
                   .stride = in_stride_,
                   .symbols = symbols_.empty() ? nullptr : symbols_.data() + first * shape_.steps,
                   .tape = tapes_.data() + tensor::LstmTapeSize(shape_, first)};
    }
  }

  void ClearPadding(std::size_t samples, float* rows) const {
    const std::size_t used = shape_.steps * shape_.inputs;
    for (std::size_t b = 0; b < samples; ++b) {
      std::memset(rows + b * in_stride_ + used, 0, (in_stride_ - used) * sizeof(float));
    }
  }

  tensor::LstmShape shape_;
  tensor::Numerics numerics_;
  std::size_t offset_;  // of the parameters in x
  std::size_t in_stride_, out_stride_;
  std::size_t distance_;  // between the gradients of two parts
  tensor::FlatVector packed_, tapes_, gradients_, table_, gradient_;
  std::vector<std::uint32_t> symbols_;  // [batch][steps]; empty: floats
  std::vector<tensor::LstmPart> parts_;
};

Compiled Make(const StageSource& source, std::size_t at) {
  const Lstm& lstm = std::get<Lstm>(source.layers[at]);
  return {.stage = std::make_unique<LstmStage>(source, lstm, at),
          .layers = at + 1,
          .input = Order::kBySample,
          .output = Order::kBySample,
          .reads_rows = at > 0};
}

}  // namespace

Compiled MakeLstm(const StageSource& source) { return Make(source, 0); }
Compiled MakeOneHotLstm(const StageSource& source) { return Make(source, 1); }

}  // namespace covey::nn
