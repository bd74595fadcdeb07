// Strangers and misbehaving peers: refused, counted, and without effect on anybody else.
#include <algorithm>
#include <atomic>
#include <thread>

#include "covey/base/random.h"
#include "e2e/transport_zmq/fixture.h"
#include "e2e/transport_zmq/raw.h"

namespace covey::transport_zmq {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;

// A listener with one honest peer, which must go on whatever the others do.
class Hostile : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    nodes_ = MakeNodes(2, GetParam());
    member_ = KeyPair::Generate();
    node().settings.allowed.push_back(member_.public_key);
    node().settings.first_frame_timeout = std::chrono::seconds(20);
    node().Open();
    peer().settings.dial = {{node().key(), endpoint()}};
    peer().Open();
    ASSERT_TRUE(Drive(all(), [&] { return peer().sink.up.size() == 1; }));
    ASSERT_EQ(Say(peer(), peer().only(), 1), SendResult::kSent);
    ASSERT_TRUE(Drive(all(), [&] { return node().sink.frames == 1; }));
  }
  void TearDown() override {
    const std::size_t before = node().sink.frames;
    EXPECT_EQ(before, 1u) << "nothing of a stranger reaches the sink";
    EXPECT_EQ(node().sink.up.size(), 1u);
    ASSERT_EQ(Say(peer(), peer().only(), 1), SendResult::kSent);
    EXPECT_TRUE(Drive(all(), [&] { return node().sink.frames == before + 1; }));
    EXPECT_TRUE(peer().sink.downs.empty());
  }
  // A client that may come in: with a key of the set, or to a node that asks for none.
  std::unique_ptr<Client> Member() {
    return std::make_unique<Client>(GetParam() ? &member_ : nullptr, node().key());
  }
  // One with the same settings and a key of its own, not yet open.
  Node Another() {
    Node other;
    other.settings = node().settings;
    other.settings.listen = "tcp://127.0.0.1:0";
    other.settings.keys = KeyPair::Generate();
    return other;
  }
  bool Until(const std::function<bool(const Counters&)>& counted) {
    return Drive(all(), [&] { return counted(node().transport->counters()); });
  }

  Node& node() { return *nodes_[0]; }
  Node& peer() { return *nodes_[1]; }
  std::vector<Node*> all() { return {nodes_[0].get(), nodes_[1].get()}; }
  const std::string& endpoint() { return node().transport->endpoint(); }

  std::vector<std::unique_ptr<Node>> nodes_;
  KeyPair member_;
};

INSTANTIATE_TEST_SUITE_P(Security, Hostile, testing::Bool(),
                         [](const auto& run) { return run.param ? "Curve" : "Plain"; });

TEST_P(Hostile, BytesThatAreNoGreeting) {
  Stream random(1, 0, Purpose::kTest);
  std::string noise(4096, '\0');
  for (char& c : noise) c = static_cast<char>(random.Next32());
  const std::vector<std::string> greetings = {
      noise, "GET / HTTP/1.1\r\nHost: robot\r\n\r\n", std::string("\x16\x03\x01\x02\x00\x01", 6),
      std::string("\x01\x00", 2), std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x01", 11) + noise};
  std::vector<std::unique_ptr<Raw>> raws;
  for (const std::string& greeting : greetings) {
    raws.push_back(std::make_unique<Raw>(endpoint()));
    EXPECT_TRUE(raws.back()->Send(greeting));
  }
  EXPECT_TRUE(Until([&](const Counters& c) { return c.accepted == 1 + greetings.size(); }));
  raws.clear();
  EXPECT_TRUE(Until([&](const Counters& c) { return c.accepted_in_vain == greetings.size(); }));
}

TEST_P(Hostile, AnAnnouncedGibibyteTakesNoMemory) {
  std::string greeting = std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03\x00", 12);
  greeting += GetParam() ? "CURVE" : "NULL";
  greeting.resize(64, '\0');
  greeting += std::string("\x06\0\0\0\0\x40\0\0\0", 9);  // a long command of 2^30 bytes
  Raw raw(endpoint());
  ASSERT_TRUE(raw.Send(greeting));
  const std::size_t before = Resident();
  std::size_t sent = 0;
  EXPECT_TRUE(Drive(all(), [&] {
    if (sent < 64 * kMiB && raw.Send(std::string(kMiB / 4, 'x'))) sent += kMiB / 4;
    return raw.Cut();
  }));
  EXPECT_LT(Resident(), before + 2 * kMiB);
  // The announcement alone is enough.
  Node patient = Another();
  patient.settings.handshake_timeout = std::chrono::minutes(10);
  patient.settings.first_frame_timeout = std::chrono::minutes(10);
  patient.Open();
  Raw other(patient.transport->endpoint());
  ASSERT_TRUE(other.Send(greeting));
  EXPECT_TRUE(Drive({&patient}, [&] { return other.Cut(); }));
}

TEST_P(Hostile, OversizeFramesEndTheirConnection) {
  auto client = Member();
  client->Connect(endpoint());
  // Beyond a frame, within what libzmq lets pass.
  ASSERT_TRUE(client->Send(transport::kMaxFrame + 1));
  EXPECT_TRUE(Until([](const Counters& c) { return c.dropped_oversize == 1; }));
  auto other = Member();
  other->Connect(endpoint());
  ASSERT_TRUE(other->Send(transport::kMaxFrame + 5000));
  EXPECT_TRUE(Until([](const Counters& c) { return c.accepted >= 3; }));
  DriveFor(all(), std::chrono::milliseconds(200));
}

TEST_P(Hostile, MultipartMessagesEndTheirConnection) {
  auto client = Member();
  client->Connect(endpoint());
  ASSERT_TRUE(client->Send(100, ZMQ_SNDMORE));
  ASSERT_TRUE(client->Send(100, ZMQ_SNDMORE));
  ASSERT_TRUE(client->Send(100));
  EXPECT_TRUE(Until([](const Counters& c) { return c.dropped_multipart == 1; }));
}

TEST_P(Hostile, AHugeMultipartMessageIsCutOnItsWay) {
  auto client = Member();
  client->Set(ZMQ_RECONNECT_IVL, -1);
  // libzmq's sender keeps the parts until the last one, so this one has an end: after 64 MiB.
  client->Connect(endpoint());
  for (int i = 0; i < 1024; ++i) ASSERT_TRUE(client->Send(64 * 1024, ZMQ_SNDMORE));
  ASSERT_TRUE(Drive(all(), [&] { return client->Send(1); }));
  EXPECT_TRUE(Until([](const Counters& c) { return c.cut_unfinished == 1; }));
  EXPECT_EQ(node().transport->counters().dropped_multipart, 0u);
}

TEST_P(Hostile, ASelfChosenRoutingIdHasNoEffect) {
  for (const std::string& name : {std::string("robot7"), std::string("\x01zzzz", 5)}) {
    auto client = Member();
    client->Name(name);
    client->Connect(endpoint());
    const std::uint64_t before = node().transport->counters().dropped_routing_id;
    ASSERT_TRUE(client->Send(100));
    EXPECT_TRUE(Until([&](const Counters& c) { return c.dropped_routing_id > before; }));
  }
}

TEST_P(Hostile, AnIdleConnectionIsCut) {
  const auto never = std::chrono::minutes(10);
  // By libzmq: no greeting within the handshake time-out.
  Node greeted = Another();
  greeted.settings.handshake_timeout = std::chrono::milliseconds(100);
  greeted.settings.first_frame_timeout = never;
  greeted.Open();
  Raw raw(greeted.transport->endpoint());
  EXPECT_TRUE(Drive({&greeted}, [&] { return raw.Cut(); }));
  // By us: a member that shakes hands and then is silent.
  Node other = Another();
  other.settings.handshake_timeout = never;
  other.settings.first_frame_timeout = std::chrono::milliseconds(300);
  other.Open();
  auto client = std::make_unique<Client>(GetParam() ? &member_ : nullptr, other.key());
  client->Connect(other.transport->endpoint());
  EXPECT_TRUE(Drive({&other}, [&] { return other.transport->counters().cut_silent >= 1; }));
  EXPECT_TRUE(other.sink.up.empty());
}

TEST_P(Hostile, LinksBeyondTheLimitAreRefused) {
  Node other = Another();
  other.settings.max_links = 2;
  other.Open();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(GetParam() ? &member_ : nullptr, other.key()));
    clients.back()->Connect(other.transport->endpoint());
    ASSERT_TRUE(clients.back()->Send(100));
  }
  EXPECT_TRUE(Drive({&other}, [&] { return other.transport->counters().dropped_links >= 1; }));
  EXPECT_LE(other.sink.up.size(), 2u);
}

class Plain : public Hostile {};
INSTANTIATE_TEST_SUITE_P(Security, Plain, testing::Values(false));

TEST_P(Plain, AnEndlessMultipartMessageIsCut) {
  // What a hand-written client can do: 64 KiB parts for as long as it is let.
  Raw raw(endpoint());
  raw.ShakeHands();
  std::string part("\x03\0\0\0\0\0\x01\0\0", 9);
  part.resize(9 + 64 * 1024, 'x');
  std::atomic<bool> stop{false};
  std::thread sender([&] {  // of its own, to outrun Poll
    while (!stop && raw.SendAll(part)) {
    }
  });
  const std::size_t before = Resident();
  EXPECT_TRUE(Until([](const Counters& c) { return c.cut_unfinished == 1; }))
      << node().transport->counters().cut_unfinished << " cut, "
      << node().transport->counters().accepted_in_vain << " in vain of "
      << node().transport->counters().accepted;
  const std::size_t after = Resident();
  stop = true;
  raw.Shutdown();
  sender.join();
  RecordProperty("grown_kib", static_cast<int>((after - std::min(before, after)) / 1024));
  EXPECT_LT(after, before + 64 * kMiB);
}

class Curve : public Hostile {};
INSTANTIATE_TEST_SUITE_P(Security, Curve, testing::Values(true));

TEST_P(Curve, AnUnknownKeyIsRefusedAndCounted) {
  const KeyPair stranger = KeyPair::Generate();
  Client client(&stranger, node().key());
  client.Connect(endpoint());
  client.Send(100);
  EXPECT_TRUE(
      Until([](const Counters& c) { return c.refused_unknown == 1 && c.accepted_in_vain >= 1; }));
}

TEST_P(Curve, NoSecurityIsNoWayIn) {
  Client client;
  client.Connect(endpoint());
  client.Send(100);
  EXPECT_TRUE(Until([](const Counters& c) { return c.accepted_in_vain >= 1; }));
}

TEST_P(Curve, TheOwnKeyIsRefused) {
  node().transport->SetAllowedKeys({node().key(), peer().key()});
  Client client(&node().settings.keys, node().key());
  client.Connect(endpoint());
  client.Send(100);
  EXPECT_TRUE(Until([](const Counters& c) { return c.refused_unknown == 1; }));
}

TEST_P(Curve, ManyUnknownKeysOfOneAddressGetNoAnswer) {
  Node other = Another();
  other.settings.refusals_per_second = 0;
  other.settings.refusals_burst = 3;  // the self-test takes one
  other.Open();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) {
    const KeyPair stranger = KeyPair::Generate();
    clients.push_back(std::make_unique<Client>(&stranger, other.key()));
    clients.back()->Connect(other.transport->endpoint());
  }
  EXPECT_TRUE(Drive({&other}, [&] { return other.transport->counters().refused_rate >= 2; }));
  EXPECT_EQ(other.transport->counters().refused_unknown, 2u);
}

TEST_P(Curve, AWrongServerKeyNeverBecomesALink) {
  const KeyPair wrong = KeyPair::Generate();
  std::vector<std::string> notices;
  Node other;
  other.settings.keys = member_;
  other.settings.allowed = {wrong.public_key};
  other.settings.dial = {{wrong.public_key, endpoint()}};
  other.settings.redial_base = std::chrono::milliseconds(10);
  other.settings.notice = [&](const std::string& text) { notices.push_back(text); };
  other.Open();
  std::vector<Node*> nodes = all();
  nodes.push_back(&other);
  EXPECT_TRUE(Drive(nodes, [&] { return other.transport->counters().dial_failures >= 3; }));
  EXPECT_TRUE(other.sink.up.empty());
  ASSERT_FALSE(notices.empty());
  EXPECT_NE(notices[0].find("wrong server key"), std::string::npos) << notices[0];
  EXPECT_GE(other.transport->dials().at(0).attempts, 3u);
}

TEST_P(Curve, ARefusedDiallerComesInOnceItIsAllowed) {
  Node other;
  other.settings.keys = KeyPair::Generate();
  other.settings.allowed = {node().key()};
  other.settings.dial = {{node().key(), endpoint()}};
  other.settings.redial_base = std::chrono::milliseconds(10);
  other.Open();
  std::vector<Node*> nodes = all();
  nodes.push_back(&other);
  // 400 is final for libzmq's own reconnecting.
  EXPECT_TRUE(Drive(nodes, [&] { return other.transport->counters().dial_failures >= 2; }));
  EXPECT_NE(other.transport->dials().at(0).problem.find("refused our key"), std::string::npos);
  node().transport->SetAllowedKeys({peer().key(), other.key()});
  EXPECT_TRUE(Drive(nodes, [&] { return other.sink.up.size() == 1; }));
}

TEST(Revocation, EndsTheLinkOnBothKindsOfSocket) {
  auto nodes = MakeNodes(2, true);
  Node& a = *nodes[0];
  Node& b = *nodes[1];
  const std::vector<Node*> both = {&a, &b};
  a.Open();
  b.settings.dial = {{a.key(), a.transport->endpoint()}};
  b.Open();
  const auto meet = [&] {
    ASSERT_TRUE(Drive(both, [&] {
      if (b.only().value != 0) Say(b, b.only(), 1);
      return a.sink.up.size() == 1 && b.sink.up.size() == 1;
    }));
  };
  meet();
  a.transport->SetAllowedKeys({});
  a.transport->Poll(a.sink, Duration::zero());
  EXPECT_TRUE(a.sink.up.empty()) << "at the next Poll";
  ASSERT_EQ(a.sink.downs.size(), 1u);
  const std::size_t frames = a.sink.frames;
  EXPECT_TRUE(Drive(both, [&] { return a.transport->counters().refused_unknown >= 1; }));
  EXPECT_EQ(a.sink.frames, frames);
  a.transport->SetAllowedKeys({b.key()});
  meet();

  b.transport->SetAllowedKeys({});
  b.transport->Poll(b.sink, Duration::zero());
  EXPECT_TRUE(b.sink.up.empty());
  EXPECT_TRUE(Drive(both, [&] { return a.sink.up.empty(); }));
  const std::uint64_t attempts = b.transport->counters().dial_attempts;
  DriveFor(both, std::chrono::milliseconds(100));
  EXPECT_EQ(b.transport->counters().dial_attempts, attempts) << "who is not allowed is not dialled";
  b.transport->SetAllowedKeys({a.key()});
  meet();
}

}  // namespace
}  // namespace covey::transport_zmq
