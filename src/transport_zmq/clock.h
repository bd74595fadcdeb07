// The monotonic clock of this module's threads.
#pragma once

#include <chrono>

#include "covey/base/time.h"

namespace covey::transport_zmq {

inline Time Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace covey::transport_zmq
