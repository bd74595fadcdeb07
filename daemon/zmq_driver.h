// The ZeroMQ transport as the network of a daemon.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "covey/node/network_driver.h"
#include "covey/transport_zmq/zmq_transport.h"

namespace covey {

class ZmqDriver final : public node::NetworkDriver {
 public:
  explicit ZmqDriver(std::unique_ptr<transport_zmq::ZmqTransport> transport);

  transport::Transport& transport() override { return *transport_; }
  void Poll(transport::Sink& sink, Duration at_most) override { transport_->Poll(sink, at_most); }
  void Dial(const PeerKey& peer, const std::string& address) override;
  void HangUp(const PeerKey& peer) override { transport_->HangUp(peer); }
  std::map<PeerKey, std::string> Problems() const override;
  void Wake() override;
  void Close() override;
  std::string endpoint() const override { return endpoint_; }

 private:
  std::mutex mutex_;  // between Wake and Close
  std::unique_ptr<transport_zmq::ZmqTransport> transport_;
  const std::string endpoint_;
};

}  // namespace covey
