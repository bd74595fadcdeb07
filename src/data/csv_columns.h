// What a CSV file's columns are used for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/csv.h"
#include "data/csv_reader.h"
#include "data/input_file.h"

namespace covey::data {

// A CSV file that is open, its form known.
struct CsvFile {
  InputFile file;
  char separator = ',';
  bool header = false;
  std::vector<std::string> names;
};

// The separator of a table that starts so. Errors: kConfig for a setting that is none.
Result<char> SeparatorOf(const CsvSettings& settings, std::string_view start);

// Sets header and names by the cells of the first line.
void NameColumns(const std::vector<std::string_view>& cells, CsvSettings::Header header,
                 CsvFile& csv);

Result<CsvFile> OpenCsvFile(const std::string& path, const CsvSettings& settings);

// Returns: the index of the column that is called so, or has this number from 1.
// Errors: kConfig with the names that there are. key: where the name was written.
Result<std::size_t> FindColumn(const CsvFile& csv, const std::string& name, const std::string& key);

// Which column is what. A setting of `categories` may list the names: "colour=red|green".
struct CsvRoles {
  enum class Use : std::uint8_t { kFeature, kLabel, kTarget, kKey, kNone };
  std::vector<Use> of;                          // by column
  std::vector<std::size_t> features;            // columns, in the order of the settings or the file
  std::vector<bool> category;                   // by column: names by decree
  std::vector<std::vector<std::string>> names;  // by column: which, where they were listed
  std::vector<std::size_t> targets;             // columns, in the order of the settings
  std::optional<std::size_t> label;
  std::optional<std::size_t> key;
};

// wants_label: otherwise targets; without targets in the settings, the label's column is the
// target. Requires: csv has columns.
Result<CsvRoles> RolesOf(const CsvFile& csv, const CsvSettings& settings, bool wants_label);

// Learns what the columns hold from the records that begin in the first `most` bytes.
// Errors: as DescribeCsv.
Result<CsvSummary> Survey(const std::string& path, const CsvFile& csv, const CsvRoles& roles,
                          std::uint64_t most);

// "path:17: 5 cells, wanted 4".
tl::unexpected<Error> RaggedRow(const CsvReader& reader, std::size_t got, std::size_t wanted);

// Sorts names: whole numbers by value, before all others by their characters.
void SortNames(std::vector<std::string>& names);

}  // namespace covey::data
