// What data files hold, for people and for programs.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/data/csv.h"

namespace covey {

struct DescribeOptions {
  std::string file;
  std::string labels;  // of an IDX file of samples
  std::string cache;   // folder for copies of IDX files
  bool json = false;
  data::CsvSettings csv;
};

// Looks at a CSV or IDX file (told by its content) and says what it holds, what looks wrong, and
// what to write into a node file.
// Returns: text, or one JSON object in one line, schema "covey.data/1".
// Errors: as data::DescribeCsv and data::OpenIdx.
Result<std::string> DescribeData(const DescribeOptions& options);

}  // namespace covey
