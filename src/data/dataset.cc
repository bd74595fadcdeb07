#include "covey/data/dataset.h"

#include <algorithm>
#include <utility>

#include "covey/base/check.h"
#include "data/dataset_builder.h"

namespace covey::data {

std::string_view Name(Normalize normalize) {
  return normalize == Normalize::kNone ? "none" : "unit";
}

Result<Normalize> ParseNormalize(std::string_view word) {
  if (word == "none") return Normalize::kNone;
  if (word == "unit") return Normalize::kUnit;
  return Fail(ErrorCode::kConfig, "normalize", "got '" + std::string(word) + "'",
              "wanted unit (0 to 1) or none (0 to 255)");
}

Dataset DatasetBuilder::Build(Parts parts) {
  Dataset dataset;
  dataset.owner_ = std::move(parts.owner);
  dataset.rows_ = parts.rows;
  dataset.labels_ = parts.labels;
  dataset.shape_ = std::move(parts.shape);
  dataset.features_ = 1;
  for (const std::size_t extent : dataset.shape_) dataset.features_ *= extent;
  dataset.classes_ = parts.classes;
  dataset.scale_ = parts.normalize == Normalize::kUnit ? 1.0f / 255.0f : 1.0f;
  return dataset;
}

Dataset Dataset::FromMemory(Memory memory) {
  std::size_t features = 1;
  for (const std::size_t extent : memory.shape) features *= extent;
  COVEY_CHECK(memory.rows.size() == memory.labels.size() * features, memory.rows.size(),
              memory.labels.size(), features);
  std::uint32_t most = 0;
  for (const std::uint8_t label : memory.labels) most = std::max<std::uint32_t>(most, label + 1u);
  if (memory.classes == 0) memory.classes = most;
  COVEY_CHECK(most <= memory.classes, most, memory.classes);

  const auto owner = std::make_shared<const Memory>(std::move(memory));
  DatasetBuilder::Parts parts;
  parts.owner = owner;
  parts.rows = owner->rows.data();
  parts.labels = owner->labels;
  parts.shape = owner->shape;
  parts.classes = owner->classes;
  parts.normalize = owner->normalize;
  return DatasetBuilder::Build(std::move(parts));
}

}  // namespace covey::data
