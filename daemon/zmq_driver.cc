#include "zmq_driver.h"

#include <utility>

#include "covey/log/log.h"

namespace covey {

ZmqDriver::ZmqDriver(std::unique_ptr<transport_zmq::ZmqTransport> transport)
    : transport_(std::move(transport)), endpoint_(transport_->endpoint()) {}

void ZmqDriver::Dial(const PeerKey& peer, const std::string& address) {
  if (Status dialled = transport_->Dial({peer, "tcp://" + address}); !dialled) {
    log::WriteLimited(log::Level::kDebug, log::Category::kNetwork, "dial " + peer.Short(),
                      "can't dial a peer: " + dialled.error().Format());
  }
}

std::map<PeerKey, std::string> ZmqDriver::Problems() const {
  std::map<PeerKey, std::string> problems;
  for (const transport_zmq::DialStatus& dial : transport_->dials()) {
    if (!dial.up && !dial.problem.empty()) problems.emplace(dial.key, dial.problem);
  }
  return problems;
}

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
