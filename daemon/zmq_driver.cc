#include "zmq_driver.h"

#include <utility>

namespace covey {

ZmqDriver::ZmqDriver(std::unique_ptr<transport_zmq::ZmqTransport> transport)
    : transport_(std::move(transport)), endpoint_(transport_->endpoint()) {}

void ZmqDriver::Wake() {
  const std::lock_guard lock(mutex_);
  if (transport_) transport_->Wake();
}

void ZmqDriver::Close() {
  std::unique_ptr<transport_zmq::ZmqTransport> closing;
  {
    const std::lock_guard lock(mutex_);
    closing = std::move(transport_);
  }
}

}  // namespace covey
