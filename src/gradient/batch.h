// Rows and labels or targets of one mini-batch, gathered as pointers into the data set. Rows whose
// features are normalised each in its own way are copied, as the values that they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "covey/base/check.h"
#include "covey/data/dataset.h"
#include "covey/nn/network.h"

namespace covey::gradient {

// Holds the pointers; allocated once for the largest batch.
class BatchView {
 public:
  explicit BatchView(std::size_t batch)
      : rows_(tensor::PaddedBatch(batch)), labels_(batch), targets_(batch) {}

  // Returns: the batch, valid until the next call and as long as the data set is.
  // Requires: 0 < rows.size() <= batch; the data set fits the network.
  nn::Batch Gather(const nn::Network& network, const data::Dataset& dataset,
                   std::span<const std::uint32_t> rows) {
    const std::size_t count = rows.size();
    COVEY_CHECK(count > 0 && count <= labels_.size(), count, labels_.size());
    COVEY_CHECK(dataset.features() == network.features(), dataset.features(), network.features());
    const bool labels = dataset.has_labels();
    const bool alike = dataset.normalization().uniform();
    if (!alike) values_.resize(labels_.size() * dataset.features());
    if (labels) {
      COVEY_CHECK(dataset.classes() <= network.outputs(), dataset.classes(), network.outputs());
    } else {
      COVEY_CHECK(dataset.outputs() == network.outputs(), dataset.outputs(), network.outputs());
    }
    for (std::size_t b = 0; b < count; ++b) {
      COVEY_CHECK(rows[b] < dataset.size(), rows[b], dataset.size());
      rows_[b] = dataset.row(rows[b]);
      if (!alike) rows_[b] = Normalize(dataset, rows_[b], b);
      if (labels) {
        labels_[b] = dataset.label(rows[b]);
      } else {
        targets_[b] = dataset.target(rows[b]);
      }
    }
    const std::size_t padded = tensor::PaddedBatch(count);
    for (std::size_t b = count; b < padded; ++b) rows_[b] = rows_[0];
    return {.rows = {.rows = rows_.data(),
                     .element = alike ? dataset.element() : tensor::Element::kFloat32,
                     .scale = alike ? dataset.scale() : 1,
                     .offset = alike ? dataset.offset() : 0},
            .size = count,
            .labels = std::span<const std::uint32_t>(labels_).first(labels ? count : 0),
            .targets = labels ? nullptr : targets_.data()};
  }

 private:
  // Returns: where the values of sample b of the batch stand.
  const std::uint8_t* Normalize(const data::Dataset& dataset, const std::uint8_t* row,
                                std::size_t b) {
    const auto out = std::span<float>(values_).subspan(b * dataset.features(), dataset.features());
    dataset.normalization().Apply(row, dataset.element(), out);
    return reinterpret_cast<const std::uint8_t*>(out.data());
  }

  std::vector<const std::uint8_t*> rows_;
  std::vector<std::uint32_t> labels_;
  std::vector<const float*> targets_;
  std::vector<float> values_;  // [batch][features], where rows are copied
};

}  // namespace covey::gradient
