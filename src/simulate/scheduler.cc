#include "covey/simulate/scheduler.h"

#include <algorithm>
#include <utility>

namespace covey::simulate {

void Scheduler::At(Time time, std::function<void()> action) {
  queue_.push(Event{std::max(time, now_), scheduled_++, std::move(action)});
}

bool Scheduler::RunNext() {
  if (queue_.empty()) return false;
  // The queue hands out const references only; the event is removed before it runs, because it may
  // add others.
  Event event = std::move(const_cast<Event&>(queue_.top()));
  queue_.pop();
  now_ = event.time;
  event.action();
  return true;
}

}  // namespace covey::simulate
