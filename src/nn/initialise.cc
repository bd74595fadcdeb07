// Initial parameters.
#include <cmath>
#include <cstddef>
#include <string_view>

#include "covey/base/check.h"
#include "covey/nn/model.h"
#include "nn/orthogonal.h"

namespace covey::nn {
namespace {

void Fill(Init init, double fan_in, double fan_out, Stream& stream, tensor::VectorView part) {
  const bool glorot = init == Init::kGlorotUniform || init == Init::kGlorotNormal;
  const bool normal = init == Init::kGlorotNormal || init == Init::kHeNormal;
  const double variance = 2.0 / (glorot ? fan_in + fan_out : fan_in);
  const double deviation = std::sqrt(variance);
  const auto limit = static_cast<float>(std::sqrt(3.0 * variance));
  for (float& value : part) {
    value =
        normal ? static_cast<float>(deviation * stream.Normal()) : stream.Uniform(-limit, limit);
  }
}

// Fills the slices of one layer, in order.
struct Start {
  const ModelSpec& spec;
  Stream& stream;
  tensor::VectorView x;
  const tensor::Slice* slice;  // the layer's first

  tensor::VectorView Next() {
    const tensor::VectorView part = x.subspan(slice->offset, slice->size);
    ++slice;
    return part;
  }
  void Constant(float value) {
    for (float& element : Next()) element = value;
  }

  void operator()(const Dense&) {
    const auto fan_in = static_cast<double>(slice->shape[1]);
    Fill(spec.init, fan_in, static_cast<double>(slice->shape[0]), stream, Next());
    Constant(0);
  }
  void operator()(const Conv2d&) {
    const auto area = static_cast<double>(slice->shape[1] * slice->shape[2]);
    const auto channels = static_cast<double>(slice->shape[3]);
    const auto filters = static_cast<double>(slice->shape[0]);
    Fill(spec.init, area * channels, area * filters, stream, Next());
    Constant(0);
  }
  void operator()(const Embedding&) {
    for (float& value : Next()) value = stream.Uniform(-0.05f, 0.05f);
  }
  void operator()(const Lstm& lstm) {
    const auto fan_in = static_cast<double>(slice->shape[1]);
    Fill(spec.init, fan_in, static_cast<double>(4 * lstm.units), stream, Next());
    const tensor::VectorView recurrent = Next();
    const std::size_t gate = lstm.units * lstm.units;
    for (std::size_t g = 0; g < 4; ++g) {
      Orthogonal(lstm.units, stream, recurrent.subspan(g * gate, gate));
    }
    const tensor::VectorView bias = Next();
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = i / lstm.units == 1 ? 1.0f : 0.0f;
  }
  void operator()(const GroupNorm&) { Norm(); }
  void operator()(const LayerNorm&) { Norm(); }
  void Norm() {
    Constant(1);
    Constant(0);
  }
  template <class Other>
  void operator()(const Other&) {}  // no parameters
};

}  // namespace

void Initialise(const ModelSpec& spec, Stream& stream, tensor::VectorView x) {
  const tensor::Layout layout = LayoutOf(spec);
  COVEY_CHECK(x.size() == layout.size(), x.size(), layout.size());
  Start start{spec, stream, x, layout.slices().data()};
  for (const LayerSpec& layer : spec.layers) std::visit(start, layer);
}

std::string_view Name(Init init) {
  switch (init) {
    case Init::kGlorotUniform:
      return "glorot_uniform";
    case Init::kGlorotNormal:
      return "glorot_normal";
    case Init::kHeUniform:
      return "he_uniform";
    case Init::kHeNormal:
      return "he_normal";
  }
  return "unknown";
}

}  // namespace covey::nn
