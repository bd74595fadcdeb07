// Numbers and text as people read them. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace covey::harness {

// Returns: "0.8741" for 4 digits. Locale-independent.
std::string Fixed(double value, int digits);

// Returns: the shortest text without an exponent that reads back as the number, at most 12
// decimals; never "0.25000000000000000".
std::string Plain(double value);

// Returns: "87.41 %".
std::string Percent(double fraction, int digits = 2);

// Returns: "1,234,567".
std::string Grouped(std::uint64_t value);

// Returns: "512 B", "12.3 kB", "4.56 MB", "1.20 GB" (powers of 1000).
std::string Bytes(std::uint64_t bytes);

// Returns: "8.4 s", "2 min 05 s", "1 h 02 min".
std::string Span(double seconds);

// Escapes &, <, >, " and ' for HTML text and attributes; control characters other than newline and
// tab become "?".
std::string EscapeHtml(std::string_view text);

// Quotes a CSV field (RFC 4180) when it has to be.
std::string CsvField(std::string_view text);

// Quotes a word for a POSIX shell when it has to be.
std::string ShellWord(std::string_view word);

// Pads to `width` code points. Text that is longer stays as it is.
std::string PadLeft(std::string_view text, std::size_t width);
std::string PadRight(std::string_view text, std::size_t width);

}  // namespace covey::harness
