#include "data/csv_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace covey::data {
namespace {

constexpr std::size_t kCsvChunk = std::size_t{256} << 10;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view Trimmed(const char* begin, const char* end) {
  while (begin < end && IsBlank(*begin)) ++begin;
  while (begin < end && (IsBlank(end[-1]) || end[-1] == '\r')) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameWord(std::string_view cell, std::string_view word) {
  return cell.size() == word.size() && std::equal(cell.begin(), cell.end(), word.begin(),
                                                  [](char a, char b) { return Lower(a) == b; });
}

constexpr std::array<double, 16> kTens = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Numbers of up to 15 digits without an exponent: digits and power of ten are exact in double, so
// one division rounds right (Clinger 1990). Returns: false when the cell is something else.
bool ParsePlain(std::string_view cell, double& value) {
  const char* at = cell.data();
  const char* const end = at + cell.size();
  const bool negative = *at == '-';
  if (negative) ++at;
  std::uint64_t digits = 0;
  const char* const first = at;
  while (at < end && IsDigit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
  auto count = static_cast<std::size_t>(at - first);
  std::size_t behind = 0;
  if (at < end && *at == '.') {
    const char* const point = ++at;
    while (at < end && IsDigit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
    behind = static_cast<std::size_t>(at - point);
    count += behind;
  }
  if (at != end || count == 0 || count > 15) return false;
  const double whole = static_cast<double>(digits) / kTens[behind];
  value = negative ? -whole : whole;
  return true;
}

}  // namespace

bool IsMissing(std::string_view cell) {
  if (cell.empty()) return true;
  const char first = Lower(cell[0]);
  if (cell.size() > 4 || (first != '?' && first != 'n')) return false;
  for (const std::string_view word : {"?", "na", "n/a", "nan", "null", "none"}) {
    if (SameWord(cell, word)) return true;
  }
  return false;
}

bool ParseNumber(std::string_view cell, double& value) {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  if (cell.empty() || !(IsDigit(cell[0]) || cell[0] == '-' || cell[0] == '.')) return false;
  if (ParsePlain(cell, value)) return true;
  const std::from_chars_result got = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (got.ptr != cell.data() + cell.size()) return false;
  if (got.ec != std::errc::result_out_of_range) {
    return got.ec == std::errc() && std::isfinite(value);
  }
  value = std::strtod(std::string(cell).c_str(), nullptr);  // 1e-999 is 0
  return std::isfinite(value);
}

bool IsInfinite(std::string_view cell) {
  if (cell.starts_with('+') || cell.starts_with('-')) cell.remove_prefix(1);
  std::string word(cell.substr(0, 9));
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "inf" || word == "infinity") return true;
  if (cell.empty() || !(IsDigit(cell[0]) || cell[0] == '.')) return false;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc::result_out_of_range && end == cell.data() + cell.size() &&
         !ParseNumber(cell, value);
}

CsvReader::CsvReader(const ReadBytes& read, char separator, std::string where)
    : read_(read), separator_(separator), where_(std::move(where)) {}

std::string CsvReader::AtLine() const { return where_ + ':' + std::to_string(line_); }

tl::unexpected<Error> CsvReader::Refuse(const std::string& what, const std::string& hint) const {
  return Fail(ErrorCode::kData, where_ + ':' + std::to_string(next_line_), what, hint);
}

// Makes room behind what is left, and reads.
Status CsvReader::Fill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
  filled_ -= at_;
  base_ += at_;
  at_ = 0;
  if (buffer_.size() < filled_ + kCsvChunk) buffer_.resize(filled_ + kCsvChunk);
  char* const to = buffer_.data() + filled_;
  const Result<std::size_t> got =
      read_(MutableByteView(reinterpret_cast<std::byte*>(to), kCsvChunk));
  if (!got) return tl::unexpected<Error>(got.error());
  end_ = *got == 0;
  filled_ += *got;
  if (std::memchr(to, '\0', *got) != nullptr) {
    const bool utf16 = base_ == 0 && filled_ > 1 &&
                       (std::memcmp(buffer_.data(), "\xff\xfe", 2) == 0 ||
                        std::memcmp(buffer_.data(), "\xfe\xff", 2) == 0);
    return Refuse(utf16 ? "UTF-16 text" : "a NUL byte: this is no text",
                  "wanted a CSV file in UTF-8");
  }
  return {};
}

Status CsvReader::CheckStart() {
  started_ = true;
  while (filled_ < 3 && !end_) {
    if (Status filled = Fill(); !filled) return filled;
  }
  if (filled_ >= 3 && std::memcmp(buffer_.data(), "\xef\xbb\xbf", 3) == 0) at_ = 3;
  return {};
}

Result<const std::vector<std::string_view>*> CsvReader::Next() {
  if (!started_) {
    if (Status start = CheckStart(); !start) return tl::unexpected<Error>(start.error());
  }
  while (true) {
    if (at_ == filled_ && end_) return nullptr;
    line_ = next_line_;
    const Result<bool> whole = Split();
    if (!whole) return tl::unexpected<Error>(whole.error());
    if (*whole) {
      const bool blank = cells_.size() == 1 && cells_[0].empty();
      if (!blank) return &cells_;
      continue;
    }
    if (filled_ - at_ > kMaxCsvRecord) {
      return Refuse("a record of more than " + std::to_string(kMaxCsvRecord) + " bytes",
                    "is it a CSV file? A quote that never ends does this, too");
    }
    if (Status filled = Fill(); !filled) return tl::unexpected<Error>(filled.error());
  }
}

Result<bool> CsvReader::Split() {
  const char* const begin = buffer_.data() + at_;
  const char* const limit = buffer_.data() + filled_;
  const void* const found = std::memchr(begin, '\n', static_cast<std::size_t>(limit - begin));
  if (found == nullptr && !end_) return false;
  const char* const end = found == nullptr ? limit : static_cast<const char*>(found);
  const auto size = static_cast<std::size_t>(end - begin);
  if (size > kMaxCsvRecord) return Refuse("a record of more than 1 MiB", "is it a CSV file?");
  if (std::memchr(begin, '"', size) != nullptr) return SplitQuoted(at_);
  cells_.clear();
  const char* cell = begin;
  while (true) {
    const void* next = std::memchr(cell, separator_, static_cast<std::size_t>(end - cell));
    const char* const stop = next == nullptr ? end : static_cast<const char*>(next);
    cells_.push_back(Trimmed(cell, stop));
    if (next == nullptr) break;
    cell = stop + 1;
  }
  if (cells_.size() > kMaxCsvColumns) {
    return Refuse("more than " + std::to_string(kMaxCsvColumns) + " cells", "is it a CSV file?");
  }
  complete_ = found != nullptr;
  at_ += size + (complete_ ? 1 : 0);
  ++next_line_;
  return true;
}

// The slow way, character by character. Cells with quotes are copied without them: into a string
// that is as large as the record before the first view of it is taken.
Result<bool> CsvReader::SplitQuoted(std::size_t start) {
  cells_.clear();
  unquoted_.clear();
  unquoted_.reserve(std::min(filled_ - start, kMaxCsvRecord + 1));
  std::size_t at = start;
  std::uint64_t lines = 1;
  while (true) {
    while (at < filled_ && IsBlank(buffer_[at]) && buffer_[at] != separator_) ++at;
    if (at < filled_ && buffer_[at] == '"') {
      const std::size_t first = unquoted_.size();
      for (++at;; ++at) {
        if (at - start > kMaxCsvRecord) {
          return Refuse("a quoted cell that does not end within 1 MiB", "close the quote");
        }
        if (at == filled_) {
          if (!end_) return false;
          return Refuse("a quoted cell that does not end", "close the quote");
        }
        if (buffer_[at] == '\n') ++lines;
        if (buffer_[at] != '"') {
          unquoted_ += buffer_[at];
        } else if (at + 1 == filled_ && !end_) {
          return false;  // the next byte decides
        } else if (at + 1 < filled_ && buffer_[at + 1] == '"') {
          unquoted_ += buffer_[at++];
        } else {
          ++at;
          break;
        }
      }
      cells_.emplace_back(unquoted_.data() + first, unquoted_.size() - first);
      while (at < filled_ && (IsBlank(buffer_[at]) || buffer_[at] == '\r') &&
             buffer_[at] != separator_) {
        ++at;
      }
      if (at == filled_ && !end_) return false;
      if (at < filled_ && buffer_[at] != separator_ && buffer_[at] != '\n') {
        return Refuse("text behind a closing quote",
                      "put the whole cell in quotes, and write a "
                      "quote inside as two");
      }
    } else {
      const std::size_t first = at;
      while (at < filled_ && buffer_[at] != separator_ && buffer_[at] != '\n') ++at;
      if (at == filled_ && !end_) return false;
      cells_.push_back(Trimmed(buffer_.data() + first, buffer_.data() + at));
    }
    if (cells_.size() > kMaxCsvColumns) return Refuse("too many cells", "is it a CSV file?");
    if (at == filled_ || buffer_[at] == '\n') break;
    ++at;  // the separator
  }
  complete_ = at < filled_;
  at_ = at + (complete_ ? 1 : 0);
  next_line_ += lines;
  return true;
}

}  // namespace covey::data
