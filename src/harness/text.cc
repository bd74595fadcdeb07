#include "harness/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "covey/base/check.h"

namespace covey::harness {
namespace {

// The characters that a shell takes literally.
bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
}

std::size_t CodePoints(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++count;
  }
  return count;
}

}  // namespace

std::string Fixed(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 352> buffer;  // the largest double has 309 digits before the point
  COVEY_CHECK(digits >= 0 && digits <= 30, digits);
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::fixed, digits);
  COVEY_CHECK(error == std::errc());
  std::string text(buffer.data(), end);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string Plain(double value) {
  for (int digits = 0; digits < 12; ++digits) {
    std::string text = Fixed(value, digits);
    if (std::strtod(text.c_str(), nullptr) == value) return text;
  }
  return Fixed(value, 12);
}

std::string Percent(double fraction, int digits) { return Fixed(fraction * 100, digits) + " %"; }

std::string Grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

std::string Bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.95 would print as "1000.0": go on to the next unit before that.
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return Fixed(value, value < 10 ? 2 : 1) + " " + std::string(kUnits[unit]);
}

std::string Span(double seconds) {
  if (!(seconds >= 0)) return "?";
  if (seconds < 59.95) return Fixed(seconds, 1) + " s";
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  const auto two = [](std::uint64_t value) {
    return (value < 10 ? "0" : "") + std::to_string(value);
  };
  if (whole < 3600) return std::to_string(whole / 60) + " min " + two(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + two(whole % 3600 / 60) + " min";
}

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ? '?' : c;
    }
  }
  return escaped;
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string ShellWord(std::string_view word) {
  bool plain = !word.empty();
  for (const char c : word) plain = plain && IsPlain(c);
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string PadLeft(std::string_view text, std::size_t width) {
  const std::size_t length = CodePoints(text);
  return std::string(width > length ? width - length : 0, ' ') + std::string(text);
}

std::string PadRight(std::string_view text, std::size_t width) {
  const std::size_t length = CodePoints(text);
  return std::string(text) + std::string(width > length ? width - length : 0, ' ');
}

}  // namespace covey::harness
