#include "covey/setup/open_sets.h"

#include <utility>

namespace covey::setup {

OpenSets::Rows OpenSets::RowsOf(const config::DataSettings& settings) {
  return {settings.train, settings.hold_out, settings.validation_last, settings.validation_share,
          settings.partition.key_file};
}

Result<data::Dataset> OpenSets::Open(const data::Source& source, const std::string& cache) {
  for (const Opened& one : opened_) {
    if (one.source == source && one.cache == cache) return one.set;
  }
  Result<data::Dataset> set = data::Open(source, cache);
  if (set) opened_.push_back({source, cache, *set});
  return set;
}

data::Normalization OpenSets::Fit(const config::DataSettings& settings, const data::Dataset& set,
                                  std::span<const std::uint32_t> rows) {
  const Rows key = RowsOf(settings);
  for (const auto& [of, fit] : fits_) {
    if (of == key) return fit;
  }
  data::Normalization fit = data::Normalization::Of(data::Fit(set, rows, set.normalize()));
  return fits_.emplace_back(key, std::move(fit)).second;
}

data::Dataset OpenSets::Extract(const config::DataSettings& settings, const data::Dataset& set,
                                std::span<const std::uint32_t> rows) {
  const Rows key = RowsOf(settings);
  for (const auto& [of, extract] : extracts_) {
    if (of == key) return extract;
  }
  return extracts_.emplace_back(key, data::Extract(set, rows)).second;
}

}  // namespace covey::setup
