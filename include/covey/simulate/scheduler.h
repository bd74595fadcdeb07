// Discrete events on a virtual clock.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "covey/base/time.h"

namespace covey::simulate {

// Determinism: events of equal time run in the order in which they were scheduled.
class Scheduler {
 public:
  Time now() const { return now_; }
  void At(Time time, std::function<void()> action);  // a time that has passed means now
  void After(Duration delay, std::function<void()> action) { At(now_ + delay, std::move(action)); }

  // Runs the next event. Returns: false when there is none.
  bool RunNext();

 private:
  struct Event {
    Time time;
    std::uint64_t number;
    std::function<void()> action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };

  Time now_{};
  std::uint64_t scheduled_ = 0;
  std::priority_queue<Event, std::vector<Event>, Later> queue_;
};

}  // namespace covey::simulate
