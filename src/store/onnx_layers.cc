#include "store/onnx_layers.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "covey/base/check.h"
#include "store/portable_tensors.h"

namespace covey::store {
namespace {

constexpr std::int64_t kInt64Type = 7;

OnnxDims DimsOf(const std::vector<std::size_t>& shape) {
  OnnxDims dims;
  for (const std::size_t extent : shape) dims.push_back(static_cast<std::int64_t>(extent));
  return dims;
}

std::int64_t Int(std::size_t value) { return static_cast<std::int64_t>(value); }

OnnxDims Pair(const nn::Extent& extent) { return {Int(extent.height), Int(extent.width)}; }

// Zeros before and behind an extent of n.
struct Pads {
  std::size_t before = 0;
  std::size_t behind = 0;
};
Pads SamePads(std::size_t n, std::size_t size, std::size_t stride) {
  const std::size_t covered = (n - 1) / stride * stride + size;
  const std::size_t zeros = covered > n ? covered - n : 0;
  return {zeros / 2, zeros - zeros / 2};
}

}  // namespace

std::vector<std::size_t> OuterShape(const std::vector<std::size_t>& shape) {
  if (shape.size() != 3) return shape;
  return {shape[2], shape[0], shape[1]};
}

std::vector<float> ReorderGates(const std::vector<float>& rows, std::size_t units,
                                GateOrder order) {
  // Block b of ONNX is block kOurs[b] of Covey.
  constexpr std::size_t kOurs[] = {0, 3, 1, 2};
  COVEY_CHECK(rows.size() % (4 * units) == 0, rows.size(), units);
  const std::size_t block = rows.size() / 4;
  std::vector<float> out(rows.size());
  for (std::size_t b = 0; b < 4; ++b) {
    const std::size_t from = order == GateOrder::kToOnnx ? kOurs[b] : b;
    const std::size_t to = order == GateOrder::kToOnnx ? b : kOurs[b];
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(from * block), block,
                out.begin() + static_cast<std::ptrdiff_t>(to * block));
  }
  return out;
}

OnnxLayers::OnnxLayers(const nn::ModelSpec& spec, tensor::ConstVectorView x, OnnxGraph& graph)
    : spec_(spec), x_(x), graph_(graph), infos_(*nn::Infer(spec)) {
  const std::vector<PortableTensor> tensors = PortableTensors(spec);
  for (std::size_t t = 0; t < tensors.size(); ++t) tensors_[tensors[t].name] = t;
}

std::string OnnxLayers::Append(std::string value) {
  value_ = std::move(value);
  for (at_ = 0; at_ < spec_.layers.size(); ++at_) {
    graph_.Enter(info().name);
    value_ = std::visit([this](const auto& layer) { return (*this)(layer); }, spec_.layers[at_]);
  }
  return value_;
}

std::vector<float> OnnxLayers::Tensor(const std::string& what) const {
  const auto tensors = PortableTensors(spec_);
  const PortableTensor& tensor = tensors[tensors_.at(info().name + "." + what)];
  std::vector<float> values(tensor.size());
  CopyOut(tensor, x_, values.data());
  return values;
}

std::string OnnxLayers::Parameter(const std::string& what) {
  const std::string name = info().name + "." + what;
  const auto shape = PortableTensors(spec_)[tensors_.at(name)].shape;
  return graph_.Floats(name, DimsOf(shape), Tensor(what));
}

bool OnnxLayers::DenseFollows() const {
  std::size_t l = at_ + 1;
  while (l < spec_.layers.size() && KeepsOrder(spec_.layers[l])) ++l;
  return l < spec_.layers.size() && std::holds_alternative<nn::Dense>(spec_.layers[l]);
}

bool OnnxLayers::IsFolded(nn::Activation activation) const {
  if (at_ + 1 < spec_.layers.size()) return false;
  switch (spec_.loss) {
    case nn::Loss::kSparseCategoricalCrossEntropy:
    case nn::Loss::kCategoricalCrossEntropy:
      return activation == nn::Activation::kSoftmax;
    case nn::Loss::kBinaryCrossEntropy:
      return activation == nn::Activation::kSigmoid;
    case nn::Loss::kMeanSquaredError:
    case nn::Loss::kHuber:
      break;
  }
  return false;
}

std::string OnnxLayers::Activated(std::string value, nn::Activation activation) {
  using nn::Activation;
  if (IsFolded(activation)) return value;
  switch (activation) {
    case Activation::kLinear:
      return value;
    case Activation::kRelu:
      return graph_.Op("Relu", {value});
    case Activation::kLeakyRelu:
      return graph_.Op("LeakyRelu", {value}, {{"alpha", 0.01f}});
    case Activation::kTanh:
      return graph_.Op("Tanh", {value});
    case Activation::kSigmoid:
      return graph_.Op("Sigmoid", {value});
    case Activation::kHardSigmoid:
      return graph_.Op("HardSigmoid", {value}, {{"alpha", 0.2f}, {"beta", 0.5f}});
    case Activation::kSoftmax:
      return graph_.Op("Softmax", {value}, {{"axis", std::int64_t{1}}});
  }
  return value;
}

std::string OnnxLayers::operator()(const nn::Dense& dense) {
  if (info().input.size() != 1) {
    value_ = graph_.Op("Flatten", {value_}, {{"axis", std::int64_t{1}}});
  }
  const std::string weight = Parameter("weight"), bias = Parameter("bias");
  const std::string sums = graph_.Op("Gemm", {value_, weight, bias}, {{"transB", std::int64_t{1}}});
  return Activated(sums, dense.activation);
}

std::string OnnxLayers::operator()(const nn::Conv2d& conv) {
  Pads rows, columns;
  if (conv.padding == nn::Padding::kSame) {
    rows = SamePads(info().input[0], conv.kernel.height, conv.stride.height);
    columns = SamePads(info().input[1], conv.kernel.width, conv.stride.width);
  }
  const std::string weight = Parameter("weight"), bias = Parameter("bias");
  const OnnxDims pads{Int(rows.before), Int(columns.before), Int(rows.behind), Int(columns.behind)};
  const std::string sums = graph_.Op(
      "Conv", {value_, weight, bias},
      {{"kernel_shape", Pair(conv.kernel)}, {"strides", Pair(conv.stride)}, {"pads", pads}});
  return Activated(sums, conv.activation);
}

std::string OnnxLayers::operator()(const nn::Pool2d& pool) {
  const nn::Extent stride{pool.stride.height != 0 ? pool.stride.height : pool.size.height,
                          pool.stride.width != 0 ? pool.stride.width : pool.size.width};
  return graph_.Op(pool.kind == nn::Pool2d::Kind::kMax ? "MaxPool" : "AveragePool", {value_},
                   {{"kernel_shape", Pair(pool.size)}, {"strides", Pair(stride)}});
}

std::string OnnxLayers::operator()(const nn::GlobalAveragePool&) {
  return graph_.Op("Flatten", {graph_.Op("GlobalAveragePool", {value_})},
                   {{"axis", std::int64_t{1}}});
}

std::string OnnxLayers::operator()(const nn::Flatten&) {
  if (info().input.size() == 1) return value_;
  if (IsReordered(info().input) && !DenseFollows()) {
    value_ = graph_.Op("Transpose", {value_}, {{"perm", OnnxDims{0, 2, 3, 1}}});
  }
  return graph_.Op("Flatten", {value_}, {{"axis", std::int64_t{1}}});
}

std::string OnnxLayers::operator()(const nn::Dropout&) { return value_; }

std::string OnnxLayers::operator()(const nn::Activate& activate) {
  return Activated(value_, activate.activation);
}

std::string OnnxLayers::Symbols() {
  if (info().input.size() == 3) {
    value_ = graph_.Op("Transpose", {value_}, {{"perm", OnnxDims{0, 2, 3, 1}}});
  }
  return graph_.Op("Cast", {value_}, {{"to", kInt64Type}});
}

std::string OnnxLayers::operator()(const nn::OneHot& one_hot) {
  const std::string symbols = Symbols();
  const std::string depth = graph_.Indices({Int(one_hot.symbols)});
  const std::string off_on = graph_.Constant({2}, {0.0f, 1.0f});
  const std::int64_t axis = info().output.size() == 3 ? 1 : -1;
  return graph_.Op("OneHot", {symbols, depth, off_on}, {{"axis", axis}});
}

std::string OnnxLayers::operator()(const nn::Embedding&) {
  const std::string table = Parameter("weight");
  const std::string rows = graph_.Op("Gather", {table, Symbols()}, {{"axis", std::int64_t{0}}});
  if (info().output.size() != 3) return rows;
  return graph_.Op("Transpose", {rows}, {{"perm", OnnxDims{0, 3, 1, 2}}});
}

std::string OnnxLayers::operator()(const nn::Lstm& lstm) {
  const std::size_t units = lstm.units;
  const auto gates = [&](const char* what) {
    return ReorderGates(Tensor(what), units, GateOrder::kToOnnx);
  };
  std::vector<float> biases = gates("bias_ih_l0");
  biases.resize(8 * units);
  const std::string& name = info().name;
  const std::string w =
      graph_.Floats(name + ".W", {1, Int(4 * units), Int(info().input[1])}, gates("weight_ih_l0"));
  const std::string r =
      graph_.Floats(name + ".R", {1, Int(4 * units), Int(units)}, gates("weight_hh_l0"));
  const std::string b = graph_.Floats(name + ".B", {1, Int(8 * units)}, biases);
  std::vector<OnnxAttribute> attributes = {{"hidden_size", Int(units)}};
  if (lstm.gates == nn::Activation::kHardSigmoid) {
    attributes.push_back({"activations", std::vector<std::string>{"HardSigmoid", "Tanh", "Tanh"}});
    attributes.push_back({"activation_alpha", std::vector<float>{0.2f}});
    attributes.push_back({"activation_beta", std::vector<float>{0.5f}});
  }
  const OnnxDims swap{1, 0, 2};  // batch and time
  const std::string by_time = graph_.Op("Transpose", {value_}, {{"perm", swap}});
  const bool sequence = lstm.output == nn::Lstm::Output::kSequence;
  const std::string state = graph_.OpAt(sequence ? 0 : 1, "LSTM", {by_time, w, r, b}, attributes);
  const std::string direction = graph_.Indices({sequence ? 1 : 0});
  const std::string one_way = graph_.Op("Squeeze", {state, direction});
  return sequence ? graph_.Op("Transpose", {one_way}, {{"perm", swap}}) : one_way;
}

std::string OnnxLayers::Standardised(const std::string& value, const OnnxDims& axes,
                                     float epsilon) {
  const std::string mean = graph_.Op("ReduceMean", {value}, {{"axes", axes}});
  const std::string centred = graph_.Op("Sub", {value, mean});
  const std::string squares = graph_.Op("Mul", {centred, centred});
  const std::string variance = graph_.Op("ReduceMean", {squares}, {{"axes", axes}});
  const std::string raised = graph_.Op("Add", {variance, graph_.Constant({1}, {epsilon})});
  return graph_.Op("Div", {centred, graph_.Op("Sqrt", {raised})});
}

std::string OnnxLayers::ScaledByChannel(const std::string& value) {
  OnnxDims dims{Int(info().input.back())};
  if (info().input.size() == 3) dims = {dims[0], 1, 1};
  const std::string weight = graph_.Floats(info().name + ".weight", dims, Tensor("weight"));
  const std::string bias = graph_.Floats(info().name + ".bias", dims, Tensor("bias"));
  return graph_.Op("Add", {graph_.Op("Mul", {value, weight}), bias});
}

std::string OnnxLayers::operator()(const nn::GroupNorm& norm) {
  // 0: the extent that is there, which is the batch.
  const OnnxDims shape = DimsOf(OuterShape(info().input));
  OnnxDims whole{0};
  whole.insert(whole.end(), shape.begin(), shape.end());
  OnnxDims parts{0};
  OnnxDims axes;
  if (shape.size() == 3) {
    parts = {0, Int(norm.groups), -1};
    axes = {2};
  } else {
    parts.insert(parts.end(), shape.begin(), shape.end() - 1);
    for (std::size_t k = 1; k < parts.size(); ++k) axes.push_back(Int(k));
    axes.push_back(Int(parts.size() + 1));
    parts.push_back(Int(norm.groups));
    parts.push_back(shape.back() / Int(norm.groups));
  }
  const std::string grouped = graph_.Op("Reshape", {value_, graph_.Indices(parts)});
  const std::string standard = Standardised(grouped, axes, norm.epsilon);
  return ScaledByChannel(graph_.Op("Reshape", {standard, graph_.Indices(whole)}));
}

std::string OnnxLayers::operator()(const nn::LayerNorm& norm) {
  const std::size_t rank = info().input.size();
  return ScaledByChannel(
      Standardised(value_, {rank == 3 ? std::int64_t{1} : Int(rank)}, norm.epsilon));
}

}  // namespace covey::store
