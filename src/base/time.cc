#include "covey/base/time.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace covey {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::array<Unit, 6> kUnits = {{{"h", 3600'000'000'000},
                                         {"min", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"ns", 1}}};

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  double number = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (failure == std::errc{} && number >= 0) {
    for (const Unit& candidate : kUnits) {
      if (unit != candidate.name) continue;
      const double nanoseconds = number * static_cast<double>(candidate.nanoseconds);
      if (!(nanoseconds < 9.1e18)) break;
      return Duration(std::llround(nanoseconds));
    }
  }
  return Fail(ErrorCode::kConfig, {}, "'" + std::string(text) + "' is not a duration",
              "write a number and a unit (ns, us, ms, s, min, h), e.g. 250ms");
}

std::string FormatDuration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  for (const Unit& unit : kUnits) {
    if (duration.count() % unit.nanoseconds == 0) {
      return std::to_string(duration.count() / unit.nanoseconds) + std::string(unit.name);
    }
  }
  return std::to_string(duration.count()) + "ns";
}

}  // namespace covey
