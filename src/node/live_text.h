// Lines and marks of files that samples come from.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace covey::node {

// The line at `at`, without its end. Returns: where the next one begins.
inline std::size_t LineAt(std::string_view text, std::size_t at, std::string_view& line) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  line = text.substr(at, end - at);
  return std::min(end + 1, text.size());
}

// The numbers of "12:34:56".
inline std::vector<std::uint64_t> NumbersOf(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    at = next < end ? next + 1 : next;
  }
  return numbers;
}

}  // namespace covey::node
