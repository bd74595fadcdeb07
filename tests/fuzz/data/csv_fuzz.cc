// The CSV reader: no input may crash it, and how the bytes come in pieces must not matter.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "covey/base/check.h"
#include "data/csv_reader.h"

namespace {

using Records = std::vector<std::vector<std::string>>;

// Reads records until the end or an error, which becomes the last one.
Records Read(covey::ByteView bytes, char separator, std::size_t piece) {
  const covey::data::ReadBytes read =
      [&bytes, piece](covey::MutableByteView buffer) -> covey::Result<std::size_t> {
    const std::size_t count = std::min({piece, buffer.size(), bytes.size()});
    std::memcpy(buffer.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    return count;
  };
  covey::data::CsvReader reader(read, separator, "fuzz");
  Records records;
  std::uint64_t line = 0;
  while (true) {
    const auto cells = reader.Next();
    if (!cells) {
      COVEY_CHECK(cells.error().code == covey::ErrorCode::kData && !cells.error().what.empty());
      records.push_back({"error"});
      return records;
    }
    if (*cells == nullptr) return records;
    COVEY_CHECK(!(*cells)->empty() && (*cells)->size() <= covey::data::kMaxCsvColumns);
    COVEY_CHECK(reader.line() > line);
    line = reader.line();
    records.emplace_back((*cells)->begin(), (*cells)->end());
    double value = 0;
    for (const std::string& cell : records.back()) {
      if (covey::data::ParseNumber(cell, value)) {
        COVEY_CHECK(value == value && !covey::data::IsMissing(cell));
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const char separator = data[0] % 3 == 0 ? ',' : data[0] % 3 == 1 ? ';' : '\t';
  const covey::ByteView bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  // A byte that makes it no text is refused when it is read, which may be before or after the
  // records around it are split off.
  if (std::find(bytes.begin(), bytes.end(), std::byte{0}) != bytes.end()) {
    Read(bytes, separator, size);
    return 0;
  }
  COVEY_CHECK(Read(bytes, separator, size) == Read(bytes, separator, 3));
  return 0;
}
