#include "covey/nn/model.h"

#include <cmath>

#include "covey/base/check.h"
#include "covey/base/sha256.h"

namespace covey::nn {
namespace {

Status Invalid(std::string where, std::string got, std::string wanted) {
  return Fail(ErrorCode::kConfig, std::move(where), "got " + std::move(got),
              "wanted " + std::move(wanted));
}

// Returns: a * b, or kMaxParameters + 1 when that is smaller.
std::size_t Capped(std::size_t a, std::size_t b) {
  if (a != 0 && b > kMaxParameters / a) return kMaxParameters + 1;
  return a * b;
}

std::string LayerName(std::size_t index) { return "dense" + std::to_string(index + 1); }

Status ValidateInput(const ModelSpec& spec, std::size_t& features) {
  features = 1;
  if (spec.input.empty()) return Invalid("model.input", "no extent", "the shape of one sample");
  for (std::size_t i = 0; i < spec.input.size(); ++i) {
    if (spec.input[i] == 0) {
      return Invalid("model.input[" + std::to_string(i) + "]", "0", "at least 1");
    }
    features = Capped(features, spec.input[i]);
  }
  if (features > kMaxParameters) {
    return Invalid("model.input", "more than " + std::to_string(kMaxParameters) + " values",
                   "at most that many");
  }
  return {};
}

}  // namespace

Status Validate(const ModelSpec& spec) {
  std::size_t inputs = 0;
  if (Status input = ValidateInput(spec, inputs); !input) return input;
  if (spec.layers.empty()) {
    return Invalid("model.layers", "no layer", "at least one; the last has one unit a class");
  }
  std::size_t total = 0;
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    const std::string where = "model.layers[" + std::to_string(l) + "] (" + LayerName(l) + ")";
    const std::size_t units = spec.layers[l].units;
    const bool last = l + 1 == spec.layers.size();
    if (spec.layers[l].kind != LayerSpec::Kind::kDense) {
      return Invalid(where + ".kind", std::to_string(static_cast<int>(spec.layers[l].kind)),
                     "dense");
    }
    if (units < (last ? 2u : 1u)) {
      return Invalid(where + ".units", std::to_string(units),
                     last ? "at least 2: one a class" : "at least 1");
    }
    if (last && spec.layers[l].activation != Activation::kLinear) {
      return Invalid(where + ".activation", std::string(Name(spec.layers[l].activation)),
                     "linear: the loss applies softmax to the last layer itself");
    }
    // units * (inputs + 1); inputs is at most kMaxParameters here.
    total += Capped(units, inputs + 1);
    if (total > kMaxParameters) {
      return Invalid(where + ".units",
                     std::to_string(units) + " (the model would pass " +
                         std::to_string(kMaxParameters) + " parameters)",
                     "a smaller layer");
    }
    inputs = units;
  }
  return {};
}

std::size_t Features(const ModelSpec& spec) {
  std::size_t features = 1;
  for (const std::size_t extent : spec.input) features *= extent;
  return features;
}

std::size_t Classes(const ModelSpec& spec) { return spec.layers.back().units; }

tensor::Layout LayoutOf(const ModelSpec& spec) {
  tensor::Layout layout;
  std::size_t inputs = Features(spec);
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    layout.Append(LayerName(l) + ".weight", {spec.layers[l].units, inputs});
    layout.Append(LayerName(l) + ".bias", {spec.layers[l].units});
    inputs = spec.layers[l].units;
  }
  return layout;
}

std::string Describe(const ModelSpec& spec) {
  std::string text = "covey model 1\ninput";
  for (const std::size_t extent : spec.input) text += " " + std::to_string(extent);
  text += "\n" + LayoutOf(spec).Describe();
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    text += LayerName(l) + " activation " + std::string(Name(spec.layers[l].activation)) + "\n";
  }
  return text + "loss softmax_sparse_categorical_cross_entropy\n";
}

Digest FingerprintOf(const ModelSpec& spec) { return Sha256::Of(Describe(spec)); }

std::string Summary(const ModelSpec& spec) {
  std::string text = "mlp " + std::to_string(Features(spec));
  for (const LayerSpec& layer : spec.layers) text += "-" + std::to_string(layer.units);
  return text;
}

void Initialise(const ModelSpec& spec, Stream& stream, tensor::VectorView x) {
  const tensor::Layout layout = LayoutOf(spec);
  COVEY_CHECK(x.size() == layout.size(), x.size(), layout.size());
  const bool glorot = spec.init == Init::kGlorotUniform || spec.init == Init::kGlorotNormal;
  const bool normal = spec.init == Init::kGlorotNormal || spec.init == Init::kHeNormal;
  for (const tensor::Slice& slice : layout.slices()) {
    const tensor::VectorView part = x.subspan(slice.offset, slice.size);
    if (slice.shape.size() == 1) {  // bias
      for (float& value : part) value = 0;
      continue;
    }
    const auto fan_out = static_cast<double>(slice.shape[0]);
    const auto fan_in = static_cast<double>(slice.shape[1]);
    const double variance = 2.0 / (glorot ? fan_in + fan_out : fan_in);
    const double deviation = std::sqrt(variance);
    const auto limit = static_cast<float>(std::sqrt(3.0 * variance));
    for (float& value : part) {
      value =
          normal ? static_cast<float>(deviation * stream.Normal()) : stream.Uniform(-limit, limit);
    }
  }
}

std::string_view Name(Activation activation) {
  return activation == Activation::kRelu ? "relu" : "linear";
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
