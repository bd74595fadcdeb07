// Links between well-behaved transports: up, frames, down, again.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "e2e/transport_zmq/fixture.h"
#include "e2e/transport_zmq/relay.h"

namespace covey::transport_zmq {
namespace {

class Links : public testing::TestWithParam<bool> {
 protected:
  // Two nodes, b dials a, who grants so many chunks.
  void OpenPair(std::size_t credit = Settings().credit) {
    nodes_ = MakeNodes(2, GetParam());
    nodes_[0]->settings.credit = credit;
    nodes_[0]->Open();
    nodes_[1]->settings.dial = {{a().key(), a().transport->endpoint()}};
    nodes_[1]->Open();
  }
  void Meet() {
    ASSERT_TRUE(Drive(both(), [&] { return b().sink.up.size() == 1; }));
    ASSERT_EQ(Say(b(), b().only(), 0), SendResult::kSent);
    ASSERT_TRUE(Drive(both(), [&] { return a().sink.up.size() == 1; }));
  }
  Node& a() { return *nodes_[0]; }
  Node& b() { return *nodes_[1]; }
  std::vector<Node*> both() { return {nodes_[0].get(), nodes_[1].get()}; }

  std::vector<std::unique_ptr<Node>> nodes_;
};

INSTANTIATE_TEST_SUITE_P(Security, Links, testing::Bool(),
                         [](const auto& run) { return run.param ? "Curve" : "Plain"; });

TEST_P(Links, CarryFramesBothWaysUnderTheRightKeys) {
  OpenPair();
  Meet();
  const LinkInfo& up = b().sink.up.begin()->second;
  const LinkInfo& accepted = a().sink.up.begin()->second;
  EXPECT_TRUE(up.dialled);
  EXPECT_FALSE(accepted.dialled);
  EXPECT_EQ(up.address, a().transport->endpoint());
  EXPECT_EQ(up.address.rfind("tcp://127.0.0.1:", 0), 0u) << up.address;
  EXPECT_TRUE(accepted.address.starts_with("tcp://127.0.0.1:")) << accepted.address;
  EXPECT_NE(up.id, accepted.id);
  if (GetParam()) {
    EXPECT_EQ(up.key, a().key());
    EXPECT_EQ(accepted.key, b().key());
  } else {
    EXPECT_FALSE(up.key.has_value());
    EXPECT_FALSE(accepted.key.has_value());
  }
  EXPECT_EQ(a().sink.last, Bytes(transport::kHeaderSize, 7));
  ASSERT_EQ(Say(a(), accepted.id, transport::kMaxBody, 9), SendResult::kSent);
  ASSERT_TRUE(Drive(both(), [&] { return b().sink.frames == 1; }));
  EXPECT_EQ(b().sink.last, Bytes(transport::kMaxFrame, 9));
  EXPECT_EQ(b().transport->counters().bytes_received, transport::kMaxFrame);
}

TEST_P(Links, OfEightNodesReachEverybody) {
  nodes_ = MakeNodes(8, GetParam());
  std::vector<Node*> all;
  for (auto& node : nodes_) {
    node->Open();
    all.push_back(node.get());
    node->sink.on_up = [&node](const LinkInfo& link) {
      if (link.dialled) {
        EXPECT_EQ(Say(*node, link.id, 1000), SendResult::kSent);
      }
    };
  }
  for (auto& from : nodes_) {
    for (auto& to : nodes_) {
      if (from != to) {
        ASSERT_TRUE(from->transport->Dial({to->key(), to->transport->endpoint()}));
      }
    }
  }
  ASSERT_TRUE(Drive(all, [&] {
    for (auto& node : nodes_) {
      if (node->sink.frames < 7) return false;
    }
    return true;
  }));
  for (auto& node : nodes_) {
    EXPECT_EQ(node->sink.up.size(), 14u);
    EXPECT_TRUE(node->sink.downs.empty());
  }
}

TEST_P(Links, ComeBackAfterARestartOnTheSamePort) {
  OpenPair();
  Meet();
  const LinkId before = b().only();
  a().settings.listen = a().transport->endpoint();
  a().transport.reset();
  a().sink = Record{};
  ASSERT_TRUE(Drive(both(), [&] { return !b().sink.downs.empty(); }));
  EXPECT_EQ(b().sink.downs[0].first, before);
  a().Open();
  ASSERT_TRUE(Drive(both(), [&] { return b().sink.up.size() == 1; }));
  EXPECT_NE(b().only(), before);
  ASSERT_EQ(Say(b(), b().only(), 10), SendResult::kSent);
  ASSERT_TRUE(Drive(both(), [&] { return a().sink.frames == 1; }));
}

TEST_P(Links, AreReportedDownByTheListenerWhenThePeerGoes) {
  OpenPair();
  Meet();
  const LinkId link = a().only();
  b().transport.reset();
  ASSERT_TRUE(Drive(both(), [&] { return !a().sink.downs.empty(); }));
  EXPECT_EQ(a().sink.downs[0].first, link);
  EXPECT_EQ(Say(a(), link, 10), SendResult::kGone);
}

TEST_P(Links, DeliverTheLastFramesBeforeTheirEnd) {
  OpenPair();
  Meet();
  constexpr std::size_t kLast = 16;
  for (std::size_t i = 0; i < kLast; ++i) {
    ASSERT_EQ(Say(b(), b().only(), 100'000), SendResult::kSent);
  }
  b().transport.reset();  // lingers
  ASSERT_TRUE(Drive({&a()}, [&] { return !a().sink.downs.empty(); }));
  EXPECT_EQ(a().sink.frames, 1 + kLast);
}

TEST_P(Links, ClosedByOneSideEndOnTheOtherAndAreDialledAgain) {
  OpenPair();
  Meet();
  const LinkId closed = a().only();
  ASSERT_EQ(Say(a(), closed, 5), SendResult::kSent);  // a last word still arrives
  a().transport->Close(closed);
  a().sink.up.erase(closed);  // Close is not followed by OnLinkDown
  EXPECT_EQ(Say(a(), closed, 5), SendResult::kGone);
  const LinkId before = b().only();
  ASSERT_TRUE(Drive(both(), [&] { return !b().sink.downs.empty() && b().sink.up.size() == 1; }));
  EXPECT_EQ(b().sink.frames, 1u);
  EXPECT_NE(b().only(), before);
  EXPECT_TRUE(a().sink.downs.empty());

  const LinkId dialled = b().only();
  b().transport->Close(dialled);
  b().sink.up.erase(dialled);
  EXPECT_EQ(Say(b(), dialled, 5), SendResult::kGone);
  ASSERT_TRUE(Drive(both(), [&] { return b().sink.up.size() == 1; }));
}

TEST_P(Links, MayBeClosedFromWithinTheSink) {
  OpenPair();
  for (auto& node : nodes_) {
    node->sink.on_frame = [&node](LinkId link, ByteView) {
      node->transport->Close(link);
      node->sink.up.erase(link);
    };
  }
  a().sink.on_up = [&](const LinkInfo& link) { Say(a(), link.id, 50); };
  std::size_t rounds = 0;
  b().sink.on_up = [&](const LinkInfo& link) {
    ++rounds;
    for (int i = 0; i < 5; ++i) Say(b(), link.id, 50);
  };
  ASSERT_TRUE(Drive(both(), [&] { return rounds == 3; }));
}

TEST_P(Links, HungUpOnEndAndAreNotDialledUntilAskedAgain) {
  OpenPair();
  Meet();
  const std::size_t frames = a().sink.frames;
  const std::uint64_t attempts = b().transport->counters().dial_attempts;
  // As the links do: a last frame, closed, and hung up.
  ASSERT_EQ(Say(b(), b().only(), 5), SendResult::kSent);
  b().transport->Close(b().only());
  b().transport->HangUp(a().key());
  b().sink.up.clear();
  EXPECT_TRUE(Drive(both(), [&] { return a().sink.frames == frames + 1 && a().sink.up.empty(); }));
  EXPECT_TRUE(b().sink.downs.empty()) << "of a link that was closed before";
  EXPECT_TRUE(b().transport->dials().empty());
  DriveFor(both(), std::chrono::milliseconds(200));
  EXPECT_EQ(b().transport->counters().dial_attempts, attempts);
  ASSERT_TRUE(b().transport->Dial({a().key(), a().transport->endpoint()}));
  Meet();
  // One that is up is told about.
  b().transport->HangUp(a().key());
  EXPECT_TRUE(Drive(both(), [&] { return b().sink.downs.size() == 1 && a().sink.up.empty(); }));
}

TEST_P(Links, ReportFullWhenNothingLeaves) {
  OpenPair(4096);  // or it would cut who sends so much ahead
  Relay relay(a().transport->endpoint());
  b().transport.reset();
  b().settings.dial = {{a().key(), relay.endpoint()}};
  b().Open();
  Meet();
  relay.Hold(true);
  SendResult result = SendResult::kSent;
  std::size_t sent = 1;  // what they met with
  while (result == SendResult::kSent && sent < 10'000) {
    result = Say(b(), b().only(), transport::kMaxBody);
    if (result == SendResult::kSent) ++sent;
  }
  EXPECT_EQ(result, SendResult::kFull);
  EXPECT_EQ(b().transport->counters().send_full, 1u);
  // And go on when it carries again.
  relay.Hold(false);
  ASSERT_TRUE(Drive(both(), [&] { return a().sink.frames == sent; }));
  EXPECT_EQ(Say(b(), b().only(), 1), SendResult::kSent);
}

TEST_P(Links, StopInTimeWithUnreachablePeersQueued) {
  OpenPair();
  Relay relay(a().transport->endpoint());
  b().transport.reset();
  b().settings.dial = {{a().key(), relay.endpoint()}};
  b().Open();
  Meet();
  relay.Hold(true);  // what is queued stays so
  ASSERT_TRUE(b().transport->Dial({KeyPair::Generate().public_key, "tcp://192.0.2.1:9"}));
  // A receiver that is as fast as the sender never lets the queue fill.
  constexpr int kMost = 200;
  for (Node* node : {&b(), &a()}) {
    for (int sent = 0; sent < kMost; ++sent) {
      if (Say(*node, node->only(), transport::kMaxBody) != SendResult::kSent) break;
    }
  }
  b().transport->Poll(b().sink, Duration::zero());
  for (Node* node : both()) {
    const auto start = std::chrono::steady_clock::now();
    node->transport.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  }
}

TEST_P(Links, ToANameAreResolved) {
  OpenPair();
  const std::string endpoint = a().transport->endpoint();
  const std::string name = "tcp://localhost" + endpoint.substr(endpoint.rfind(':'));
  b().settings.dial = {{a().key(), name}};
  b().transport.reset();
  b().Open();
  Meet();
  EXPECT_EQ(b().transport->dials().at(0).address, name);
}

bool HasIpv6() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const auto* any_port = reinterpret_cast<const sockaddr*>(&address);
  const bool has = fd >= 0 && ::bind(fd, any_port, sizeof address) == 0;
  if (fd >= 0) ::close(fd);
  return has;
}

TEST_P(Links, ComeUpOverIpv6) {
  if (!HasIpv6()) GTEST_SKIP() << "no IPv6 here";
  nodes_ = MakeNodes(2, GetParam());
  a().settings.listen = "tcp://[::1]:0";
  a().Open();
  b().settings.dial = {{a().key(), a().transport->endpoint()}};
  b().Open();
  Meet();
  EXPECT_NE(a().transport->endpoint().find("[::1]"), std::string::npos);
}

TEST_P(Links, AreFairToAPeerBesideAFlood) {
  nodes_ = MakeNodes(3, GetParam());
  Node& listener = a();
  listener.settings.credit = 4096;  // a flood within what it was granted
  listener.Open();
  std::vector<Node*> all;
  for (auto& node : nodes_) {
    if (node.get() != &listener) {
      node->settings.dial = {{listener.key(), listener.transport->endpoint()}};
      node->Open();
    }
    all.push_back(node.get());
  }
  Node& flood = *nodes_[1];
  Node& honest = *nodes_[2];
  ASSERT_TRUE(Drive(all, [&] { return flood.sink.up.size() == 1 && honest.sink.up.size() == 1; }));
  std::optional<std::size_t> before;  // frames of the flood ahead of the honest one
  std::size_t flooded = 0;
  listener.sink.on_frame = [&](LinkId, ByteView frame) {
    if (frame.size() == 100) before = flooded;
    ++flooded;
  };
  for (int i = 0; i < 32; ++i) Say(flood, flood.only(), transport::kMaxBody);
  Say(honest, honest.only(), 36);
  ASSERT_TRUE(Drive(all, [&] {
    Say(flood, flood.only(), transport::kMaxBody);
    return before || flooded > 5000;
  }));
  ASSERT_TRUE(before);
  EXPECT_LT(*before, 500u);
}

TEST(Transport, PausesBetweenAttemptsGrow) {
  auto nodes = MakeNodes(2, false);
  nodes[0]->Open();
  nodes[1]->settings.dial = {{nodes[0]->key(), nodes[0]->transport->endpoint()}};
  nodes[0]->transport.reset();  // nobody listens there any more
  nodes[1]->Open();
  std::uint64_t attempts = 0;
  auto last = std::chrono::steady_clock::now();
  EXPECT_TRUE(Drive(
      {nodes[1].get()},
      [&] {
        const auto now = std::chrono::steady_clock::now();
        const bool grown = attempts >= 3 && now - last >= std::chrono::milliseconds(500);
        if (std::exchange(attempts, nodes[1]->transport->counters().dial_attempts) != attempts) {
          last = now;
        }
        return grown;
      }))
      << attempts << " attempts";
}

TEST(Transport, WakesFromAnotherThread) {
  auto nodes = MakeNodes(1, false);
  nodes[0]->Open();
  std::thread other([&] { nodes[0]->transport->Wake(); });
  nodes[0]->transport->Poll(nodes[0]->sink, kNever);
  other.join();
}

TEST(Transport, WithoutListeningDialsOnly) {
  auto nodes = MakeNodes(2, true);
  nodes[0]->Open();
  nodes[1]->settings.listen.clear();
  nodes[1]->settings.dial = {{nodes[0]->key(), nodes[0]->transport->endpoint()}};
  nodes[1]->Open();
  EXPECT_EQ(nodes[1]->transport->endpoint(), "");
  EXPECT_TRUE(
      Drive({nodes[0].get(), nodes[1].get()}, [&] { return nodes[1]->sink.up.size() == 1; }));
}

TEST(Transport, ListensOnEveryInterface) {
  auto nodes = MakeNodes(1, true);
  nodes[0]->settings.listen = "tcp://*:0";
  nodes[0]->Open();
  EXPECT_NE(nodes[0]->transport->endpoint().find(':'), std::string::npos);
}

TEST(Transport, SaysWhyItCanNotOpen) {
  auto nodes = MakeNodes(2, true);
  nodes[0]->Open();
  Settings settings = nodes[1]->settings;
  settings.listen = nodes[0]->transport->endpoint();
  auto opened = ZmqTransport::Open(settings);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCantCreate);
  EXPECT_NE(opened.error().Format().find(settings.listen), std::string::npos);
  EXPECT_NE(opened.error().what.find("in use"), std::string::npos) << opened.error().Format();
  EXPECT_NE(opened.error().hint.find("another port"), std::string::npos);

  settings.listen = "tcp://192.0.2.77:0";  // TEST-NET-1, nobody's
  opened = ZmqTransport::Open(settings);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().hint.find("no interface"), std::string::npos) << opened.error().Format();

  settings.listen = "udp://127.0.0.1:0";
  opened = ZmqTransport::Open(settings);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kConfig);

  settings.listen = "tcp://127.0.0.1:0";
  settings.dial = {{settings.keys.public_key, "tcp://127.0.0.1:9"}};
  opened = ZmqTransport::Open(settings);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().Format().find("own"), std::string::npos);
}

}  // namespace
}  // namespace covey::transport_zmq
