// Recordings cut into windows: whatever a table holds, windows have its columns and known classes.
// The first byte chooses the settings.
#include "fuzz/data/one_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const covey::fuzz::OneFile file("s1_walk.csv");
  if (size < 2) return 0;
  using covey::data::CsvSettings;
  const unsigned choice = data[0];
  covey::data::Source source;
  source.recordings = file.Write(covey::fuzz::BytesOf(data + 1, size - 1));
  source.normalize = covey::data::Normalize::kNone;
  source.shape = {1 + (choice & 3), 2};
  source.windows.step = choice >> 2 & 1;
  source.windows.agree = (choice >> 3 & 1) != 0 ? 1 : 0;
  if ((choice >> 4 & 1) != 0) source.windows.label = "s*_(*).csv";
  if ((choice >> 5 & 1) != 0) source.csv_settings.missing = CsvSettings::Missing::kDrop;
  if ((choice >> 6 & 1) != 0) source.csv_settings.features = {"a", "b"};
  if ((choice >> 7 & 1) != 0) source.csv_settings.key = "k";
  covey::fuzz::CheckOpened(covey::data::Open(source, file.cache()));
  return 0;
}
