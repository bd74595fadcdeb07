// Durations with units, and points on a monotonic axis that the host provides. Nothing here reads a
// clock.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey {

using Duration = std::chrono::nanoseconds;

// Time since the host's start: monotonic, never wall-clock time. Virtual in the simulator.
using Time = Duration;

inline constexpr Time kNever = Time::max();

// Parses "10s", "250ms", "5us", "1.5h", "2min" (decimal number, unit required, not negative, below
// 290 years).
// Errors: kConfig with what was got and an example.
Result<Duration> ParseDuration(std::string_view text);
// Returns: the shortest exact form ("250ms", "10s", "2min").
std::string FormatDuration(Duration duration);
// Returns: three digits, for people: "127 ms", "1.72 s", "0 s".
std::string ReadableDuration(Duration duration);

inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
inline Duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace covey
