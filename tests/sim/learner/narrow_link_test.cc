// Large models over narrow links that break, in virtual time: they arrive, once, and no link is
// taken for dead meanwhile.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/narrow_network.h"

namespace covey::learner {
namespace {

using namespace std::chrono_literals;
using consensus::MessageKind;
using test::KeyOf;
using test::LinkSettingsOf;
using test::MessageOf;
using test::NarrowNetwork;
using test::PayloadOf;
using test::To;
using Node = NarrowNetwork::Node;

constexpr std::size_t kMegabyte = 250'000;  // floats

struct Two {
  Two(std::size_t floats, double rate) : payload(PayloadOf(floats)) {
    a = &network.Add(LinkSettingsOf(1, floats), rate);
    b = &network.Add(LinkSettingsOf(2, floats), rate);
    network.Dial(*a, *b);
    EXPECT_TRUE(
        network.Run(10s, [&] { return a->links->reachable() + b->links->reachable() == 2; }));
  }
  void Weights(Node& from, std::uint8_t to, std::uint64_t exchange) {
    from.Send(To(to, MessageOf(MessageKind::kWeights, exchange, payload)));
  }
  bool Arrives(Node& at, Time until, std::size_t messages = 1) {
    return network.Run(until, [&] { return at.events.delivered.size() >= messages; });
  }
  std::uint64_t Downs() const {
    return a->links->counters().links_down + b->links->counters().links_down;
  }

  NarrowNetwork network;
  SharedBuffer payload;
  Node* a;
  Node* b;
};

// Row 8 of the list of faults: there and back, and no link goes down.
TEST(NarrowLink, AModelOf4MBCrosses100kBASecondAndIsAnswered) {
  Two two(4 * kMegabyte, 1e5);
  two.Weights(*two.a, 2, 1);
  ASSERT_TRUE(two.Arrives(*two.b, 45s));
  EXPECT_TRUE(test::SameBytes(two.b->events.delivered[0].payload, two.payload));
  two.b->Send(To(1, MessageOf(MessageKind::kDeltas, 1, two.payload)));
  ASSERT_TRUE(two.Arrives(*two.a, 90s));
  EXPECT_EQ(two.Downs(), 0u);
  EXPECT_EQ(two.a->links->counters().session.timeouts, 0u);
}

// Each direction is full of models while the reports of the other one pass it: both get their
// rate. 87 s is what the bytes take; reports that come together behind chunks, once taken for a
// faster link, made it 119 s.
TEST(NarrowLink, ModelsOf4MBInBothDirectionsAtOnceArriveAndAreAnswered) {
  Two two(4 * kMegabyte, 1e5);
  two.Weights(*two.a, 2, 1);
  two.network.Run(two.network.now + 7s, [] { return false; });
  two.Weights(*two.b, 1, 2);
  std::vector<double> arrived;
  const std::vector<Node*> nodes = {two.a, two.b};
  std::vector<std::size_t> seen = {0, 0};
  EXPECT_TRUE(two.network.Run(95s, [&] {
    for (std::size_t i = 0; i < 2; ++i) {
      if (nodes[i]->events.delivered.size() == seen[i]) continue;
      ++seen[i];
      arrived.push_back(Seconds(two.network.now));
      if (seen[i] > 1) continue;
      nodes[i]->Send(
          To(i == 0 ? 2 : 1, MessageOf(MessageKind::kDeltas, i == 0 ? 2 : 1, two.payload)));
    }
    return seen[0] == 2 && seen[1] == 2;
  })) << testing::PrintToString(arrived);
  EXPECT_EQ(two.Downs(), 0u);
}

TEST(NarrowLink, AModelOf100MBCrosses100kBASecond) {
  Two two(100 * kMegabyte, 1e5);
  two.Weights(*two.a, 2, 1);
  ASSERT_TRUE(two.Arrives(*two.b, 1040s));
  EXPECT_EQ(two.Downs(), 0u);
}

// Row 9: slower than the largest chunk could bear.
TEST(NarrowLink, AtEightKilobytesASecondBothDirectionsAreBusyAndTheLinkLives) {
  Two two(kMegabyte / 2, 8e3);
  two.Weights(*two.a, 2, 1);
  two.Weights(*two.b, 1, 2);
  ASSERT_TRUE(two.Arrives(*two.b, 80s));
  ASSERT_TRUE(two.Arrives(*two.a, 90s));
  EXPECT_EQ(two.Downs(), 0u);
  EXPECT_LE(*two.network.bodies.rbegin(), 32u * 1024);
}

TEST(NarrowLink, ChunksGrowWithTheLink) {
  Two two(2 * kMegabyte, 1e8);
  for (std::uint64_t i = 1; i <= 2; ++i) {
    two.Weights(*two.a, 2, i);
    ASSERT_TRUE(two.Arrives(*two.b, 10s, i));
  }
  EXPECT_EQ(*two.network.bodies.rbegin(), 256u * 1024);
}

// Row 11: a transfer that breaks a hundred times goes on each time, and its message arrives once.
TEST(NarrowLink, AHundredResetsDuringOneTransferAndItArrivesOnce) {
  Two two(4 * kMegabyte, 1e5);
  Stream stream(5, 0, Purpose::kTest);
  two.Weights(*two.a, 2, 1);
  int resets = 0;
  // The links last for two or three chunks.
  while (!two.Arrives(*two.b, two.network.now + 550ms + 1ms * stream.Below(350)) && resets < 500) {
    two.network.ResetAll(300ms);
    ++resets;
  }
  EXPECT_GE(resets, 100);
  EXPECT_LT(resets, 200);
  two.network.Run(two.network.now + 30s, [] { return false; });
  ASSERT_EQ(two.b->events.delivered.size(), 1u);
  EXPECT_TRUE(test::SameBytes(two.b->events.delivered[0].payload, two.payload));
  EXPECT_GE(two.b->links->counters().session.resumed_in, 90u);
  EXPECT_LT(two.network.bytes, 6'000'000u);
}

TEST(NarrowLink, WithoutTheirPartsResetsWouldNeverEnd) {
  Two two(kMegabyte, 1e5);
  two.Weights(*two.a, 2, 1);
  for (int i = 0; i < 3; ++i) {
    two.network.Run(two.network.now + 4s, [] { return false; });
    two.network.ResetAll(200ms);
  }
  EXPECT_TRUE(two.Arrives(*two.b, two.network.now + 6s)) << "most of it had arrived";
}

TEST(NarrowLink, ANewLifeOfThePeerIsNotTheOneThatWasAsked) {
  Two two(kMegabyte, 1e5);
  two.Weights(*two.a, 2, 1);
  two.network.Run(two.network.now + 3s, [] { return false; });
  LinkSettings again = LinkSettingsOf(2, kMegabyte);
  again.session.session = SessionId{77};
  Node& restarted = two.network.Add(again, 1e5);
  two.network.ResetAll(1000s);
  two.network.Dial(*two.a, restarted);
  two.network.Run(two.network.now + 20s, [] { return false; });
  EXPECT_TRUE(restarted.events.delivered.empty());
  EXPECT_EQ(two.a->links->counters().weights_lost, 1u);
}

TEST(NarrowLink, WhatNobodyGoesOnWithIsForgottenOnBothSides) {
  Two two(kMegabyte, 1e5);
  two.Weights(*two.a, 2, 1);
  two.network.Run(two.network.now + 3s, [] { return false; });
  two.network.ResetAll(1000s);
  two.network.Run(two.network.now + 59s, [] { return false; });
  EXPECT_EQ(two.a->links->counters().weights_lost, 0u);
  two.network.Run(two.network.now + 2s, [] { return false; });
  EXPECT_EQ(two.a->links->counters().weights_lost, 1u);
  const auto& lines = two.a->events.lines;
  EXPECT_NE(std::find(lines.begin(), lines.end(), "nacked 2 1 link_lost"), lines.end());
}

// Five sends at once share the uplink of their node, far ahead of which no link sends, whatever the
// credit: all arrive, and what answers a ping waits less than it takes to drop a link.
TEST(NarrowLink, SendsToFivePeersAtOnceDoNotJamTheUplink) {
  constexpr std::size_t kFloats = kMegabyte / 2;
  NarrowNetwork network;
  Node& sender = network.Add(LinkSettingsOf(1, kFloats), 1e5);
  std::vector<Node*> peers;
  for (std::uint8_t number = 2; number <= 6; ++number) {
    LinkSettings settings = LinkSettingsOf(number, kFloats);
    settings.session.credit = 1000;
    peers.push_back(&network.Add(settings, 1e5));
    network.Dial(*peers.back(), sender);
  }
  ASSERT_TRUE(network.Run(10s, [&] { return sender.links->reachable() == 5; }));
  const SharedBuffer payload = PayloadOf(kFloats);
  for (std::uint8_t number = 2; number <= 6; ++number) {
    sender.Send(To(number, MessageOf(MessageKind::kWeights, number, payload)));
  }
  Duration longest{};  // until what is said now has left
  ASSERT_TRUE(network.Run(60s, [&] {
    longest = std::max(longest, sender.busy_until - network.now);
    return std::all_of(peers.begin(), peers.end(),
                       [](Node* peer) { return peer->events.delivered.size() == 1; });
  }));
  EXPECT_EQ(sender.links->counters().links_down, 0u);
  EXPECT_LT(Seconds(longest), 12.0);
}

}  // namespace
}  // namespace covey::learner
