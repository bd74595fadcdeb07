// The section `model`: shapes, layers, loss.
#include <string_view>
#include <utility>

#include "config/bindings.h"
#include "config/schema_parts.h"

namespace covey::config {
namespace {

constexpr std::uint64_t kMostUnits = 1'000'000;

// Every value of an enum with its word.
template <class E>
Binding WordOf(E& value, std::initializer_list<E> all) {
  std::vector<std::pair<E, std::string_view>> words;
  for (const E one : all) words.emplace_back(one, nn::Name(one));
  return Word<E>(value, std::move(words));
}

Binding ActivationWord(nn::Activation& value) {
  using nn::Activation;
  return WordOf<Activation>(
      value, {Activation::kLinear, Activation::kRelu, Activation::kLeakyRelu, Activation::kTanh,
              Activation::kSigmoid, Activation::kHardSigmoid, Activation::kSoftmax});
}

ListBinding Pair(nn::Extent& extent, bool automatic = false) {
  return {.size = [] { return std::size_t{2}; },
          .resize = [](std::size_t) {},
          .at =
              [&extent, automatic](std::size_t i) {
                std::size_t& value = i == 0 ? extent.height : extent.width;
                return automatic ? IntegerOr("auto", value, kMostUnits)
                                 : Integer(value, 1, kMostUnits);
              },
          .pair = "height and width"};
}

Binding Epsilon(float& value) { return Real(value, {.low = 0, .high = 1, .above = true}); }

void Visit(Visitor& v, nn::Dense& dense) {
  v.Scalar({"units", "Outputs; of the last layer: the classes", true},
           Integer(dense.units, 1, kMostUnits));
  v.Scalar({"activation", "linear for the last layer: the loss takes its logits"},
           ActivationWord(dense.activation));
}

void Visit(Visitor& v, nn::Conv2d& conv) {
  using nn::Padding;
  v.Scalar({"filters", "Channels of the output", true}, Integer(conv.filters, 1, kMostUnits));
  v.List({"kernel", "Extent of a filter"}, Pair(conv.kernel));
  v.List({"stride", "Step from place to place"}, Pair(conv.stride));
  v.Scalar({"padding", "valid: only where the kernel lies inside. same: zeros around the image"},
           WordOf<Padding>(conv.padding, {Padding::kValid, Padding::kSame}));
  v.Scalar({"activation", "Applied to every output"}, ActivationWord(conv.activation));
}

void Visit(Visitor& v, nn::Pool2d& pool) {
  v.List({"size", "Extent of a window"}, Pair(pool.size));
  v.List({"stride", "Step from window to window; auto: its size"}, Pair(pool.stride, true));
}

void Visit(Visitor& v, nn::Dropout& dropout) {
  v.Scalar({"rate", "Probability with which a value is left out of a training step"},
           Real(dropout.rate, {.low = 0, .high = 0.999999}));
}

void Visit(Visitor& v, nn::OneHot& one_hot) {
  v.Scalar({"symbols", "Elements of a sample are whole numbers below it", true},
           Integer(one_hot.symbols, 1, kMostUnits));
}

void Visit(Visitor& v, nn::Embedding& table) {
  v.Scalar({"symbols", "Elements of a sample are whole numbers below it", true},
           Integer(table.symbols, 1, kMostUnits));
  v.Scalar({"size", "Numbers that stand for a symbol", true}, Integer(table.size, 1, kMostUnits));
}

void Visit(Visitor& v, nn::Lstm& lstm) {
  using Output = nn::Lstm::Output;
  using nn::Activation;
  v.Scalar({"units", "Size of the state", true}, Integer(lstm.units, 1, kMostUnits));
  v.Scalar({"output",
            "last: the state after the last time step. sequence: after each, for "
            "another lstm"},
           Word<Output>(lstm.output, {{Output::kLast, "last"}, {Output::kSequence, "sequence"}}));
  v.Scalar({"gates", "Sigmoid of the gates; hard_sigmoid as in Keras 1 and TensorFlow.js"},
           WordOf<Activation>(lstm.gates, {Activation::kSigmoid, Activation::kHardSigmoid}));
}

void Visit(Visitor& v, nn::GroupNorm& norm) {
  v.Scalar({"groups", "Of neighbouring channels; a divisor of their number", true},
           Integer(norm.groups, 1, kMostUnits));
  v.Scalar({"epsilon", "Added to the variance"}, Epsilon(norm.epsilon));
}

void Visit(Visitor& v, nn::LayerNorm& norm) {
  v.Scalar({"epsilon", "Added to the variance"}, Epsilon(norm.epsilon));
}

using Kind = KindsBinding::Kind;

// A kind of layer: `first` is one at its defaults, without the numbers that a file must give.
template <class Layer>
Kind KindOf(Visitor& v, nn::ModelSpec& m, std::string_view doc, Layer first) {
  Kind kind;
  kind.name = nn::KindOf(first);
  kind.doc = doc;
  kind.make = [&m, first](std::size_t i) { m.layers[i] = first; };
  kind.visit = [&v, &m](std::size_t i) { Visit(v, std::get<Layer>(m.layers[i])); };
  return kind;
}

template <class Layer>
Kind WordKind(nn::ModelSpec& m, std::string_view doc) {
  Kind kind;
  kind.name = nn::KindOf(Layer());
  kind.doc = doc;
  kind.make = [&m](std::size_t i) { m.layers[i] = Layer(); };
  return kind;
}

std::vector<Kind> LayerKinds(Visitor& v, nn::ModelSpec& m) {
  using PoolKind = nn::Pool2d::Kind;
  Kind activation;
  activation.name = "activation";
  activation.doc = "An activation by itself";
  activation.make = [&m](std::size_t i) { m.layers[i] = nn::Activate(); };
  activation.value = [&m](std::size_t i) {
    return ActivationWord(std::get<nn::Activate>(m.layers[i]).activation);
  };
  return {
      KindOf(v, m, "Fully connected layer; flattens what it reads", nn::Dense()),
      KindOf(v, m, "Convolution over [height, width, channels]", nn::Conv2d()),
      KindOf(v, m, "Greatest value of each window", nn::Pool2d{.kind = PoolKind::kMax}),
      KindOf(v, m, "Mean of each window", nn::Pool2d{.kind = PoolKind::kAverage}),
      WordKind<nn::GlobalAveragePool>(m, "Mean of each channel"),
      WordKind<nn::Flatten>(m, "One extent out of several"),
      KindOf(v, m, "Leaves values out at random while training, scales the others up",
             nn::Dropout()),
      activation,
      KindOf(v, m, "First layer only: symbols as unit vectors, [time] -> [time, symbols]",
             nn::OneHot()),
      KindOf(v, m, "First layer only: symbols as learned vectors, [time] -> [time, size]",
             nn::Embedding()),
      KindOf(v, m, "Long short-term memory over [time, features]", nn::Lstm()),
      KindOf(v, m, "Mean 0 and variance 1 within groups of channels of a sample", nn::GroupNorm()),
      KindOf(v, m, "Mean 0 and variance 1 over the last extent", nn::LayerNorm()),
  };
}

std::vector<KindsBinding::Missed> MissedLayers() {
  std::vector<KindsBinding::Missed> missed;
  for (const std::string_view name :
       {"batch_norm", "batchnorm", "batch_norm2d", "batch_normalization", "batch_normalisation"}) {
    missed.push_back({name,
                      "there is no batch normalisation: its running statistics belong to the data "
                      "of one node, and averaging them between nodes breaks the model",
                      "use group_norm: {groups: 8} or layer_norm, which keep none"});
  }
  return missed;
}

}  // namespace

void VisitModel(Visitor& v, nn::ModelSpec& m) {
  using nn::Init;
  using nn::Loss;
  using tensor::Numerics;
  v.List({"input",
          "Shape of one sample: [features], [time, features], [height, width, channels]; symbols: "
          "[time]",
          true},
         {.size = [&m] { return m.input.size(); },
          .resize = [&m](std::size_t size) { m.input.resize(size); },
          .at = [&m](std::size_t i) { return Integer(m.input[i], 1, kMostUnits); }});
  v.Kinds({"layers", "From input to output; shapes follow from the input", true},
          {.noun = "layer",
           .size = [&m] { return m.layers.size(); },
           .resize = [&m](std::size_t size) { m.layers.resize(size); },
           .kind = [&m](std::size_t i) { return nn::KindOf(m.layers[i]); },
           .kinds = LayerKinds(v, m),
           .missed = MissedLayers()});
  v.Scalar(
      {"loss",
       "What training minimises. sparse_categorical_crossentropy: samples have class labels. "
       "The others: samples have targets, as many numbers as the last layer has outputs"},
      WordOf<Loss>(m.loss, {Loss::kSparseCategoricalCrossEntropy, Loss::kCategoricalCrossEntropy,
                            Loss::kBinaryCrossEntropy, Loss::kMeanSquaredError, Loss::kHuber}));
  v.Scalar({"huber_delta", "huber: errors beyond it count linearly"},
           Real(m.huber_delta, {.low = 0, .high = 1e6, .above = true}));
  v.Scalar({"init", "Initial weights; biases start at zero, recurrent weights orthogonal"},
           WordOf<Init>(m.init, {Init::kGlorotUniform, Init::kGlorotNormal, Init::kHeUniform,
                                 Init::kHeNormal}));
  v.Scalar(
      {"numerics", "fast: as this CPU can. portable: the same bits on every CPU, a little slower"},
      Word<Numerics>(m.numerics, {{Numerics::kFast, tensor::Name(Numerics::kFast)},
                                  {Numerics::kPortable, tensor::Name(Numerics::kPortable)}}));
}

}  // namespace covey::config
