#include "store/onnx_reader.h"

#include <map>
#include <utility>

#include "covey/v1/onnx.pb.h"
#include "store/floats.h"
#include "store/model_metadata.h"
#include "store/onnx_layers.h"
#include "store/portable_tensors.h"

namespace covey::store {
namespace {

constexpr int kFloat32 = 1;

tl::unexpected<Error> BadOnnx(const std::string& where, std::string what) {
  return Fail(ErrorCode::kData, where, "not a usable ONNX file: " + std::move(what));
}

class Initialisers {
 public:
  static Result<Initialisers> Of(const onnx::Graph& graph, const std::string& where) {
    Initialisers all;
    for (const onnx::Tensor& tensor : graph.initializer()) {
      if (!all.by_name_.emplace(tensor.name(), &tensor).second) {
        return BadOnnx(where, "the initialiser '" + tensor.name() + "' appears twice");
      }
    }
    return all;
  }

  // Returns: `size` finite values.
  Result<std::vector<float>> Take(const std::string& name, std::size_t size,
                                  const std::string& where) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return BadOnnx(where, "lacks the initialiser '" + name + "'");
    const onnx::Tensor& tensor = *found->second;
    if (tensor.data_type() != kFloat32) return BadOnnx(where, "'" + name + "' is not float32");
    if (tensor.raw_data().size() != size * sizeof(float)) {
      return BadOnnx(where, "'" + name + "' has " + std::to_string(tensor.raw_data().size()) +
                                " bytes, wanted " + std::to_string(size * sizeof(float)));
    }
    std::vector<float> values(size);
    LoadFloats(reinterpret_cast<const std::byte*>(tensor.raw_data().data()), values);
    if (FirstNotFinite(values) < size) {
      return BadOnnx(where, "'" + name + "' has a value that is not finite");
    }
    return values;
  }

 private:
  std::map<std::string, const onnx::Tensor*> by_name_;
};

// Where a portable tensor lies in the graph: an LSTM's under other names.
struct Place {
  std::string name;
  std::size_t size = 0;   // of the whole initialiser
  std::size_t units = 0;  // of the LSTM whose gates are to be put in order; 0: of none
  std::size_t first = 0;  // element
};

Place PlaceOf(const PortableTensor& tensor) {
  const auto ends = [&](const std::string& end) { return tensor.name.ends_with(end); };
  const std::string layer = tensor.name.substr(0, tensor.name.find('.'));
  const std::size_t size = tensor.size();
  const std::size_t units = tensor.shape[0] / 4;
  if (ends(".weight_ih_l0")) return {layer + ".W", size, units, 0};
  if (ends(".weight_hh_l0")) return {layer + ".R", size, units, 0};
  if (ends(".bias_ih_l0")) return {layer + ".B", 2 * size, units, 0};
  if (ends(".bias_hh_l0")) return {layer + ".B", 2 * size, units, size};
  return {tensor.name, size, 0, 0};
}

}  // namespace

Result<Model> DecodeModelOnnx(ByteView bytes, const std::string& where) {
  onnx::Model file;
  if (bytes.size() > kMaxModelFile.value ||
      !file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !file.has_graph()) {
    return Fail(ErrorCode::kData, where, "is neither safetensors nor ONNX");
  }
  Metadata metadata;
  for (const onnx::StringEntry& entry : file.metadata_props()) {
    if (!metadata.emplace(entry.key(), entry.value()).second) {
      return BadOnnx(where, "the metadata '" + entry.key() + "' appear twice");
    }
  }
  auto model = FromMetadata(metadata, bytes.size(), where);
  if (!model) return model;
  const auto all = Initialisers::Of(file.graph(), where);
  if (!all) return tl::unexpected(all.error());
  model->x = tensor::FlatVector(nn::LayoutOf(model->spec).size());
  for (const PortableTensor& tensor : PortableTensors(model->spec)) {
    const Place place = PlaceOf(tensor);
    auto values = all->Take(place.name, place.size, where);
    if (!values) return tl::unexpected(std::move(values.error()));
    const auto begin = values->begin() + static_cast<std::ptrdiff_t>(place.first);
    std::vector<float> part(begin, begin + static_cast<std::ptrdiff_t>(tensor.size()));
    if (place.units > 0) part = ReorderGates(part, place.units, GateOrder::kFromOnnx);
    AddIn(tensor, part.data(), model->x.view());
  }
  return model;
}

}  // namespace covey::store
