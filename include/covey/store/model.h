// A trained model as it leaves Covey and comes back: architecture, parameters, what its inputs and
// outputs mean, and how good it is.
//
// Both file formats hold the same: named tensors in the layout of PyTorch, and metadata
//   format             "covey.model/1"
//   covey.model        the architecture as JSON, with the words of configuration files
//   covey.fingerprint  64 hex digits: nn::FingerprintOf
//   covey.input        {"mean": [...], "scale": [...]}: data::Normalization; names of columns as
//                      "features", and "image_fit": "resize", where a model has them
//   covey.labels       ["cat", "dog", ...]
//   covey.facts        version, accuracy, ... as JSON
//
// Names and shapes of tensors, in the order of the layers (docs/models.md):
//   dense1.weight [units, inputs], dense1.bias    conv1.weight [filters, channels, height, width]
//   lstm1.weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 (rows i, f, g, o; bias_hh_l0 is zero)
//   norm1.weight, norm1.bias                      embedding1.weight [symbols, size]
// Images are [channels, height, width] outside of Covey and [height, width, channels] inside, so
// the columns of a dense layer that reads an image are in the outer order, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/data/normalization.h"
#include "covey/data/samples.h"
#include "covey/nn/model.h"
#include "covey/nn/predictor.h"
#include "covey/store/file_system.h"
#include "covey/store/safetensors.h"
#include "covey/tensor/flat_vector.h"

namespace covey::store {

// Where a model comes from and how good it is.
struct ModelFacts {
  std::uint64_t version = 0;       // counts what a node has published; 0: never published
  std::string fleet;               // empty: unknown
  std::string created_by;          // program and version
  std::uint64_t batches = 0;       // trained
  double epoch = 0;                // passes over the shard
  std::optional<double> accuracy;  // [0, 1], on the hold-out
  std::optional<double> loss;      // mean over the hold-out
  std::uint64_t held_out = 0;      // samples in it

  bool operator==(const ModelFacts&) const = default;
};

struct Model {
  nn::ModelSpec spec;
  tensor::FlatVector x;
  data::Normalization input;          // of 1, the last extent or Features(spec) numbers
  data::LabelNames labels;            // one a class; empty: classes are named by their numbers
  std::vector<std::string> features;  // names of the input's numbers, or none
  data::ImageFit image_fit = data::ImageFit::kRefuse;  // of images that it is asked about
  ModelFacts facts;
};

// Fills in what the samples that it was trained on tell: normalisation, names of classes and
// columns. fit: of images that it will be asked about. Requires: spec.
void DescribeInput(const data::Dataset& set, data::ImageFit fit, Model& model);

// What may be asked of it.
data::InputForm InputFormOf(const Model& model);

// Largest model file that is read: what fits into one protobuf message.
inline constexpr ByteCount kMaxModelFile{(std::uint64_t{1} << 31) - 1};

// Requires of all writers: a valid spec, x of its size, labels none or one an output, and what
// Model says of `input`.

AlignedBuffer EncodeModelSafetensors(const Model& model);

// ONNX, IR version 7, operator set 13. Input `input` [batch, ...] in raw numbers (images [batch,
// channels, height, width]), normalised inside the graph. Outputs: `logits` and `probabilities`, or
// `output` of a regression.
// Errors: kCantCreate when the model is larger than kMaxModelFile.
Result<AlignedBuffer> EncodeModelOnnx(const Model& model);

// Reads what Covey wrote in either format, told by its content.
// Errors: kData with file, what was got and wanted: damaged, not written by Covey (no
// covey.model), a fingerprint that does not fit the architecture, tensors missing, unknown or of
// another shape, a value that is not finite; kProtocol for a newer format.
Result<Model> DecodeModel(ByteView bytes, const std::string& where);

// Errors: the same, and kNoInput, kNoPermission, kIo.
Result<Model> ReadModel(const std::string& path);

// By the path's ending: .onnx or .safetensors. Written atomically, mode 0644.
// Errors: kUsage for another ending; as the encoders and WriteAtomically.
Status WriteModel(const std::string& path, const Model& model,
                  FileSystem& files = RealFileSystem());

// Reads parameters for `spec` from a file of either format, for a warm start. Safetensors that
// other programs wrote will do when names and shapes are those above.
// Errors: as ReadModel; kProtocol when the file says that it holds another model.
Result<tensor::FlatVector> ReadParameters(const std::string& path, const nn::ModelSpec& spec);

// Whether samples can be answered: for programs that take them from outside.
// Errors: kData: the numbers don't fill samples, one of them is not finite or is no symbol; names
// sample and element.
Status CheckSamples(const nn::Predictor& predictor, std::span<const float> raw);

// The architecture as JSON and back. Errors: kData: unknown or missing keys, wrong types, a model
// that nn::Validate refuses.
std::string SpecToJson(const nn::ModelSpec& spec);
Result<nn::ModelSpec> SpecFromJson(const std::string& text, const std::string& where);

}  // namespace covey::store
