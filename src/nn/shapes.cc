// Shapes from layer to layer, and every way in which they don't fit.
#include "nn/shapes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "covey/nn/model.h"

namespace covey::nn {

std::string Print(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::string Print(const Extent& extent) {
  return std::to_string(extent.height) + " " + std::to_string(extent.width);
}

std::string Print(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

Windows WindowsOf(std::size_t n, std::size_t size, std::size_t stride, Padding padding) {
  if (padding == Padding::kValid) return {.count = (n - size) / stride + 1, .before = 0};
  const std::size_t count = (n - 1) / stride + 1;
  const std::size_t covered = (count - 1) * stride + size;
  return {.count = count, .before = covered > n ? (covered - n) / 2 : 0};
}

namespace {

using Inferred = Result<LayerInfo>;

// The stem of a layer's name; the number is appended.
struct Stem {
  std::string_view operator()(const Dense&) const { return "dense"; }
  std::string_view operator()(const Conv2d&) const { return "conv"; }
  std::string_view operator()(const Pool2d&) const { return "pool"; }
  std::string_view operator()(const GlobalAveragePool&) const { return "pool"; }
  std::string_view operator()(const Flatten&) const { return "flatten"; }
  std::string_view operator()(const Dropout&) const { return "dropout"; }
  std::string_view operator()(const Activate&) const { return "activation"; }
  std::string_view operator()(const OneHot&) const { return "one_hot"; }
  std::string_view operator()(const Embedding&) const { return "embedding"; }
  std::string_view operator()(const Lstm&) const { return "lstm"; }
  std::string_view operator()(const GroupNorm&) const { return "norm"; }
  std::string_view operator()(const LayerNorm&) const { return "norm"; }
};

tl::unexpected<Error> Invalid(std::string where, std::string got, std::string wanted) {
  return Fail(ErrorCode::kConfig, std::move(where), "got " + std::move(got),
              "wanted " + std::move(wanted));
}

// What one layer makes of the shape before it; every check is here.
struct Inference {
  std::string where;
  Shape input;
  bool first;
  LayerInfo info;

  tl::unexpected<Error> Bad(std::string field, std::string got, std::string wanted) const {
    return Invalid(where + std::move(field), std::move(got), std::move(wanted));
  }
  tl::unexpected<Error> BadInput(std::string wanted) const {
    return Bad("", "input " + Print(input), std::move(wanted));
  }

  Inferred Done(Shape output, std::size_t parameters, std::uint64_t multiply_adds) {
    if (Volume(output) > kMaxParameters) {
      return Bad("", "output " + Print(output),
                 "at most " + std::to_string(kMaxParameters) + " values");
    }
    info.input = std::move(input);
    info.output = std::move(output);
    info.parameters = parameters;
    info.multiply_adds = multiply_adds;
    return std::move(info);
  }
  Inferred Same() {
    Shape output = input;
    return Done(std::move(output), 0, 0);
  }

  Status CheckWindow(const Extent& size, const Extent& stride, Padding padding,
                     std::string_view field) const {
    if (input.size() != 3) {
      return BadInput("[height, width, channels]; for grey images write model.input: [28, 28, 1]");
    }
    const std::string name(field);
    if (size.height == 0 || size.width == 0) {
      return Bad("." + name, Print(Shape{size.height, size.width}), "extents of at least 1");
    }
    if (stride.height == 0 || stride.width == 0) {
      return Bad(".stride", Print(Shape{stride.height, stride.width}), "extents of at least 1");
    }
    if (padding == Padding::kValid && (size.height > input[0] || size.width > input[1])) {
      return Bad("." + name, Print(Shape{size.height, size.width}),
                 "at most the input's " + Print(Shape{input[0], input[1]}));
    }
    return {};
  }

  Inferred operator()(const Dense& dense) {
    if (dense.units == 0) return Bad(".units", "0", "at least 1");
    const std::size_t inputs = Volume(input);
    return Done({dense.units}, Capped(dense.units, inputs + 1),
                std::uint64_t{Capped(dense.units, inputs)});
  }

  Inferred operator()(const Conv2d& conv) {
    if (conv.filters == 0) return Bad(".filters", "0", "at least 1");
    if (conv.activation == Activation::kSoftmax) {
      return Bad(".activation", "softmax", "another one; softmax belongs to the last dense layer");
    }
    if (Status window = CheckWindow(conv.kernel, conv.stride, conv.padding, "kernel"); !window) {
      return tl::unexpected(std::move(window.error()));
    }
    const Windows rows = WindowsOf(input[0], conv.kernel.height, conv.stride.height, conv.padding);
    const Windows columns = WindowsOf(input[1], conv.kernel.width, conv.stride.width, conv.padding);
    const std::size_t taps = Volume({conv.kernel.height, conv.kernel.width, input[2]});
    const std::size_t parameters = Capped(conv.filters, taps + 1);
    return Done({rows.count, columns.count, conv.filters}, parameters,
                std::uint64_t{Capped(conv.filters, taps)} * rows.count * columns.count);
  }

  Inferred operator()(const Pool2d& pool) {
    const Extent stride = StrideOf(pool);
    if (Status window = CheckWindow(pool.size, stride, Padding::kValid, "size"); !window) {
      return tl::unexpected(std::move(window.error()));
    }
    const Windows rows = WindowsOf(input[0], pool.size.height, stride.height, Padding::kValid);
    const Windows columns = WindowsOf(input[1], pool.size.width, stride.width, Padding::kValid);
    return Done({rows.count, columns.count, input[2]}, 0, 0);
  }

  Inferred operator()(const GlobalAveragePool&) {
    if (input.size() != 3) return BadInput("[height, width, channels]");
    return Done({input[2]}, 0, 0);
  }

  Inferred operator()(const Flatten&) { return Done({Volume(input)}, 0, 0); }

  Inferred operator()(const Dropout& dropout) {
    if (!(dropout.rate >= 0 && dropout.rate < 1)) {
      return Bad(".rate", Print(dropout.rate), "a number in [0, 1)");
    }
    return Same();
  }

  Inferred operator()(const Activate& act) {
    if (act.activation == Activation::kSoftmax && input.size() != 1) {
      return BadInput("one extent for softmax; put flatten before it");
    }
    return Same();
  }

  Inferred operator()(const OneHot& one_hot) {
    if (!first) return BadInput("to be the first layer: it reads the sample's symbols");
    if (one_hot.symbols == 0) return Bad(".symbols", "0", "at least 1");
    Shape output = input;
    output.push_back(one_hot.symbols);
    return Done(std::move(output), 0, 0);
  }

  Inferred operator()(const Embedding& embedding) {
    if (!first) return BadInput("to be the first layer: it reads the sample's symbols");
    if (embedding.symbols == 0) return Bad(".symbols", "0", "at least 1");
    if (embedding.size == 0) return Bad(".size", "0", "at least 1");
    Shape output = input;
    output.push_back(embedding.size);
    return Done(std::move(output), Capped(embedding.symbols, embedding.size), 0);
  }

  Inferred operator()(const Lstm& lstm) {
    if (lstm.units == 0) return Bad(".units", "0", "at least 1");
    if (input.size() != 2) {
      return BadInput("[time, features]; symbols pass through one_hot or embedding first");
    }
    if (lstm.gates != Activation::kSigmoid && lstm.gates != Activation::kHardSigmoid) {
      return Bad(".gates", std::string(Name(lstm.gates)), "sigmoid or hard_sigmoid");
    }
    const std::size_t gates = Capped(4, lstm.units);
    const std::size_t weights = Capped(gates, std::min(input[1] + lstm.units, kMaxParameters));
    Shape output =
        lstm.output == Lstm::Output::kSequence ? Shape{input[0], lstm.units} : Shape{lstm.units};
    return Done(std::move(output), std::min(weights + gates, kMaxParameters + 1),
                std::uint64_t{weights} * input[0]);
  }

  Inferred Norm(float epsilon) {
    if (!(epsilon > 0 && std::isfinite(epsilon))) {
      return Bad(".epsilon", Print(epsilon), "a number above 0");
    }
    const std::size_t channels = input.back();
    Shape output = input;
    return Done(std::move(output), Capped(2, channels), 0);
  }

  Inferred operator()(const GroupNorm& norm) {
    if (norm.groups == 0 || input.back() % norm.groups != 0) {
      return Bad(".groups", std::to_string(norm.groups),
                 "a divisor of the " + std::to_string(input.back()) + " channels");
    }
    return Norm(norm.epsilon);
  }

  Inferred operator()(const LayerNorm& norm) { return Norm(norm.epsilon); }
};

Status CheckInput(const ModelSpec& spec) {
  if (spec.input.empty()) return Invalid("model.input", "no extent", "the shape of one sample");
  for (std::size_t i = 0; i < spec.input.size(); ++i) {
    if (spec.input[i] == 0) {
      return Invalid("model.input[" + std::to_string(i) + "]", "0", "at least 1");
    }
  }
  if (Volume(spec.input) > kMaxParameters) {
    return Invalid("model.input", "more than " + std::to_string(kMaxParameters) + " values",
                   "at most that many");
  }
  if (spec.layers.empty()) {
    return Invalid("model.layers", "no layer", "at least one; the last has one unit a class");
  }
  return {};
}

// What the loss takes from the last layer.
Status CheckLoss(const ModelSpec& spec, const LayerInfo& last, const std::string& where) {
  Activation activation = Activation::kLinear;
  if (const auto* dense = std::get_if<Dense>(&spec.layers.back())) activation = dense->activation;
  if (const auto* act = std::get_if<Activate>(&spec.layers.back())) activation = act->activation;
  const std::string field = where + ".activation";
  const std::string got(Name(activation));
  const bool sparse = spec.loss == Loss::kSparseCategoricalCrossEntropy;
  if (sparse || spec.loss == Loss::kCategoricalCrossEntropy) {
    if (activation != Activation::kLinear && activation != Activation::kSoftmax) {
      return Invalid(field, got, "linear or softmax: the loss takes logits");
    }
    if (Volume(last.output) < 2) {
      return Invalid(where + ".units", std::to_string(Volume(last.output)),
                     "at least 2: one a class");
    }
  } else if (spec.loss == Loss::kBinaryCrossEntropy) {
    if (activation != Activation::kLinear && activation != Activation::kSigmoid) {
      return Invalid(field, got, "linear or sigmoid: the loss takes logits");
    }
  } else if (spec.loss == Loss::kHuber &&
             !(spec.huber_delta > 0 && std::isfinite(spec.huber_delta))) {
    return Invalid("model.huber_delta", Print(spec.huber_delta), "a number above 0");
  }
  if (last.output.size() != 1) {
    return Invalid(where, "output " + Print(last.output),
                   "one extent for the loss; put flatten or a dense layer last");
  }
  return {};
}

}  // namespace

Result<std::vector<LayerInfo>> Infer(const ModelSpec& spec) {
  if (Status input = CheckInput(spec); !input) return tl::unexpected(std::move(input.error()));
  std::vector<LayerInfo> layers;
  std::map<std::string_view, int> counts;
  Shape shape = spec.input;
  std::size_t total = 0;
  std::string where;
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    const std::string_view stem = std::visit(Stem(), spec.layers[l]);
    std::string name = std::string(stem) + std::to_string(++counts[stem]);
    where = "model.layers[" + std::to_string(l) + "] (" + name + ")";
    Inference inference{.where = where, .input = shape, .first = l == 0, .info = {}};
    inference.info.name = std::move(name);
    Inferred info = std::visit(inference, spec.layers[l]);
    if (!info) return tl::unexpected(std::move(info.error()));
    total += info->parameters;
    if (total > kMaxParameters) {
      return Invalid(where,
                     "a model of more than " + std::to_string(kMaxParameters) + " parameters",
                     "a smaller layer");
    }
    shape = info->output;
    layers.push_back(std::move(*info));
  }
  if (Status loss = CheckLoss(spec, layers.back(), where); !loss) {
    return tl::unexpected(std::move(loss.error()));
  }
  return layers;
}

Status Validate(const ModelSpec& spec) {
  Result<std::vector<LayerInfo>> layers = Infer(spec);
  if (!layers) return tl::unexpected(std::move(layers.error()));
  std::size_t parameters = 0;
  for (const LayerInfo& layer : *layers) parameters += layer.parameters;
  if (parameters == 0) return Invalid("model.layers", "no parameter", "a layer that learns");
  return {};
}

}  // namespace covey::nn
