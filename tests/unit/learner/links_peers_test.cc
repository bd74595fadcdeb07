// What links say about who is there, and how they part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "covey/learner/links.h"
#include "support/links_fixture.h"

namespace covey::learner {
namespace {

using test::KeyOf;
using testing::ElementsAre;

// Nodes 1 and 2; node 1 has dialled node 2.
struct Couple {
  Couple() : a(network, test::LinkSettingsOf(1, 4)), b(network, test::LinkSettingsOf(2, 4)) {
    network.Dial(a.port, b.port);
    network.Run();
  }

  test::MemoryNetwork network;
  test::LinksNode a;
  test::LinksNode b;
};

TEST(LinksOfAFleet, WhatIsToldComesWithTheAddressesThatAreSeen) {
  Couple two;
  two.b.events.Take();
  wire::Membership what;
  what.own_address = "*:7420";
  what.peers = {{KeyOf(3), "10.0.0.3:7420", std::chrono::seconds(5)},
                {KeyOf(4), "127.0.0.1:7420", std::chrono::seconds(5)}};
  two.a.links->Tell(KeyOf(2), what);
  two.a.links->Tell(KeyOf(9), what);  // nobody
  two.network.Run();
  EXPECT_THAT(two.b.events.Take(), ElementsAre("told 1"));
  const wire::Membership& told = two.b.events.told.at(0);
  EXPECT_EQ(told.own_address, "memory:7420") << "what the network in memory calls itself";
  ASSERT_EQ(told.peers.size(), 1u);
  EXPECT_EQ(told.peers[0].key, KeyOf(3));
}

TEST(LinksOfAFleet, HangingUpEndsTheDialledLinkAlone) {
  Couple two;
  two.a.links->HangUp(KeyOf(9));
  two.b.links->HangUp(KeyOf(1));  // b has not dialled it
  two.network.Run();
  EXPECT_EQ(two.a.links->reachable(), 1u);
  two.a.links->HangUp(KeyOf(2));
  two.network.Run();
  EXPECT_EQ(two.a.events.partings, std::vector{session::Parting::kLost});
  EXPECT_EQ(two.b.events.partings, std::vector{session::Parting::kClosed});
}

TEST(LinksOfAFleet, ANodeThatLeavesSaysSo) {
  Couple two;
  two.a.links->Goodbye();
  two.network.Run();
  EXPECT_EQ(two.b.events.partings, std::vector{session::Parting::kLeft});
}

}  // namespace
}  // namespace covey::learner
