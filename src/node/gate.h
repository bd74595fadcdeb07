// A flag that one thread raises and others wait for.
#pragma once

#include <condition_variable>
#include <mutex>

#include "node/clock.h"

namespace covey::node {

class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Returns: whether it is open by then.
  bool WaitUntil(Clock::Source::time_point deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace covey::node
