// Tables of comma-separated values: what their columns are, and samples made of them.
//
// Rules, each of which the settings can overrule:
//   - The separator is the one of comma, semicolon and tab that the first line has most of.
//   - The first line is a header when none of its cells is a number. Without a header, columns are
//     called "1", "2", ...
//   - The answer is the column called label, class, target or y (any case), else the last one.
//   - A column of numbers is one feature. A column with any other text holds names: one feature for
//     each of them, in alphabetical order, 1 where the cell has that name and 0 elsewhere.
//   - A cell that is empty, ?, NA, N/A, NaN, null or none is missing. A row with a missing cell in
//   a
//     column that is used is refused, or left out (kDrop); nothing is ever filled in.
//   - Classes that are whole numbers from 0 to 255 are those numbers; other names are numbered in
//     alphabetical order, unless the configuration lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/normalization.h"

namespace covey::data {

// Columns are named as the header does, or by their number from 1.
struct CsvSettings {
  enum class Header : std::uint8_t { kAuto, kYes, kNo };
  enum class Missing : std::uint8_t { kRefuse, kDrop };
  std::string label = {};                    // class of a sample; empty: by the rule above
  std::vector<std::string> targets = {};     // numbers to be predicted instead of a class
  std::string key = {};                      // no feature: what a partition by key divides by
  std::vector<std::string> features = {};    // in their order; empty: all other columns
  std::vector<std::string> ignore = {};      // neither feature nor answer
  std::vector<std::string> categories = {};  // hold names, also where they look like numbers
  Header header = Header::kAuto;
  Missing missing = Missing::kRefuse;
  std::string separator = {};  // one character, or "tab"; empty: by the rule above

  bool operator==(const CsvSettings&) const = default;
};

inline constexpr std::size_t kMaxCategories = 256;  // different names in a column that is used

struct CsvColumn {
  enum class Type : std::uint8_t { kEmpty, kNumber, kCategory, kText };
  std::string name;
  Type type = Type::kEmpty;  // kText: more than kMaxCategories different names
  std::uint64_t missing = 0;
  // kNumber: of the values that are there.
  double least = 0;
  double most = 0;
  double mean = 0;
  double deviation = 0;
  bool whole = false;   // all of them whole numbers
  bool rising = false;  // each greater than the one before
  // Different texts and how often each occurs, in alphabetical order (whole numbers: by value);
  // of numbers only where there are at most kMaxCategories of them.
  std::vector<std::string> values;
  std::vector<std::uint64_t> counts;
};

// Returns: names of the features that the settings alone tell, "height", "colour=red"; none when
// they don't list the features.
std::vector<std::string> FeatureNamesOf(const CsvSettings& settings);

std::string_view Name(CsvColumn::Type type);  // "number", "category", "text", "empty"

struct CsvSummary {
  char separator = ',';
  bool header = false;
  std::uint64_t rows = 0;
  std::uint64_t rows_with_missing = 0;
  std::vector<CsvColumn> columns;
  std::size_t label = 0;  // index of the column that the rules or settings choose
};

// Reads the whole file once.
// Errors: kNoInput, kNoPermission, kIo; kData: no regular file, empty, no row, a row with another
//   number of cells (names its line), and what a CSV reader refuses; kConfig for a column that is
//   not there or a separator that is none.
// Cost: one pass at some hundred megabytes a second; memory for kMaxCategories texts a column.
Result<CsvSummary> DescribeCsv(const std::string& path, const CsvSettings& settings);

}  // namespace covey::data
