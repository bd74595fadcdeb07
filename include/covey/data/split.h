// A table cut into tables: what each node of an experiment gets as a file of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/csv.h"
#include "covey/data/partition.h"

namespace covey::data {

struct SplitSettings {
  // kind, parts, rate, alpha, seed; the index is not used. kKey: one part for each value of the
  // column csv.key, at most kMaxParts.
  PartitionSettings partition;
  CsvSettings csv;
  std::string folder;      // made when missing
  bool overwrite = false;  // files that are there
};

struct SplitPart {
  std::string path;
  std::uint64_t rows = 0;
};

inline constexpr std::size_t kMaxParts = 4096;

// Writes <folder>/1.csv, 2.csv, ... or, by key, <folder>/<value>.csv (part-N where the value is no
// plain name): every row in one of them, in the order of the file, each with the header.
// Cells keep their text; blanks around them and quotes that are not needed go.
//
// Errors: as DescribeCsv; kConfig for the partition; kData when a part would be empty, or there are
//   more than kMaxParts or 256 classes; kCantCreate when a file is there already; kIo. Files that
//   were begun are removed then.
// Cost: two passes; memory for some bytes a row and 64 KiB a part.
Result<std::vector<SplitPart>> SplitCsv(const std::string& path, const SplitSettings& settings);

}  // namespace covey::data
