// The daemon's clock: monotonic time since its start.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

#include "covey/base/time.h"

namespace covey::node {

// What the wall clock shows, in seconds since 1970; a machine without a battery may begin there.
inline std::uint64_t UnixSeconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

class Clock {
 public:
  using Source = std::chrono::steady_clock;  // CLOCK_MONOTONIC with libstdc++ on Linux

  Clock() : start_(Source::now()) {}

  Time Now() const { return std::chrono::duration_cast<Time>(Source::now() - start_); }

  // Returns: what the calling thread has used of a processor so far.
  static Duration ThreadTime() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::duration_cast<Duration>(std::chrono::seconds(used.tv_sec) +
                                                std::chrono::nanoseconds(used.tv_nsec));
  }

  // Requires: time != kNever.
  Source::time_point At(Time time) const { return start_ + time; }
  std::uint64_t Monotonic(Time time) const {
    return static_cast<std::uint64_t>(At(time).time_since_epoch().count());
  }

 private:
  Source::time_point start_;
};

}  // namespace covey::node
