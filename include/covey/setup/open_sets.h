// Data sets that are open already, for hosts of many nodes: each is opened once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "covey/data/dataset.h"
#include "covey/data/partition.h"

namespace covey::setup {

// Cost: a look among the different sources, which are few, or one a node.
class OpenSets {
 public:
  // Errors: as data::Open.
  Result<data::Dataset> Open(const data::Source& source, const std::string& cache);
  // Fits the normalisation of `set`, the training file, on the rows that all nodes train on; or
  // finds it. The rows follow from the settings.
  data::Normalization Fit(const config::DataSettings& settings, const data::Dataset& set,
                          std::span<const std::uint32_t> rows);
  // The same for a copy of the rows that are held out.
  data::Dataset Extract(const config::DataSettings& settings, const data::Dataset& set,
                        std::span<const std::uint32_t> rows);

 private:
  // What rows of the training file are held out, for validation, and left depends on.
  struct Rows {
    data::Source train;
    data::HoldOut hold_out;
    std::uint64_t validation_last = 0;
    double validation_share = 0;
    std::string key_file;

    bool operator==(const Rows&) const = default;
  };
  struct Opened {
    data::Source source;
    std::string cache;
    data::Dataset set;
  };
  static Rows RowsOf(const config::DataSettings& settings);

  std::vector<Opened> opened_;
  std::vector<std::pair<Rows, data::Normalization>> fits_;
  std::vector<std::pair<Rows, data::Dataset>> extracts_;
};

}  // namespace covey::setup
