// The ZeroMQ transport as the network of a daemon.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "covey/node/network_driver.h"
#include "covey/transport_zmq/zmq_transport.h"

namespace covey {

class ZmqDriver final : public node::NetworkDriver {
 public:
  // Errors: as ZmqTransport::Open.
  static Result<std::unique_ptr<ZmqDriver>> Open(transport_zmq::Settings settings);

  transport::Transport& transport() override { return *transport_; }
  void Poll(transport::Sink& sink, Duration at_most) override { transport_->Poll(sink, at_most); }
  void Dial(const PeerKey& peer, const std::string& address) override;
  void HangUp(const PeerKey& peer) override { transport_->HangUp(peer); }
  void SetAllowed(const std::set<PeerKey>& keys) override {
    transport_->SetAllowedKeys({keys.begin(), keys.end()});
  }
  void AnswerKnocks(Answer answer) override { *answer_ = std::move(answer); }
  void HearBeacons(Heard heard) override { *heard_ = std::move(heard); }
  Result<std::vector<std::byte>> Knock(const PeerKey& key, const std::string& address,
                                       ByteView frame, const std::atomic<bool>& stop) override;
  std::map<PeerKey, std::string> Problems() const override;
  void Wake() override;
  void Close() override;
  std::string endpoint() const override { return endpoint_; }
  // Of the door; empty: there is none. Thread: any.
  const std::string& door() const { return door_; }

 private:
  ZmqDriver(std::unique_ptr<transport_zmq::ZmqTransport> transport, std::shared_ptr<Answer> answer,
            std::shared_ptr<Heard> heard, const transport_zmq::KeyPair& keys);

  std::mutex mutex_;  // between Wake and Close
  std::unique_ptr<transport_zmq::ZmqTransport> transport_;
  const std::shared_ptr<Answer> answer_;  // the transport's door calls it
  const std::shared_ptr<Heard> heard_;    // its beacon this one
  const transport_zmq::KeyPair keys_;
  const std::string endpoint_;
  const std::string door_;
};

}  // namespace covey
