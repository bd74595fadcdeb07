// Two nodes and thousands of random calls: every delivered message equals one that was sent, an
// exchange ends at most once, memory stays bounded, and the same seed gives the same run.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/links_fixture.h"

namespace covey::learner {
namespace {

using consensus::Message;
using consensus::MessageKind;
using test::KeyOf;
using test::LinkSettingsOf;
using test::LinksNode;
using test::MemoryNetwork;
using test::MessageOf;
using test::PayloadOf;
using test::To;

constexpr std::size_t kFloats = 900;  // 4 chunks

LinkSettings Drawn(std::uint8_t number, Stream& stream) {
  LinkSettings settings = LinkSettingsOf(number, kFloats);
  settings.session.max_chunk = 1024;
  settings.session.credit = static_cast<std::uint32_t>(1 + stream.Below(6));
  settings.session.deltas_queue = 1 + stream.Below(4);
  settings.seed = stream.Next64();
  settings.faults.weights_drop = 0.2;
  settings.faults.deltas_drop = 0.2;
  settings.faults.duplicate = 0.2;
  settings.faults.delay = std::chrono::milliseconds(stream.Below(20));
  return settings;
}

struct Episode {
  Episode(std::uint32_t seed, bool byte_faults) : stream(6, seed, Purpose::kTest) {
    network.authenticated = stream.Chance(0.5);
    network.capacity = 1 + static_cast<std::size_t>(stream.Below(30));
    for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
      LinkSettings settings = Drawn(number, stream);
      if (byte_faults) {
        settings.faults.corrupt = 0.02;
        settings.faults.cut = 0.01;
        settings.faults.throttle = ByteCount{200000};
      }
      nodes.push_back(std::make_unique<LinksNode>(network, settings));
    }
    network.Dial(nodes[0]->port, nodes[1]->port);
  }

  void Turn() {
    now += std::chrono::microseconds(stream.Below(2000));
    for (auto& node : nodes) node->links->SetTime(now);
    const std::size_t from = static_cast<std::size_t>(stream.Below(2));
    LinksNode& node = *nodes[from];
    const auto other = static_cast<std::uint8_t>(2 - from);
    const std::uint64_t choice = stream.Below(100);
    if (choice < 10) {
      SendWeights(from, other);
    } else if (choice < 12) {
      node.links->Tick();
    } else if (choice < 13) {
      const std::size_t dialler = static_cast<std::size_t>(stream.Below(2));
      network.Dial(nodes[dialler]->port, nodes[1 - dialler]->port);
    } else {
      network.Step(stream);
      Answer();
    }
  }

  void SendWeights(std::size_t from, std::uint8_t other) {
    const std::uint64_t exchange = (from + 1) * 1000000 + ++sent;
    const SharedBuffer payload = PayloadOf(kFloats, static_cast<std::uint32_t>(sent % 50));
    sent_to[{other, exchange, MessageKind::kWeights}] = payload;
    nodes[from]->links->Send(To(other, MessageOf(MessageKind::kWeights, exchange, payload)));
  }

  // Checks what arrived; answers WEIGHTS with DELTAS, some of them with BUSY.
  void Answer() {
    for (std::size_t at = 0; at < 2; ++at) {
      const auto self = static_cast<std::uint8_t>(at + 1);
      const auto other = static_cast<std::uint8_t>(2 - at);
      for (const Message& message : std::exchange(nodes[at]->events.delivered, {})) {
        ++arrived;
        ASSERT_EQ(message.peer, KeyOf(other));
        const auto found = sent_to.find({self, message.exchange.value, message.kind});
        ASSERT_NE(found, sent_to.end());
        ASSERT_TRUE(test::SameBytes(message.payload, found->second));
        if (message.kind == MessageKind::kDeltas) {
          ASSERT_TRUE(ended.insert(message.exchange.value).second);
        } else if (stream.Chance(0.1)) {
          nodes[at]->links->Busy(message);
        } else {
          const SharedBuffer reply = PayloadOf(kFloats, 77);
          sent_to[{other, message.exchange.value, MessageKind::kDeltas}] = reply;
          Message deltas = MessageOf(MessageKind::kDeltas, message.exchange.value, reply);
          nodes[at]->links->Send(To(other, deltas));
        }
      }
      for (const std::string& line : nodes[at]->events.Take()) {
        trace =
            Crc32c(ByteView(reinterpret_cast<const std::byte*>(line.data()), line.size()), trace);
        if (line.rfind("nacked", 0) != 0) continue;
        const std::uint64_t exchange = std::stoull(line.substr(9));
        ASSERT_TRUE(ended.insert(exchange).second) << line;
      }
    }
  }

  Stream stream;
  MemoryNetwork network;
  std::vector<std::unique_ptr<LinksNode>> nodes;
  std::map<std::tuple<std::uint8_t, std::uint64_t, MessageKind>, SharedBuffer> sent_to;
  std::set<std::uint64_t> ended;  // exchanges that were answered or given up
  Time now{};
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  std::uint32_t trace = 0;
};

TEST(LinksProperty, EveryDeliveredMessageWasSent) {
  std::uint64_t arrived = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Episode run(seed, false);
    for (int turn = 0; turn < 1500; ++turn) {
      run.Turn();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " turn " << turn;
    }
    arrived += run.arrived;
    ASSERT_LE(run.network.peak_bytes, 4u * run.network.capacity * (1024 + 64));
  }
  EXPECT_GT(arrived, 3000u);
}

TEST(LinksProperty, AlsoWhenBytesAreDamagedAndLinksCut) {
  std::uint64_t arrived = 0;
  for (std::uint32_t seed = 100; seed < 160; ++seed) {
    Episode run(seed, true);
    for (int turn = 0; turn < 1500; ++turn) {
      run.Turn();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " turn " << turn;
    }
    arrived += run.arrived;
  }
  EXPECT_GT(arrived, 1000u);
}

TEST(LinksProperty, TheSameSeedGivesTheSameRun) {
  for (std::uint32_t seed = 200; seed < 205; ++seed) {
    Episode first(seed, true);
    Episode second(seed, true);
    for (int turn = 0; turn < 1000; ++turn) {
      first.Turn();
      second.Turn();
    }
    EXPECT_EQ(first.trace, second.trace);
    EXPECT_EQ(first.arrived, second.arrived);
    EXPECT_EQ(first.network.frames, second.network.frames);
  }
}

}  // namespace
}  // namespace covey::learner
