// A consensus::Node and what its host does for it, for the tests of its exchanges and of its life.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <variant>
#include <vector>

#include "covey/consensus/node.h"

namespace covey::consensus {

inline constexpr Time kStep = std::chrono::milliseconds(10);

inline PeerKey Key(std::uint8_t id) {
  PeerKey key;
  key.bytes[0] = id;
  return key;
}

// A node with a vector of three floats and its host's duties.
class NodeTest : public testing::Test {
 protected:
  void Make(const Settings& settings) {
    node_ = std::make_unique<Node>(settings, Stream(1, 0, Purpose::kPeers), ExchangeId{100});
  }
  std::vector<Action> Post(const Event& event) {
    std::vector<Action> actions;
    node_->Handle(now_, event, actions);
    return actions;
  }
  std::vector<Action> Receive(const Message& message) {
    return Post(Received{&message, x_.view(), {tensor::Encoding::kFloat32, reply_.view()}});
  }
  // One whole training round without mail. Returns: the actions between Trained and Drained.
  std::vector<Action> Round(std::uint32_t batches) {
    now_ += kStep;
    std::vector<Action> actions = Post(Trained{batches});
    last_ = Post(Drained{});
    return actions;
  }
  static Message Make(MessageKind kind, std::uint8_t peer, std::uint64_t exchange,
                      std::vector<float> values) {
    Message message;
    message.kind = kind;
    message.peer = Key(peer);
    message.exchange = ExchangeId{exchange};
    message.payload = Payload(values);
    return message;
  }
  static SharedBuffer Payload(const std::vector<float>& values) {
    auto buffer = std::make_shared<AlignedBuffer>(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(buffer->data(), values.data(), buffer->size());
    return buffer;
  }
  std::vector<float> X() const { return {x_.view().begin(), x_.view().end()}; }
  std::vector<float> Reply() const {
    std::vector<float> values(3);
    std::memcpy(values.data(), reply_.data(), reply_.size());
    return values;
  }
  std::uint64_t Dropped(DropReason reason) const {
    return node_->counters().dropped[static_cast<std::size_t>(reason)];
  }
  template <class T>
  static std::vector<T> Of(const std::vector<Action>& actions) {
    std::vector<T> found;
    for (const Action& action : actions) {
      if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
    }
    return found;
  }

  Time now_{};
  tensor::FlatVector x_{3};
  AlignedBuffer reply_{3 * sizeof(float)};
  std::unique_ptr<Node> node_;
  std::vector<Action> last_;
};

}  // namespace covey::consensus
