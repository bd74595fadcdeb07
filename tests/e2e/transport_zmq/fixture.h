// Nodes, clients and a driver for transports of one process.
#pragma once

#include <zmq.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "covey/transport_zmq/zmq_transport.h"
#include "gtest/gtest.h"

namespace covey::transport_zmq {

using transport::LinkId;
using transport::LinkInfo;
using transport::SendResult;

inline constexpr Duration kPatience =
    std::chrono::seconds(30);  // a bound for slow machines, not a wait

// Remembers all that a transport tells.
class Record : public transport::Sink {
 public:
  void OnLinkUp(const LinkInfo& link) override {
    EXPECT_TRUE(up.emplace(link.id, link).second);
    if (on_up) on_up(link);
  }
  void OnLinkDown(LinkId link, const std::string& reason) override {
    EXPECT_EQ(up.erase(link), 1u) << reason;
    downs.emplace_back(link, reason);
  }
  void OnFrame(LinkId link, ByteView frame) override {
    EXPECT_TRUE(up.contains(link));
    ++frames;
    bytes += frame.size();
    last.assign(frame.begin(), frame.end());
    if (on_frame) on_frame(link, frame);
  }

  std::map<LinkId, LinkInfo> up;
  std::vector<std::pair<LinkId, std::string>> downs;
  std::size_t frames = 0;
  std::size_t bytes = 0;
  std::vector<std::byte> last;
  std::function<void(const LinkInfo&)> on_up;
  std::function<void(LinkId, ByteView)> on_frame;
};

struct Node {
  Settings settings;
  Record sink;
  std::unique_ptr<ZmqTransport> transport;

  void Open() {
    auto opened = ZmqTransport::Open(settings);
    ASSERT_TRUE(opened) << opened.error().Format();
    transport = std::move(*opened);
  }
  PeerKey key() const { return settings.keys.public_key; }
  LinkId only() const { return sink.up.size() == 1 ? sink.up.begin()->first : LinkId{}; }
};

// `count` nodes that allow each other, not yet open.
inline std::vector<std::unique_ptr<Node>> MakeNodes(std::size_t count, bool curve) {
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<PeerKey> keys;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(std::make_unique<Node>());
    nodes.back()->settings.curve = curve;
    nodes.back()->settings.keys = KeyPair::Generate();
    nodes.back()->settings.redial_base = std::chrono::milliseconds(20);
    keys.push_back(nodes.back()->key());
  }
  for (auto& node : nodes) node->settings.allowed = keys;
  return nodes;
}

// Polls all nodes in turn until `done`, or false after kPatience.
inline bool Drive(const std::vector<Node*>& nodes, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    for (Node* node : nodes) {
      if (node->transport) {
        node->transport->Poll(node->sink, std::chrono::milliseconds(nodes.size() == 1 ? 5 : 1));
      }
    }
  }
  return true;
}

// Polls for a while: for what must not happen.
inline void DriveFor(const std::vector<Node*>& nodes, Duration time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end)
    Drive(nodes, [once = 0]() mutable { return once++ > 0; });
}

inline std::vector<std::byte> Bytes(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

inline SendResult Say(Node& node, LinkId link, std::size_t body, int value = 7) {
  return node.transport->Send(link, Bytes(transport::kHeaderSize, value), Bytes(body, value));
}

// A DEALER without any of our manners.
class Client {
 public:
  explicit Client(const KeyPair* keys = nullptr, const PeerKey& server = {})
      : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_DEALER)) {
    Set(ZMQ_LINGER, 0);
    if (keys != nullptr) {
      zmq_setsockopt(socket_, ZMQ_CURVE_SERVERKEY, server.bytes.data(), 32);
      zmq_setsockopt(socket_, ZMQ_CURVE_PUBLICKEY, keys->public_key.bytes.data(), 32);
      zmq_setsockopt(socket_, ZMQ_CURVE_SECRETKEY, keys->secret.bytes.data(), 32);
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }

  void Set(int option, int value) { zmq_setsockopt(socket_, option, &value, sizeof value); }
  void Name(const std::string& id) {
    zmq_setsockopt(socket_, ZMQ_ROUTING_ID, id.data(), id.size());
  }
  void Connect(const std::string& endpoint) {
    ASSERT_EQ(zmq_connect(socket_, endpoint.c_str()), 0);
  }
  bool Send(std::size_t size, int flags = 0) {
    const std::vector<std::byte> bytes = Bytes(size, 1);
    return zmq_send(socket_, bytes.data(), size, flags | ZMQ_DONTWAIT) >= 0;
  }

 private:
  void* context_;
  void* socket_;
};

// Resident memory of this process in bytes.
inline std::size_t Resident() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

}  // namespace covey::transport_zmq
