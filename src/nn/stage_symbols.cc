// First layers that read symbols: embedding and one_hot.
#include <cstdint>
#include <memory>
#include <vector>

#include "covey/tensor/embedding.h"
#include "nn/shapes.h"
#include "nn/stages.h"

namespace covey::nn {
namespace {

// Samples of a part of the look-up.
constexpr std::size_t kSymbolSamples = 32;

class SymbolStage : public Stage {
 protected:
  SymbolStage(const StageSource& source, std::size_t symbols, std::size_t size)
      : symbols_(source.batch * Volume(source.infos[0].input)),
        shape_{.samples = 0,
               .length = Volume(source.infos[0].input),
               .symbols = symbols,
               .size = size,
               .stride = SampleStride(Volume(source.infos[0].output))} {}

  tensor::SymbolShape Shape(std::size_t samples) const {
    tensor::SymbolShape shape = shape_;
    shape.samples = samples;
    return shape;
  }

  // Calls run(shape of a part, its symbols, its output) for the parts of a batch.
  template <class Run>
  void ForParts(const ForwardPass& pass, const Run& run) {
    tensor::ReadSymbols(pass.rows, Shape(pass.batch), symbols_.data());
    pass.tasks->Run((pass.batch + kSymbolSamples - 1) / kSymbolSamples, [&](std::size_t part) {
      const std::size_t first = part * kSymbolSamples;
      run(Shape(std::min(kSymbolSamples, pass.batch - first)),
          symbols_.data() + first * shape_.length, pass.output + first * shape_.stride);
    });
  }

  std::vector<std::uint32_t> symbols_;

 private:
  tensor::SymbolShape shape_;
};

class EmbeddingStage final : public SymbolStage {
 public:
  EmbeddingStage(const StageSource& source, const Embedding& embedding)
      : SymbolStage(source, embedding.symbols, embedding.size),
        numerics_(source.spec.numerics),
        offset_(source.offset),
        gradient_(source.infos[0].parameters) {}

  void Forward(const ForwardPass& pass) override {
    ForParts(pass, [&](const tensor::SymbolShape& shape, const std::uint32_t* symbols, float* to) {
      tensor::EmbeddingForward(shape, symbols, pass.x + offset_, to);
    });
  }

  // One part: any two samples may share a symbol.
  void Backward(const BackwardPass& pass) override {
    tensor::EmbeddingGradient(Shape(pass.forward.batch), symbols_.data(), pass.delta,
                              gradient_.data());
    tensor::ApplyUpdate(pass.rule, offset_, gradient_.view(),
                        {pass.target, offset_ + gradient_.size()}, numerics_);
  }

 private:
  tensor::Numerics numerics_;
  std::size_t offset_;  // of the table in x
  tensor::FlatVector gradient_;
};

class OneHotStage final : public SymbolStage {
 public:
  OneHotStage(const StageSource& source, const OneHot& one_hot)
      : SymbolStage(source, one_hot.symbols, one_hot.symbols) {}

  void Forward(const ForwardPass& pass) override {
    ForParts(pass, [](const tensor::SymbolShape& shape, const std::uint32_t* symbols, float* to) {
      tensor::OneHotForward(shape, symbols, to);
    });
  }

  void Backward(const BackwardPass&) override {}  // no parameters, and nothing before it
};

Compiled First(std::unique_ptr<Stage> stage) {
  return {.stage = std::move(stage),
          .layers = 1,
          .input = Order::kBySample,
          .output = Order::kBySample,
          .reads_rows = true};
}

}  // namespace

Compiled MakeEmbedding(const StageSource& source, const Embedding& embedding) {
  return First(std::make_unique<EmbeddingStage>(source, embedding));
}

Compiled MakeOneHot(const StageSource& source, const OneHot& one_hot) {
  if (source.count > 1 && std::holds_alternative<Lstm>(source.layers[1])) {
    return MakeOneHotLstm(source);
  }
  return First(std::make_unique<OneHotStage>(source, one_hot));
}

}  // namespace covey::nn
