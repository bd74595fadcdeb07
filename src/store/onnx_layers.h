// The layers of a model as nodes of operator set 13.
//
// Values of three extents are images: [batch, channels, height, width] in the graph. All others
// have the extents that they have in Covey behind the batch.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "covey/nn/model.h"
#include "covey/tensor/flat_vector.h"
#include "store/onnx_graph.h"

namespace covey::store {

// [height, width, channels] -> [channels, height, width]; other shapes stay.
std::vector<std::size_t> OuterShape(const std::vector<std::size_t>& shape);

// Rows of an LSTM's gates, i f g o -> i o f g and back. Shapes: [4 units][columns].
enum class GateOrder : bool { kToOnnx, kFromOnnx };
std::vector<float> ReorderGates(const std::vector<float>& rows, std::size_t units, GateOrder order);

class OnnxLayers {
 public:
  // Requires: a valid spec; x of its size; all outlive the object.
  OnnxLayers(const nn::ModelSpec& spec, tensor::ConstVectorView x, OnnxGraph& graph);

  // Appends every layer; the activation that the loss does itself is left out.
  // Returns: the value that the last layer gives.
  std::string Append(std::string value);

 private:
  std::string operator()(const nn::Dense& dense);
  std::string operator()(const nn::Conv2d& conv);
  std::string operator()(const nn::Pool2d& pool);
  std::string operator()(const nn::GlobalAveragePool& pool);
  std::string operator()(const nn::Flatten& flatten);
  std::string operator()(const nn::Dropout& dropout);
  std::string operator()(const nn::Activate& activate);
  std::string operator()(const nn::OneHot& one_hot);
  std::string operator()(const nn::Embedding& table);
  std::string operator()(const nn::Lstm& lstm);
  std::string operator()(const nn::GroupNorm& norm);
  std::string operator()(const nn::LayerNorm& norm);

  std::string Activated(std::string value, nn::Activation activation);
  // (value - mean) / sqrt(variance + epsilon) over `axes`.
  std::string Standardised(const std::string& value, const OnnxDims& axes, float epsilon);
  std::string ScaledByChannel(const std::string& value);
  std::string Symbols();  // the value as whole numbers, channels last
  std::vector<float> Tensor(const std::string& what) const;  // a tensor of this layer
  std::string Parameter(const std::string& what);            // the same, as an initialiser
  bool DenseFollows() const;
  bool IsFolded(nn::Activation activation) const;

  const nn::LayerInfo& info() const { return infos_[at_]; }

  const nn::ModelSpec& spec_;
  tensor::ConstVectorView x_;
  OnnxGraph& graph_;
  std::vector<nn::LayerInfo> infos_;
  std::map<std::string, std::size_t> tensors_;  // place in PortableTensors by name
  std::size_t at_ = 0;                          // layer
  std::string value_;                           // what it reads
};

}  // namespace covey::store
