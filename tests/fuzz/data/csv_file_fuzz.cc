// A CSV file as a data set: what the columns are taken for, and whether all rows keep to it. The
// first byte chooses the settings.
#include <cmath>

#include "fuzz/data/one_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const covey::fuzz::OneFile file("log.csv");
  if (size < 2) return 0;
  using covey::data::CsvSettings;
  const unsigned choice = data[0];
  covey::data::Source source;
  source.csv = file.Write(covey::fuzz::BytesOf(data + 1, size - 1));
  source.normalize = covey::data::Normalize::kNone;
  CsvSettings& csv = source.csv_settings;
  csv.header = static_cast<CsvSettings::Header>((choice & 3) % 3);
  if ((choice >> 2 & 1) != 0) csv.missing = CsvSettings::Missing::kDrop;
  if ((choice >> 3 & 1) != 0) csv.label = "c";
  if ((choice >> 4 & 1) != 0) csv.key = "k";
  if ((choice >> 5 & 1) != 0) csv.categories = {"a"};
  if ((choice >> 6 & 1) != 0) csv.ignore = {"b"};
  if ((choice >> 7 & 1) != 0) {
    source.wants_labels = false;
    csv.label.clear();
    csv.targets = {"c"};
  }
  const auto described = covey::data::DescribeCsv(source.csv, csv);
  const auto set = covey::data::Open(source, file.cache());
  covey::fuzz::CheckOpened(set);
  if (!set) return 0;
  COVEY_CHECK(described.has_value());
  COVEY_CHECK(set->size() <= described->rows && set->has_labels() == source.wants_labels);
  for (std::size_t i = 0; !source.wants_labels && i < set->size(); ++i) {
    COVEY_CHECK(std::isfinite(*set->target(i)));
  }
  return 0;
}
