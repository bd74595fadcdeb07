// Builds an ONNX graph node by node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "covey/v1/onnx.pb.h"

namespace covey::store {

using OnnxDims = std::vector<std::int64_t>;

struct OnnxAttribute {
  using Value = std::variant<std::int64_t, float, std::string, OnnxDims, std::vector<float>,
                             std::vector<std::string>>;
  const char* name;
  Value value;
};

// A value is known by its name. Names are made from the current layer's and a number.
class OnnxGraph {
 public:
  explicit OnnxGraph(onnx::Graph& graph) : graph_(graph) {}

  // What follows belongs to this layer ("dense1").
  void Enter(std::string layer) { layer_ = std::move(layer); }

  // Appends a node with one output. Returns: the output.
  std::string Op(const char* op, const std::vector<std::string>& inputs,
                 const std::vector<OnnxAttribute>& attributes = {});
  // A node whose output number `output` alone is wanted.
  std::string OpAt(int output, const char* op, const std::vector<std::string>& inputs,
                   const std::vector<OnnxAttribute>& attributes);

  // Appends an initialiser. Requires: a name of its own; values of the product of dims.
  std::string Floats(const std::string& name, const OnnxDims& dims,
                     const std::vector<float>& values);
  // The same, named after the layer.
  std::string Constant(const OnnxDims& dims, const std::vector<float>& values);
  std::string Indices(const OnnxDims& values);  // one-dimensional int64

  // Gives the output of the last node another name.
  void NameLast(const std::string& name);

 private:
  std::string Fresh(const std::string& what);

  onnx::Graph& graph_;
  std::string layer_;
  std::size_t made_ = 0;
};

}  // namespace covey::store
