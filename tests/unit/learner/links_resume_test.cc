// What becomes of peers and messages when links end and others come up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "covey/learner/links.h"
#include "unit/learner/links_pair.h"

namespace covey::learner {
namespace {

using namespace std::chrono_literals;
using namespace links_pair;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Reason;

TEST(Links, WhatWaitsOnADyingLinkGoesOverTheOther) {
  Two two;
  two.network.Dial(two.b.port, two.a.port);
  two.network.Run();
  two.network.capacity = 0;  // nothing leaves
  two.a.links->Send(Weights(2, 1));
  two.network.capacity = 1000;
  two.a.events.Take();
  two.network.Cut(two.link.first);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), IsEmpty());
  EXPECT_EQ(two.b.events.delivered.size(), 1u);
}

TEST(Links, WithoutAnotherLinkItIsNacked) {
  Two two;
  two.network.capacity = 0;
  two.a.links->Send(Weights(2, 1));
  two.a.links->Send(Deltas(2, 2));
  two.network.capacity = 1000;
  two.a.events.Take();
  two.network.Cut(two.link.first);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), ElementsAre("down 2", "nacked 2 1 link_lost"));
  EXPECT_EQ(two.a.links->counters().deltas_lost, 0u) << "they wait for the next link";
  two.Tick(60s - 1ns);
  EXPECT_EQ(two.a.links->counters().deltas_lost, 0u);
  two.Tick(60s);
  EXPECT_EQ(two.a.links->counters().deltas_lost, 1u);
}

TEST(Links, DeltasThatWaitGoOverTheNextLinkToTheSameLife) {
  for (const bool same_life : {true, false}) {
    Two two;
    two.a.links->Send(Weights(2, 7));
    two.network.Run();
    two.network.capacity = 0;
    two.b.links->Send(Deltas(1, 7));
    two.network.capacity = 1000;
    two.network.Cut(two.link.first);
    two.network.Run();
    if (same_life) {
      two.network.Dial(two.a.port, two.b.port);
      two.network.Run();
      ASSERT_EQ(two.a.events.delivered.size(), 1u);
      EXPECT_EQ(two.a.events.delivered[0].exchange, ExchangeId{7});
    } else {
      LinkSettings restarted = LinkSettingsOf(1, kFloats);
      restarted.session.session = SessionId{555};
      LinksNode again(two.network, restarted);
      two.network.Dial(again.port, two.b.port);
      two.network.Run();
      EXPECT_EQ(again.Rejected(Reason::kUnsolicited), 0u) << "it did not ask";
      EXPECT_EQ(two.b.links->counters().deltas_lost, 1u);
    }
  }
}

TEST(Links, AnAnswerToAPeerThatHasJustGoneDownWaitsForIt) {
  Two two;
  two.a.links->Send(Weights(2, 7));
  two.network.Run();
  two.network.Cut(two.link.first);
  two.network.Run();
  two.b.links->Send(Deltas(1, 7));
  EXPECT_EQ(two.b.links->counters().deltas_lost, 0u);
  two.network.Dial(two.a.port, two.b.port);
  two.network.Run();
  ASSERT_EQ(two.a.events.delivered.size(), 1u);
  EXPECT_EQ(two.a.events.delivered[0].exchange, ExchangeId{7});
}

TEST(Links, ALostLinkTakesThePeerDown) {
  Two two;
  two.network.Cut(two.link.first);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), ElementsAre("up 2", "down 2"));
  EXPECT_EQ(two.a.links->reachable(), 0u);
  two.network.Dial(two.a.port, two.b.port);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), ElementsAre("up 2"));
}

TEST(Links, ANewerLifeOfAPeerReplacesTheOlder) {
  Two two;
  LinkSettings restarted = LinkSettingsOf(1, kFloats);
  restarted.session.session = SessionId{555};
  LinksNode again(two.network, restarted);
  two.b.events.Take();
  two.network.Dial(again.port, two.b.port);
  two.network.Run();
  EXPECT_THAT(two.b.events.Take(), ElementsAre("down 1", "up 1"));
  ASSERT_EQ(two.b.links->peers().size(), 1u);
  EXPECT_EQ(two.b.links->peers()[0].session, SessionId{555});
  EXPECT_FALSE(two.network.IsOpen(two.link.first));
}

TEST(Links, DialledAnewInOneLifeTakesThePlaceOfTheOldLink) {
  Two two;
  two.network.Dial(two.a.port, two.b.port);
  two.network.Run();
  EXPECT_THAT(two.b.events.Take(), ElementsAre("up 1"));
  EXPECT_FALSE(two.network.IsOpen(two.link.first));
  two.a.links->Send(Weights(2, 1));
  two.network.Run();
  EXPECT_EQ(two.b.events.delivered.size(), 1u);
}

}  // namespace
}  // namespace covey::learner
