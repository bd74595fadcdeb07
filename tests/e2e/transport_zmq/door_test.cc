// Newcomers at the door, and strangers.
#include <atomic>
#include <future>
#include <string>

#include "covey/transport_zmq/knock.h"
#include "e2e/transport_zmq/fixture.h"
#include "e2e/transport_zmq/raw.h"

namespace covey::transport_zmq::door_test {

constexpr std::size_t kMiBOfParts = 1024 * 1024;

class DoorTest : public testing::Test {
 protected:
  void SetUp() override {
    nodes_ = MakeNodes(1, true);
    DoorSettings& door = node().settings.door;
    door.listen = "tcp://127.0.0.1:0";
    door.answer = [this](const PeerKey& key, const std::string& address, ByteView frame) {
      EXPECT_EQ(address.rfind("tcp://127.0.0.1:", 0), 0u) << address;
      heard_.emplace_back(key, std::vector<std::byte>(frame.begin(), frame.end()));
      return Bytes(3, 9);
    };
    door.knocks_burst = 100;
    node().settings.linger = std::chrono::milliseconds(100);
  }

  Node& node() { return *nodes_[0]; }
  const std::string& door() { return node().transport->door_endpoint(); }
  bool Until(const std::function<bool(const Counters&)>& counted) {
    return Drive({&node()}, [&] { return counted(node().transport->counters()); });
  }
  // Knocks from a thread of its own while the node is driven.
  Result<std::vector<std::byte>> KnockAs(const KeyPair& who, std::size_t size) {
    auto knock = std::async(std::launch::async, [&, endpoint = door()] {
      return Knock(who, {node().key(), endpoint}, Bytes(size, 5), kPatience, stop_);
    });
    Drive({&node()},
          [&] { return knock.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    return knock.get();
  }

  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::pair<PeerKey, std::vector<std::byte>>> heard_;
  std::atomic<bool> stop_{false};
};

TEST_F(DoorTest, AnyKeyMayKnockAndIsAnswered) {
  node().Open();
  const KeyPair newcomer = KeyPair::Generate();
  const auto answer = KnockAs(newcomer, 1024);
  ASSERT_TRUE(answer.has_value()) << answer.error().Format();
  EXPECT_EQ(*answer, Bytes(3, 9));
  ASSERT_EQ(heard_.size(), 1u);
  EXPECT_EQ(heard_[0].first, newcomer.public_key);
  EXPECT_EQ(heard_[0].second, Bytes(1024, 5));
  EXPECT_EQ(node().transport->counters().knocks, 1u);
}

TEST_F(DoorTest, WhoKnocksIsNoPeer) {
  node().Open();
  const KeyPair newcomer = KeyPair::Generate();
  ASSERT_TRUE(KnockAs(newcomer, 10).has_value());
  Client client(&newcomer, node().key());
  client.Connect(node().transport->endpoint());
  EXPECT_TRUE(Until([](const Counters& c) { return c.refused_unknown == 1; }));
  EXPECT_TRUE(node().sink.up.empty());
  EXPECT_EQ(node().sink.frames, 0u);
}

TEST_F(DoorTest, FramesAboveAKibibyteEndTheirConnection) {
  node().Open();
  EXPECT_FALSE(KnockAs(KeyPair::Generate(), 1025).has_value());
  EXPECT_TRUE(Until([](const Counters& c) { return c.knocks_dropped == 1; }));
  EXPECT_TRUE(heard_.empty());
}

TEST_F(DoorTest, TheOwnKeyIsRefused) {
  node().Open();
  EXPECT_FALSE(KnockAs(node().settings.keys, 10).has_value());
  EXPECT_TRUE(heard_.empty());
}

TEST_F(DoorTest, ASecondFrameAndMultipartMessagesEndTheirConnection) {
  node().settings.linger = std::chrono::seconds(20);
  node().Open();
  const KeyPair newcomer = KeyPair::Generate();
  Client twice(&newcomer, node().key());
  twice.Set(ZMQ_RECONNECT_IVL, -1);
  twice.Connect(door());
  ASSERT_TRUE(twice.Send(10) && twice.Send(10));
  Client parts(&newcomer, node().key());
  parts.Set(ZMQ_RECONNECT_IVL, -1);
  parts.Connect(door());
  ASSERT_TRUE(parts.Send(10, ZMQ_SNDMORE) && parts.Send(10));
  EXPECT_TRUE(Until([](const Counters& c) { return c.knocks == 1 && c.knocks_dropped == 1; }));
  EXPECT_EQ(heard_.size(), 1u);
}

TEST_F(DoorTest, AHugeMultipartMessageIsCutOnItsWay) {
  node().Open();
  const KeyPair newcomer = KeyPair::Generate();
  Client client(&newcomer, node().key());
  client.Set(ZMQ_RECONNECT_IVL, -1);
  client.Set(ZMQ_SNDHWM, 0);
  client.Connect(door());
  for (std::size_t sent = 0; sent < 64 * kMiBOfParts; sent += 1024) {
    ASSERT_TRUE(client.Send(1024, ZMQ_SNDMORE));
  }
  ASSERT_TRUE(client.Send(1024));
  EXPECT_TRUE(Until([](const Counters& c) { return c.cut_unfinished == 1; }));
  EXPECT_TRUE(heard_.empty());
}

TEST_F(DoorTest, WhoSaysNothingIsCut) {
  node().settings.door.patience = std::chrono::milliseconds(50);
  node().Open();
  Raw raw(door());
  EXPECT_TRUE(Drive({&node()}, [&] { return raw.Cut(); }));
  // And who shakes hands, and then says nothing: libzmq lets it stay.
  const KeyPair newcomer = KeyPair::Generate();
  Client client(&newcomer, node().key());
  client.Set(ZMQ_RECONNECT_IVL, -1);
  client.Connect(door());
  EXPECT_TRUE(Until([](const Counters& c) { return c.knocks_dropped == 2; }));
}

TEST_F(DoorTest, ConnectionsAreBounded) {
  node().settings.door.max_connections = 2;
  node().settings.door.patience = std::chrono::minutes(10);
  node().settings.handshake_timeout = std::chrono::minutes(10);
  node().Open();
  std::vector<std::unique_ptr<Raw>> raws;
  for (int i = 0; i < 5; ++i) raws.push_back(std::make_unique<Raw>(door()));
  EXPECT_TRUE(Until([](const Counters& c) { return c.knocks_dropped == 3; }));
}

TEST_F(DoorTest, KnocksOfOneAddressAreBounded) {
  node().settings.door.knocks_per_second = 0.001;
  node().settings.door.knocks_burst = 2;
  node().Open();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(KnockAs(KeyPair::Generate(), 10).has_value());
  EXPECT_FALSE(KnockAs(KeyPair::Generate(), 10).has_value());
  EXPECT_EQ(node().transport->counters().knocks_refused_rate, 1u);
  EXPECT_EQ(heard_.size(), 2u);
}

TEST_F(DoorTest, KnocksAtNothingFailWithAReason) {
  node().Open();
  const std::string nobody = door();
  node().transport.reset();
  const auto answer =
      Knock(KeyPair::Generate(), {node().key(), nobody}, Bytes(1, 1), kPatience, stop_);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().where.find(nobody), std::string::npos);
  EXPECT_EQ(
      Knock(KeyPair::Generate(), {node().key(), "nowhere"}, {}, kPatience, stop_).error().code,
      ErrorCode::kConfig);
}

}  // namespace covey::transport_zmq::door_test
