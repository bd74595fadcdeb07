// Records and cells of a CSV file, read in one pass with bounded memory.
//
// Grammar (RFC 4180, and what spreadsheets and loggers really write): records end with LF or CRLF,
// the last one may lack it; cells are separated by one character; a cell that starts with a quote
// ends at the next lone quote, two quotes inside are one, and it may hold separators and line ends.
// Blanks around a cell that is not quoted don't count. Blank lines are skipped. A UTF-8 byte order
// mark is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "data/gunzip.h"

namespace covey::data {

inline constexpr std::size_t kMaxCsvRecord = std::size_t{1} << 20;  // bytes
inline constexpr std::size_t kMaxCsvColumns = 16384;

class CsvReader {
 public:
  // Requires: read outlives the reader.
  CsvReader(const ReadBytes& read, char separator, std::string where);

  // Goes to the next record. Returns: its cells, valid until the next call; none at the end.
  // Errors: kData with the line: a record above kMaxCsvRecord, more than kMaxCsvColumns cells, a
  //   quote that does not end, a NUL byte or UTF-16; and what `read` returns.
  Result<const std::vector<std::string_view>*> Next();

  // Of the last record's first line, from 1.
  std::uint64_t line() const { return line_; }
  // Bytes of the file up to the end of the last record.
  std::uint64_t offset() const { return base_ + at_; }
  // Whether the last record ended with a line end, not with the file.
  bool complete() const { return complete_; }
  std::string AtLine() const;  // "path:17"

 private:
  Status Fill();
  Status CheckStart();
  // Returns: whether a whole record was split off at at_; false: more bytes are needed.
  Result<bool> Split();
  Result<bool> SplitQuoted(std::size_t start);
  tl::unexpected<Error> Refuse(const std::string& what, const std::string& hint) const;

  const ReadBytes& read_;
  const char separator_;
  const std::string where_;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
  std::size_t at_ = 0;
  std::uint64_t base_ = 0;  // offset in the file of the buffer's start
  bool end_ = false;        // of the file
  bool started_ = false;
  bool complete_ = false;
  std::uint64_t line_ = 0;
  std::uint64_t next_line_ = 1;
  std::vector<std::string_view> cells_;
  std::string unquoted_;  // cells that had quotes inside
};

// Whether a cell says that there is no value: empty, ?, NA, N/A, NaN, null, none (any case).
bool IsMissing(std::string_view cell);

// Reads a whole cell as a decimal number. Returns: false when it is none, or infinite.
bool ParseNumber(std::string_view cell, double& value);

// Whether a cell is a number, but an infinite one: inf, infinity (any case), 1e999.
bool IsInfinite(std::string_view cell);

}  // namespace covey::data
