#include "covey/nn/layers.h"

namespace covey::nn {

std::string_view Name(Activation activation) {
  switch (activation) {
    case Activation::kLinear:
      return "linear";
    case Activation::kRelu:
      return "relu";
    case Activation::kLeakyRelu:
      return "leaky_relu";
    case Activation::kTanh:
      return "tanh";
    case Activation::kSigmoid:
      return "sigmoid";
    case Activation::kHardSigmoid:
      return "hard_sigmoid";
    case Activation::kSoftmax:
      return "softmax";
  }
  return "unknown";
}

std::string_view Name(Padding padding) { return padding == Padding::kSame ? "same" : "valid"; }

namespace {

struct Kind {
  std::string_view operator()(const Dense&) const { return "dense"; }
  std::string_view operator()(const Conv2d&) const { return "conv2d"; }
  std::string_view operator()(const Pool2d& pool) const {
    return pool.kind == Pool2d::Kind::kMax ? "max_pool2d" : "average_pool2d";
  }
  std::string_view operator()(const GlobalAveragePool&) const { return "global_average_pool"; }
  std::string_view operator()(const Flatten&) const { return "flatten"; }
  std::string_view operator()(const Dropout&) const { return "dropout"; }
  std::string_view operator()(const Activate&) const { return "activation"; }
  std::string_view operator()(const OneHot&) const { return "one_hot"; }
  std::string_view operator()(const Embedding&) const { return "embedding"; }
  std::string_view operator()(const Lstm&) const { return "lstm"; }
  std::string_view operator()(const GroupNorm&) const { return "group_norm"; }
  std::string_view operator()(const LayerNorm&) const { return "layer_norm"; }
};

}  // namespace

std::string_view KindOf(const LayerSpec& layer) { return std::visit(Kind(), layer); }

}  // namespace covey::nn
