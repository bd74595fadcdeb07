#include "covey/nn/model.h"

#include <cstddef>
#include <string>
#include <utility>

#include "covey/base/check.h"
#include "covey/base/sha256.h"
#include "nn/shapes.h"

namespace covey::nn {
namespace {

std::vector<LayerInfo> LayersOf(const ModelSpec& spec) {
  Result<std::vector<LayerInfo>> layers = Infer(spec);
  COVEY_CHECK(layers.has_value());
  return std::move(*layers);
}

// Appends the slices of one layer.
struct Slices {
  tensor::Layout& layout;
  const LayerInfo& info;

  void Add(std::string_view what, Shape shape) {
    layout.Append(info.name + "." + std::string(what), std::move(shape));
  }
  void Norm() {
    Add("weight", {info.input.back()});
    Add("bias", {info.input.back()});
  }
  void operator()(const Dense& dense) {
    Add("weight", {dense.units, Volume(info.input)});
    Add("bias", {dense.units});
  }
  void operator()(const Conv2d& conv) {
    Add("weight", {conv.filters, conv.kernel.height, conv.kernel.width, info.input[2]});
    Add("bias", {conv.filters});
  }
  void operator()(const Embedding& embedding) {
    Add("weight", {embedding.symbols, embedding.size});
  }
  void operator()(const Lstm& lstm) {
    Add("weight_ih", {4 * lstm.units, info.input[1]});
    Add("weight_hh", {4 * lstm.units, lstm.units});
    Add("bias", {4 * lstm.units});
  }
  void operator()(const GroupNorm&) { Norm(); }
  void operator()(const LayerNorm&) { Norm(); }
  template <class Other>
  void operator()(const Other&) {}  // no parameters
};

// What of a layer's settings changes its function, beyond the shapes of its parameters.
struct Settings {
  std::string operator()(const Dense& dense) const {
    return " activation " + std::string(Name(dense.activation));
  }
  std::string operator()(const Conv2d& conv) const {
    return " stride " + Print(conv.stride) + " padding " + std::string(Name(conv.padding)) +
           " activation " + std::string(Name(conv.activation));
  }
  std::string operator()(const Pool2d& pool) const {
    return " " + std::string(KindOf(pool)) + " size " + Print(pool.size) + " stride " +
           Print(StrideOf(pool));
  }
  std::string operator()(const GlobalAveragePool&) const { return " global_average"; }
  std::string operator()(const Flatten&) const { return ""; }
  std::string operator()(const Dropout&) const { return ""; }  // not of the model's function
  std::string operator()(const Activate& act) const {
    return " " + std::string(Name(act.activation));
  }
  std::string operator()(const OneHot& one_hot) const {
    return " symbols " + std::to_string(one_hot.symbols);
  }
  std::string operator()(const Embedding&) const { return ""; }
  std::string operator()(const Lstm& lstm) const {
    return std::string(" gates ") + std::string(Name(lstm.gates)) +
           (lstm.output == Lstm::Output::kSequence ? " sequence" : " last");
  }
  std::string operator()(const GroupNorm& norm) const {
    return " groups " + std::to_string(norm.groups) + " epsilon " + Print(norm.epsilon);
  }
  std::string operator()(const LayerNorm& norm) const {
    return " layer epsilon " + Print(norm.epsilon);
  }
};

// The word that Summary uses for a layer.
struct Brief {
  const LayerInfo& info;
  const LayerSpec& spec;
  std::string operator()(const Dense& dense) const {
    return "dense " + std::to_string(dense.units);
  }
  std::string operator()(const Conv2d& conv) const {
    return "conv2d " + std::to_string(conv.filters);
  }
  std::string operator()(const Lstm& lstm) const { return "lstm " + std::to_string(lstm.units); }
  template <class Other>
  std::string operator()(const Other&) const {
    return std::string(KindOf(spec));
  }
};

bool AllDense(const ModelSpec& spec) {
  for (const LayerSpec& layer : spec.layers) {
    if (!std::holds_alternative<Dense>(layer)) return false;
  }
  return true;
}

}  // namespace

std::size_t Features(const ModelSpec& spec) { return Volume(spec.input); }

std::size_t Outputs(const ModelSpec& spec) { return Volume(LayersOf(spec).back().output); }

bool HasLabels(const ModelSpec& spec) { return spec.loss == Loss::kSparseCategoricalCrossEntropy; }

bool IsClassification(const ModelSpec& spec) {
  return spec.loss != Loss::kMeanSquaredError && spec.loss != Loss::kHuber;
}

std::size_t Symbols(const ModelSpec& spec) {
  if (const auto* one_hot = std::get_if<OneHot>(&spec.layers.front())) return one_hot->symbols;
  if (const auto* table = std::get_if<Embedding>(&spec.layers.front())) return table->symbols;
  return 0;
}

tensor::Layout LayoutOf(const ModelSpec& spec) {
  tensor::Layout layout;
  const std::vector<LayerInfo> layers = LayersOf(spec);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::visit(Slices{layout, layers[l]}, spec.layers[l]);
  }
  return layout;
}

std::string Describe(const ModelSpec& spec) {
  std::string text = "covey model 1\ninput";
  for (const std::size_t extent : spec.input) text += " " + std::to_string(extent);
  text += "\n" + LayoutOf(spec).Describe();
  const std::vector<LayerInfo> layers = LayersOf(spec);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const std::string settings = std::visit(Settings(), spec.layers[l]);
    if (!settings.empty()) text += layers[l].name + settings + "\n";
  }
  if (HasLabels(spec)) return text + "loss softmax_sparse_categorical_cross_entropy\n";
  return text + "loss " + std::string(Name(spec.loss)) +
         (spec.loss == Loss::kHuber ? " " + Print(spec.huber_delta) : "") + "\n";
}

Digest FingerprintOf(const ModelSpec& spec) { return Sha256::Of(Describe(spec)); }

std::string Summary(const ModelSpec& spec) {
  const std::vector<LayerInfo> layers = LayersOf(spec);
  const bool mlp = AllDense(spec);
  std::string text = mlp ? "mlp " + std::to_string(Features(spec)) : "";
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (mlp) {
      text += "-" + std::to_string(layers[l].output.front());
    } else {
      text += (l > 0 ? ", " : "") + std::visit(Brief{layers[l], spec.layers[l]}, spec.layers[l]);
    }
  }
  return text;
}

std::string_view Name(Loss loss) {
  switch (loss) {
    case Loss::kSparseCategoricalCrossEntropy:
      return "sparse_categorical_crossentropy";
    case Loss::kCategoricalCrossEntropy:
      return "categorical_crossentropy";
    case Loss::kBinaryCrossEntropy:
      return "binary_crossentropy";
    case Loss::kMeanSquaredError:
      return "mean_squared_error";
    case Loss::kHuber:
      return "huber";
  }
  return "unknown";
}

}  // namespace covey::nn
