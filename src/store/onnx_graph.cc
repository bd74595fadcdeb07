#include "store/onnx_graph.h"

#include <type_traits>

#include "covey/base/bytes.h"
#include "covey/base/check.h"
#include "store/floats.h"

namespace covey::store {
namespace {

constexpr int kOnnxFloat = 1;
constexpr int kOnnxInt64 = 7;

void Set(onnx::Attribute& to, const OnnxAttribute& from) {
  to.set_name(from.name);
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::int64_t>) {
          to.set_type(onnx::Attribute::INT);
          to.set_i(value);
        } else if constexpr (std::is_same_v<T, float>) {
          to.set_type(onnx::Attribute::FLOAT);
          to.set_f(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          to.set_type(onnx::Attribute::STRING);
          to.set_s(value);
        } else if constexpr (std::is_same_v<T, OnnxDims>) {
          to.set_type(onnx::Attribute::INTS);
          for (const std::int64_t one : value) to.add_ints(one);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          to.set_type(onnx::Attribute::FLOATS);
          for (const float one : value) to.add_floats(one);
        } else {
          to.set_type(onnx::Attribute::STRINGS);
          for (const std::string& one : value) to.add_strings(one);
        }
      },
      from.value);
}

}  // namespace

std::string OnnxGraph::Fresh(const std::string& what) {
  return layer_ + "." + what + "_" + std::to_string(++made_);
}

std::string OnnxGraph::Op(const char* op, const std::vector<std::string>& inputs,
                          const std::vector<OnnxAttribute>& attributes) {
  return OpAt(0, op, inputs, attributes);
}

std::string OnnxGraph::OpAt(int output, const char* op, const std::vector<std::string>& inputs,
                            const std::vector<OnnxAttribute>& attributes) {
  onnx::Node& node = *graph_.add_node();
  const std::string name = Fresh(op);
  node.set_name(name);
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  for (int i = 0; i < output; ++i) node.add_output("");
  node.add_output(name);
  for (const OnnxAttribute& attribute : attributes) Set(*node.add_attribute(), attribute);
  return name;
}

std::string OnnxGraph::Floats(const std::string& name, const OnnxDims& dims,
                              const std::vector<float>& values) {
  onnx::Tensor& tensor = *graph_.add_initializer();
  std::size_t size = 1;
  for (const std::int64_t extent : dims) {
    tensor.add_dims(extent);
    size *= static_cast<std::size_t>(extent);
  }
  COVEY_CHECK(size == values.size(), name, size, values.size());
  tensor.set_data_type(kOnnxFloat);
  tensor.set_name(name);
  std::string& raw = *tensor.mutable_raw_data();
  raw.resize(values.size() * sizeof(float));
  StoreFloats(values, reinterpret_cast<std::byte*>(raw.data()));
  return name;
}

std::string OnnxGraph::Constant(const OnnxDims& dims, const std::vector<float>& values) {
  return Floats(Fresh("constant"), dims, values);
}

std::string OnnxGraph::Indices(const OnnxDims& values) {
  onnx::Tensor& tensor = *graph_.add_initializer();
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  tensor.set_data_type(kOnnxInt64);
  tensor.set_name(Fresh("indices"));
  std::string& raw = *tensor.mutable_raw_data();
  raw.resize(values.size() * 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    StoreLittle(reinterpret_cast<std::byte*>(raw.data()) + 8 * i,
                static_cast<std::uint64_t>(values[i]));
  }
  return tensor.name();
}

void OnnxGraph::NameLast(const std::string& name) {
  COVEY_CHECK(graph_.node_size() > 0);
  onnx::Node& last = *graph_.mutable_node(graph_.node_size() - 1);
  last.set_output(last.output_size() - 1, name);
}

}  // namespace covey::store
