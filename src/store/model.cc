#include "covey/store/model.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "covey/base/check.h"
#include "store/floats.h"
#include "store/model_metadata.h"
#include "store/onnx_reader.h"
#include "store/portable_tensors.h"

namespace covey::store {
namespace {

tl::unexpected<Error> BadModel(const std::string& where, std::string what) {
  return Fail(ErrorCode::kData, where, std::move(what));
}

std::string ShapeText(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (const std::size_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "]";
}

// Safetensors begin with a length and an opening brace.
bool LooksLikeSafetensors(ByteView bytes) { return bytes.size() > 8 && bytes[8] == std::byte{'{'}; }

Result<tensor::FlatVector> FromTensors(const Tensors& tensors, const nn::ModelSpec& spec,
                                       const std::string& where) {
  tensor::FlatVector x(nn::LayoutOf(spec).size());
  const std::vector<PortableTensor> wanted = PortableTensors(spec);
  for (const PortableTensor& tensor : wanted) {
    const tensor::Slice* found = tensors.layout.Find(tensor.name);
    if (found == nullptr) {
      return BadModel(where, "lacks the tensor '" + tensor.name + "' " + ShapeText(tensor.shape));
    }
    if (found->shape != tensor.shape) {
      return BadModel(where, "tensor '" + tensor.name + "' is " + ShapeText(found->shape) +
                                 ", wanted " + ShapeText(tensor.shape));
    }
    AddIn(tensor, tensors.values.data() + found->offset, x.view());
  }
  if (tensors.layout.slices().size() != wanted.size()) {
    for (const tensor::Slice& slice : tensors.layout.slices()) {
      const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const PortableTensor& one) {
        return one.name == slice.name;
      });
      if (!known) return BadModel(where, "tensor '" + slice.name + "' is not of this model");
    }
  }
  return x;
}

bool EndsWith(const std::string& path, std::string_view ending) {
  return path.size() >= ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

AlignedBuffer EncodeModelSafetensors(const Model& model) {
  COVEY_CHECK(model.x.size() == nn::LayoutOf(model.spec).size(), model.x.size());
  const std::vector<PortableTensor> tensors = PortableTensors(model.spec);
  tensor::Layout layout;
  for (const PortableTensor& tensor : tensors) layout.Append(tensor.name, tensor.shape);
  tensor::FlatVector values(layout.size());
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    CopyOut(tensors[t], model.x.view(), values.data() + layout.slices()[t].offset);
  }
  return EncodeSafetensors(layout, values.view(), MetadataOf(model));
}

Result<Model> DecodeModel(ByteView bytes, const std::string& where) {
  if (!LooksLikeSafetensors(bytes)) return DecodeModelOnnx(bytes, where);
  const auto tensors = DecodeSafetensors(bytes, where);
  if (!tensors) return tl::unexpected(tensors.error());
  auto model = FromMetadata(tensors->metadata, bytes.size(), where);
  if (!model) return model;
  auto x = FromTensors(*tensors, model->spec, where);
  if (!x) return tl::unexpected(std::move(x.error()));
  model->x = std::move(*x);
  return model;
}

Result<Model> ReadModel(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxModelFile);
  if (!bytes) return tl::unexpected(bytes.error());
  return DecodeModel(bytes->view(), path);
}

Status WriteModel(const std::string& path, const Model& model, FileSystem& files) {
  WriteOptions options;
  options.mode = 0644;
  if (EndsWith(path, ".safetensors")) {
    return WriteAtomically(path, EncodeModelSafetensors(model).view(), options, files);
  }
  if (!EndsWith(path, ".onnx")) {
    return Fail(ErrorCode::kUsage, path, "ends in neither .onnx nor .safetensors",
                "the ending says in which format a model is written");
  }
  const auto bytes = EncodeModelOnnx(model);
  if (!bytes) return tl::unexpected(bytes.error());
  return WriteAtomically(path, bytes->view(), options, files);
}

Result<tensor::FlatVector> ReadParameters(const std::string& path, const nn::ModelSpec& spec) {
  const auto bytes = ReadFile(path, kMaxModelFile);
  if (!bytes) return tl::unexpected(bytes.error());
  if (LooksLikeSafetensors(bytes->view())) {
    const auto tensors = DecodeSafetensors(bytes->view(), path);
    if (!tensors) return tl::unexpected(tensors.error());
    if (tensors->metadata.count(kModelKey) == 0) return FromTensors(*tensors, spec, path);
  }
  auto model = DecodeModel(bytes->view(), path);
  if (!model) return tl::unexpected(std::move(model.error()));
  if (nn::FingerprintOf(model->spec) != nn::FingerprintOf(spec)) {
    return Fail(ErrorCode::kProtocol, path,
                "holds the model " + nn::Summary(model->spec) + ", wanted " + nn::Summary(spec),
                "covey model info shows it in full");
  }
  return std::move(model->x);
}

void DescribeInput(const data::Dataset& set, data::ImageFit fit, Model& model) {
  if (nn::Symbols(model.spec) == 0) model.input = set.normalization();
  if (set.label_names().size() == nn::Outputs(model.spec)) model.labels = set.label_names();
  model.features = set.feature_names();
  model.image_fit = fit;
}

data::InputForm InputFormOf(const Model& model) {
  return {model.spec.input, model.features, model.image_fit};
}

Status CheckSamples(const nn::Predictor& predictor, std::span<const float> raw) {
  const std::size_t features = predictor.features();
  if (raw.empty() || raw.size() % features != 0) {
    return Fail(
        ErrorCode::kData, "sample",
        std::to_string(raw.size()) + " numbers, wanted " + std::to_string(features) + " a sample");
  }
  const nn::Predictor::Checked checked = predictor.Check(raw);
  if (checked.flaw == nn::Predictor::Flaw::kNone) return {};
  const std::string where = "sample " + std::to_string(checked.at / features) + ", element " +
                            std::to_string(checked.at % features);
  if (checked.flaw == nn::Predictor::Flaw::kNotFinite) {
    return Fail(ErrorCode::kData, where, "is not a finite number");
  }
  return Fail(ErrorCode::kData, where,
              "is no symbol of the model: a whole number below its symbols");
}

}  // namespace covey::store
