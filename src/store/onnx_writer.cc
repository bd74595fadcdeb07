// A model as an ONNX file.
#include <algorithm>
#include <utility>

#include "covey/base/check.h"
#include "covey/store/model.h"
#include "store/model_metadata.h"
#include "store/onnx_graph.h"
#include "store/onnx_layers.h"

namespace covey::store {
namespace {

constexpr std::int64_t kIrVersion = 7;
constexpr std::int64_t kOperatorSet = 13;
constexpr int kFloatType = 1;

void Declare(onnx::ValueInfo& value, const std::string& name,
             const std::vector<std::size_t>& shape) {
  value.set_name(name);
  onnx::TensorType& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(kFloatType);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const std::size_t extent : shape) {
    type.mutable_shape()->add_dim()->set_dim_value(static_cast<std::int64_t>(extent));
  }
}

// A number for each feature, in the order of the graph's input.
std::vector<float> InGraphOrder(const std::vector<float>& values,
                                const std::vector<std::size_t>& shape) {
  if (shape.size() != 3) return values;
  std::vector<float> turned;
  turned.reserve(values.size());
  for (std::size_t c = 0; c < shape[2]; ++c) {
    for (std::size_t place = 0; place < shape[0] * shape[1]; ++place) {
      turned.push_back(values[place * shape[2] + c]);
    }
  }
  return turned;
}

// The numbers of a normalisation in a shape that spreads over the graph's input.
std::string Spread(const std::vector<float>& values, const nn::ModelSpec& spec, OnnxGraph& graph) {
  const std::vector<std::size_t>& shape = spec.input;
  if (values.size() == 1) return graph.Constant({1}, values);
  const std::vector<std::size_t> outer = OuterShape(shape);
  OnnxDims dims{1};
  if (values.size() == nn::Features(spec)) {
    for (const std::size_t extent : outer) dims.push_back(static_cast<std::int64_t>(extent));
    return graph.Constant(dims, InGraphOrder(values, shape));
  }
  dims.resize(outer.size() + 1, 1);
  dims[outer.size() == 3 ? 1 : outer.size()] = static_cast<std::int64_t>(values.size());
  return graph.Constant(dims, values);
}

// (input - mean) * scale, as far as that changes anything.
std::string AppendNormalization(const Model& model, OnnxGraph& graph) {
  std::string value = "input";
  if (nn::Symbols(model.spec) > 0) return value;
  const auto all = [](const std::vector<float>& values, float same) {
    return std::all_of(values.begin(), values.end(), [same](float v) { return v == same; });
  };
  graph.Enter("input");
  if (!all(model.input.mean, 0)) {
    value = graph.Op("Sub", {value, Spread(model.input.mean, model.spec, graph)});
  }
  if (!all(model.input.scale, 1)) {
    value = graph.Op("Mul", {value, Spread(model.input.scale, model.spec, graph)});
  }
  return value;
}

void AppendOutputs(const Model& model, OnnxGraph& graph, onnx::Graph& to) {
  const std::vector<std::size_t> shape{nn::Outputs(model.spec)};
  if (!nn::IsClassification(model.spec)) {
    graph.NameLast("output");
    Declare(*to.add_output(), "output", shape);
    return;
  }
  graph.NameLast("logits");
  graph.Enter("output");
  if (model.spec.loss == nn::Loss::kBinaryCrossEntropy) {
    graph.Op("Sigmoid", {"logits"});
  } else {
    graph.Op("Softmax", {"logits"}, {{"axis", std::int64_t{1}}});
  }
  graph.NameLast("probabilities");
  Declare(*to.add_output(), "logits", shape);
  Declare(*to.add_output(), "probabilities", shape);
}

}  // namespace

Result<AlignedBuffer> EncodeModelOnnx(const Model& model) {
  COVEY_CHECK(model.x.size() == nn::LayoutOf(model.spec).size(), model.x.size());
  onnx::Model file;
  file.set_ir_version(kIrVersion);
  file.set_producer_name("covey");
  if (!model.facts.created_by.empty()) file.set_producer_version(model.facts.created_by);
  file.set_model_version(static_cast<std::int64_t>(model.facts.version));
  file.set_doc_string(nn::Summary(model.spec));
  onnx::OperatorSet& operators = *file.add_opset_import();
  operators.set_domain("");
  operators.set_version(kOperatorSet);
  for (const auto& [key, value] : MetadataOf(model)) {
    onnx::StringEntry& entry = *file.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  onnx::Graph& to = *file.mutable_graph();
  to.set_name("covey");
  Declare(*to.add_input(), "input", OuterShape(model.spec.input));
  OnnxGraph graph(to);
  OnnxLayers(model.spec, model.x.view(), graph).Append(AppendNormalization(model, graph));
  AppendOutputs(model, graph, to);
  const std::size_t size = file.ByteSizeLong();
  if (size > kMaxModelFile.value) {
    return Fail(ErrorCode::kCantCreate, "model",
                std::to_string(size) + " bytes as ONNX, whose files hold at most " +
                    std::to_string(kMaxModelFile.value),
                "safetensors has no such limit");
  }
  AlignedBuffer bytes(size);
  COVEY_CHECK(file.SerializeToArray(bytes.data(), static_cast<int>(size)));
  return bytes;
}

}  // namespace covey::store
