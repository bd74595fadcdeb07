#include "covey/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "covey/base/check.h"
#include "data/dataset_builder.h"
#include "data/open_csv.h"
#include "data/open_images.h"
#include "data/open_recordings.h"
#include "data/open_records.h"

namespace covey::data {

namespace {

float ScaleOf(const DatasetBuilder::Parts& parts) {
  if (parts.normalize == Normalize::kScale) return parts.scale;
  if (parts.normalize != Normalize::kUnit) return 1.0f;
  return parts.element == tensor::Element::kUint8   ? 1.0f / 255.0f
         : parts.element == tensor::Element::kInt16 ? 1.0f / 32768.0f
                                                    : 1.0f;
}

}  // namespace

Dataset DatasetBuilder::Build(Parts parts) {
  Dataset dataset;
  dataset.normalize_ = parts.normalize;
  dataset.normalization_ = Normalization::Uniform(ScaleOf(parts));
  dataset.keys_ = parts.keys;
  dataset.feature_names_ = std::move(parts.feature_names);
  dataset.label_names_ = std::move(parts.label_names);
  dataset.owner_ = std::move(parts.owner);
  dataset.size_ = parts.samples;
  dataset.element_ = parts.element;
  dataset.rows_ = parts.rows;
  dataset.labels_ = parts.labels;
  dataset.targets_ = parts.targets;
  dataset.outputs_ = parts.outputs;
  dataset.shape_ = std::move(parts.shape);
  dataset.features_ = 1;
  for (const std::size_t extent : dataset.shape_) dataset.features_ *= extent;
  dataset.row_bytes_ = dataset.features_ * tensor::BytesOf(dataset.element_);
  dataset.classes_ = parts.classes;
  return dataset;
}

Result<Dataset> Open(const Source& source, const std::string& cache_folder) {
  if (!source.folder.empty()) return OpenImages(source, cache_folder);
  if (!source.cifar.empty()) return OpenCifar(source, cache_folder);
  if (!source.text.empty()) return OpenText(source, cache_folder);
  if (!source.recordings.empty()) return OpenRecordings(source, cache_folder);
  return source.csv.empty() ? OpenIdx(source, cache_folder) : OpenCsv(source, cache_folder);
}

Dataset Dataset::FromMemory(Memory memory) {
  std::size_t row_bytes = tensor::BytesOf(memory.element);
  for (const std::size_t extent : memory.shape) row_bytes *= extent;
  const std::size_t samples =
      memory.outputs > 0 ? memory.targets.size() / memory.outputs : memory.labels.size();
  COVEY_CHECK(memory.rows.size() == samples * row_bytes, memory.rows.size(), samples, row_bytes);
  COVEY_CHECK(memory.targets.size() == samples * memory.outputs, memory.targets.size(), samples);
  COVEY_CHECK(memory.outputs == 0 || memory.labels.empty(), memory.labels.size());
  std::uint32_t most = 0;
  for (const std::uint8_t label : memory.labels) most = std::max<std::uint32_t>(most, label + 1u);
  if (memory.classes == 0) memory.classes = most;
  COVEY_CHECK(most <= memory.classes, most, memory.classes);

  const auto owner = std::make_shared<const Memory>(std::move(memory));
  DatasetBuilder::Parts parts;
  parts.owner = owner;
  parts.samples = samples;
  parts.element = owner->element;
  parts.rows = owner->rows.data();
  parts.labels = owner->labels;
  parts.classes = owner->classes;
  parts.targets = owner->outputs > 0 ? owner->targets.data() : nullptr;
  parts.outputs = owner->outputs;
  parts.shape = owner->shape;
  parts.normalize = owner->normalize;
  parts.scale = owner->scale;
  parts.label_names = owner->label_names;
  parts.feature_names = owner->feature_names;
  return DatasetBuilder::Build(std::move(parts));
}

Dataset Extract(const Dataset& set, std::span<const std::uint32_t> rows) {
  COVEY_CHECK(!rows.empty());
  const std::size_t bytes = set.features() * tensor::BytesOf(set.element());
  Dataset::Memory memory{.shape = set.shape(),
                         .rows = {},
                         .labels = {},
                         .classes = set.classes(),
                         .element = set.element(),
                         .outputs = set.outputs(),
                         .label_names = set.label_names()};
  for (const std::uint32_t row : rows) {
    memory.rows.insert(memory.rows.end(), set.row(row), set.row(row) + bytes);
    if (set.has_labels()) {
      memory.labels.push_back(static_cast<std::uint8_t>(set.label(row)));
    } else {
      memory.targets.insert(memory.targets.end(), set.target(row), set.target(row) + set.outputs());
    }
  }
  return Dataset::FromMemory(std::move(memory)).Normalized(set.normalize(), set.normalization());
}

Dataset Dataset::Normalized(Normalize normalize, Normalization normalization) const {
  COVEY_CHECK(features_ % normalization.mean.size() == 0, features_, normalization.mean.size());
  Dataset dataset = *this;
  dataset.normalize_ = normalize;
  dataset.normalization_ = std::move(normalization);
  return dataset;
}

Dataset Dataset::Named(LabelNames names) const {
  COVEY_CHECK(has_labels() && (names.empty() || names.size() >= classes_), names.size(), classes_);
  Dataset dataset = *this;
  if (!names.empty()) dataset.classes_ = static_cast<std::uint32_t>(names.size());
  dataset.label_names_ = std::move(names);
  return dataset;
}

namespace {

template <class T>
Status CheckElements(const Dataset& dataset, std::size_t symbols, const std::string& where) {
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const std::uint8_t* row = dataset.row(i);
    for (std::size_t f = 0; f < dataset.features(); ++f) {
      T element;
      std::memcpy(&element, row + f * sizeof(T), sizeof(T));
      const double value = static_cast<double>(element);
      if (value >= 0 && value < static_cast<double>(symbols) && value == std::floor(value))
        continue;
      std::string got = std::to_string(value);
      got.erase(got.find_last_not_of('0') + 1);
      if (got.ends_with('.')) got.pop_back();
      return Fail(ErrorCode::kData, where,
                  "element " + std::to_string(f) + " of sample " + std::to_string(i) + " is " +
                      got + ", wanted a symbol: a whole number from 0 to " +
                      std::to_string(symbols - 1),
                  "check `symbols` of the model's first layer");
    }
  }
  return {};
}

}  // namespace

Status CheckSymbols(const Dataset& dataset, std::size_t symbols, const std::string& where) {
  switch (dataset.element()) {
    case tensor::Element::kUint8:
      return CheckElements<std::uint8_t>(dataset, symbols, where);
    case tensor::Element::kInt16:
      return CheckElements<std::int16_t>(dataset, symbols, where);
    case tensor::Element::kFloat32:
      break;
  }
  return CheckElements<float>(dataset, symbols, where);
}

}  // namespace covey::data
