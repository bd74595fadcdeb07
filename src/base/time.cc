#include "covey/base/time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace covey {
namespace {

struct TimeUnit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::array<TimeUnit, 6> kTimeUnits = {{{"h", 3600'000'000'000},
                                                 {"min", 60'000'000'000},
                                                 {"s", 1'000'000'000},
                                                 {"ms", 1'000'000},
                                                 {"us", 1'000},
                                                 {"ns", 1}}};

struct Decimal {
  double value = 0;
  std::size_t length = 0;  // characters; 0: there is no number
};

// Reads digits with at most one point among them from the front of `text`. Correctly rounded up to
// 15 digits. (The WebAssembly build's library has no std::from_chars for double.)
Decimal ReadDecimal(std::string_view text) {
  double digits = 0;
  double scale = 1;
  bool any = false;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (point && digits > 1e15) continue;  // beyond what a double holds
      digits = digits * 10 + (c - '0');
      if (point) scale *= 10;
    } else {
      break;
    }
  }
  return {.value = digits / scale, .length = any ? i : 0};
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  const Decimal number = ReadDecimal(text);
  if (number.length > 0) {
    const std::string_view unit = text.substr(number.length);
    for (const TimeUnit& candidate : kTimeUnits) {
      if (unit != candidate.name) continue;
      const double nanoseconds = number.value * static_cast<double>(candidate.nanoseconds);
      if (!(nanoseconds < 9.1e18)) break;
      return Duration(std::llround(nanoseconds));
    }
  }
  return Fail(ErrorCode::kConfig, {}, "'" + std::string(text) + "' is not a duration",
              "write a number and a unit (ns, us, ms, s, min, h), e.g. 250ms");
}

std::string FormatDuration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  for (const TimeUnit& unit : kTimeUnits) {
    if (duration.count() % unit.nanoseconds == 0) {
      return std::to_string(duration.count() / unit.nanoseconds) + std::string(unit.name);
    }
  }
  return std::to_string(duration.count()) + "ns";
}

std::string ReadableDuration(Duration duration) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.name == "h" || unit.name == "min" || duration.count() < unit.nanoseconds) continue;
    const double value =
        static_cast<double>(duration.count()) / static_cast<double>(unit.nanoseconds);
    const std::size_t digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    const std::int64_t whole = digits == 2 ? 100 : digits == 1 ? 10 : 1;
    const std::int64_t rounded = std::llround(value * static_cast<double>(whole));
    std::string decimals = std::to_string(rounded % whole);
    decimals.insert(0, digits - std::min(digits, decimals.size()), '0');
    while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
    return std::to_string(rounded / whole) + (decimals.empty() ? "" : '.' + decimals) + ' ' +
           std::string(unit.name);
  }
  return "0 s";
}

}  // namespace covey
