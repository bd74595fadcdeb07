#include "covey/learner/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/links_fixture.h"
#include "unit/learner/links_pair.h"

namespace covey::learner {
namespace {

using namespace std::chrono_literals;
using namespace links_pair;
using test::KeyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Reason;

TEST(Links, PeersComeUpOnceOnBothSides) {
  Two two;
  EXPECT_THAT(two.a.events.Take(), ElementsAre("up 2"));
  EXPECT_THAT(two.b.events.Take(), ElementsAre("up 1"));
  EXPECT_EQ(two.a.links->reachable(), 1u);
}

TEST(Links, AnExchangeGoesThereAndBack) {
  Two two;
  two.a.links->Send(Weights(2, 7));
  two.network.Run();
  ASSERT_EQ(two.b.events.delivered.size(), 1u);
  EXPECT_EQ(two.b.events.delivered[0].peer, KeyOf(1));
  two.b.links->Send(Deltas(1, 7));
  two.network.Run();
  ASSERT_EQ(two.a.events.delivered.size(), 1u);
  EXPECT_EQ(two.a.events.delivered[0].kind, MessageKind::kDeltas);
}

// The sanitizers see it when a session that is still at work is destroyed.
TEST(Links, ALinkMayEndWhileItsMessageIsDelivered) {
  Two two;
  two.b.events.on_delivered = [&two] { two.b.links->Goodbye(); };
  two.a.links->Send(Weights(2, 7));
  two.network.Run();
  EXPECT_EQ(two.b.events.delivered.size(), 1u);
  EXPECT_EQ(two.b.links->reachable(), 0u);
  EXPECT_EQ(two.a.links->reachable(), 0u);
}

TEST(Links, UnsolicitedAndRepeatedDeltasAreCountedAndChangeNothing) {
  Two two;
  two.b.links->Send(Deltas(1, 7));
  two.network.Run();
  EXPECT_EQ(two.a.Rejected(Reason::kUnsolicited), 1u);
  two.a.links->Send(Weights(2, 7));
  two.network.Run();
  for (int i = 0; i < 2; ++i) two.b.links->Send(Deltas(1, 7));
  two.network.Run();
  EXPECT_EQ(two.a.events.delivered.size(), 1u);
  EXPECT_EQ(two.a.Rejected(Reason::kRepeated), 1u);
  EXPECT_THAT(two.a.events.rejected, ElementsAre("02020202 unsolicited", "02020202 repeated"));
}

TEST(Links, MessagesThatWantNoReplyGetNone) {
  for (bool consensus::Message::*const flag :
       {&consensus::Message::no_reply, &consensus::Message::copy}) {
    Two two;
    consensus::Message message = Weights(2, 7);
    message.*flag = true;
    two.a.links->Send(message);
    two.b.links->Send(Deltas(1, 7));
    two.network.Run();
    EXPECT_EQ(two.b.events.delivered.size(), 1u);
    EXPECT_EQ(two.a.Rejected(Reason::kUnsolicited), 1u);
  }
}

TEST(Links, ALateReplyIsUnsolicited) {
  LinkSettings settings = LinkSettingsOf(1, kFloats);
  settings.exchanges_for = 60s;
  Two two(settings);
  two.a.links->Send(Weights(2, 7));
  two.network.Run();
  for (Time now = 5s; now < 61s; now += 5s) two.Tick(now);
  two.Tick(60s + 1ns);
  two.b.links->Send(Deltas(1, 7));
  two.network.Run();
  EXPECT_EQ(two.a.Rejected(Reason::kUnsolicited), 1u);
}

TEST(Links, BusyNacksTheExchangeOnce) {
  Two two;
  two.a.events.Take();
  two.a.links->Send(Weights(2, 7));
  two.network.Run();
  two.b.links->Busy(two.b.events.delivered[0]);
  two.b.links->Busy(two.b.events.delivered[0]);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), ElementsAre("nacked 2 7 busy"));
  EXPECT_EQ(two.b.links->counters().busy, 2u);
  two.b.links->Send(Deltas(1, 7));
  two.network.Run();
  EXPECT_EQ(two.a.Rejected(Reason::kUnsolicited), 1u);
}

TEST(Links, SendingToNobodyIsCountedAndNacked) {
  Two two;
  two.a.events.Take();
  two.a.links->Send(Weights(9, 7));
  two.a.links->Send(Deltas(9, 7));
  EXPECT_THAT(two.a.events.Take(), ElementsAre("nacked 9 7 link_lost"));
  EXPECT_EQ(two.a.links->counters().weights_lost, 1u);
  EXPECT_EQ(two.a.links->counters().deltas_lost, 1u);
}

TEST(Links, WithTwoLinksBothSidesUseTheOneOfTheSmallerKey) {
  Two two;
  const auto second = two.network.Dial(two.b.port, two.a.port);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), ElementsAre("up 2"));
  EXPECT_THAT(two.b.events.Take(), ElementsAre("up 1"));
  ASSERT_EQ(two.a.links->peers().size(), 1u);
  EXPECT_TRUE(two.a.links->peers()[0].dialled);  // node 1 dialled it
  EXPECT_FALSE(two.b.links->peers()[0].dialled);
  two.network.Cut(two.link.first);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), IsEmpty());  // still up over the other
  EXPECT_FALSE(two.a.links->peers()[0].dialled);
  two.a.links->Send(Weights(2, 1));
  two.network.Run();
  EXPECT_EQ(two.b.events.delivered.size(), 1u);
  two.network.Cut(second.first);
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(), ElementsAre("down 2"));
}

TEST(Links, AForeignModelNeverComesUp) {
  LinkSettings other = LinkSettingsOf(2, kFloats);
  other.session.model = test::DigestOf(201);
  other.session.model_summary = "mlp 12-64-4";
  Two two(LinkSettingsOf(1, kFloats), other);
  EXPECT_THAT(two.a.events.Take(),
              ElementsAre("refused model: peer refused us: mlp 12-64-4 against 12-32-4"));
  EXPECT_THAT(two.b.events.Take(), ElementsAre("refused model: mlp 12-64-4 against 12-32-4"));
  EXPECT_EQ(two.a.links->reachable(), 0u);
  ASSERT_EQ(two.a.links->peers().size(), 1u);
  EXPECT_EQ(two.a.links->peers()[0].state, session::State::kRefused);
}

TEST(Links, SelfConnectIsRefused) {
  MemoryNetwork network;
  LinksNode a(network, LinkSettingsOf(1, kFloats));
  network.Dial(a.port, a.port);
  network.Run();
  EXPECT_EQ(a.Rejected(Reason::kSelf), 1u);
  EXPECT_EQ(a.links->reachable(), 0u);
}

TEST(Links, AReadyLinkThatIsRefusedLaterIsDown) {
  Two two;
  wire::Envelope envelope;
  envelope.kind = wire::FrameKind::kNack;
  const wire::Nack nack{Reason::kNotAllowed, std::nullopt, "no longer"};
  two.network.Inject(two.link.first, test::FrameOf(envelope, two.a.codec.Encode(nack)));
  two.network.Run();
  EXPECT_THAT(two.a.events.Take(),
              ElementsAre("up 2", "refused not_allowed: peer refused us: no longer", "down 2"));
}

TEST(Links, JoinIsAskedOfAPeer) {
  Two two;
  two.a.links->AskToJoin(KeyOf(9));  // not up: nothing happens
  two.a.links->AskToJoin(KeyOf(2));
  two.network.Run();
  EXPECT_THAT(two.b.events.Take(), ElementsAre("up 1", "join 1"));
}

TEST(Links, GoodbyeEndsAllLinks) {
  Two two;
  two.a.links->Goodbye();
  two.network.Run();
  EXPECT_THAT(two.b.events.Take(), ElementsAre("up 1", "down 1"));
  EXPECT_THAT(two.a.events.Take(), ElementsAre("up 2"));
  EXPECT_EQ(two.a.links->reachable(), 0u);
  two.network.Dial(two.a.port, two.b.port);  // too late
  two.network.Run();
  EXPECT_EQ(two.a.links->peers().size(), 0u);
}

TEST(Links, LinksAreBounded) {
  LinkSettings settings = LinkSettingsOf(2, kFloats);
  settings.max_links = 2;
  MemoryNetwork network;
  LinksNode b(network, settings);
  std::vector<std::unique_ptr<LinksNode>> others;
  for (std::uint8_t number = 10; number < 15; ++number) {
    others.push_back(std::make_unique<LinksNode>(network, LinkSettingsOf(number, kFloats)));
    network.Dial(others.back()->port, b.port);
  }
  network.Run();
  EXPECT_EQ(b.links->reachable(), 2u);
  EXPECT_EQ(b.links->counters().links_refused, 3u);
}

TEST(Links, DroppedMessagesAreCountedAndNeverLeave) {
  LinkSettings settings = LinkSettingsOf(1, kFloats);
  settings.faults.weights_drop = 1;
  Two two(settings);
  two.a.events.Take();
  for (std::uint64_t i = 1; i <= 5; ++i) two.a.links->Send(Weights(2, i));
  two.network.Run();
  EXPECT_EQ(two.a.links->counters().faults.weights_dropped, 5u);
  EXPECT_TRUE(two.b.events.delivered.empty());
  EXPECT_THAT(two.a.events.Take(), IsEmpty());  // a lost message is noticed by nobody
}

TEST(Links, DoubledMessagesArriveTwiceAndDoubledDeltasOnce) {
  LinkSettings settings = LinkSettingsOf(1, kFloats);
  settings.faults.duplicate = 1;
  LinkSettings second = LinkSettingsOf(2, kFloats);
  second.faults.duplicate = 1;
  Two two(settings, second);
  two.a.links->Send(Weights(2, 1));
  two.network.Run();
  EXPECT_EQ(two.b.events.delivered.size(), 2u);
  two.b.links->Send(Deltas(1, 1));
  two.network.Run();
  EXPECT_EQ(two.a.events.delivered.size(), 1u);
}

TEST(Links, DelayedMessagesLeaveInTime) {
  LinkSettings settings = LinkSettingsOf(1, kFloats);
  settings.faults.delay = 30ms;
  settings.max_delayed = 2;
  Two two(settings);
  for (std::uint64_t i = 1; i <= 3; ++i) two.a.links->Send(Deltas(2, i));
  EXPECT_EQ(two.a.links->counters().delayed_lost, 1u);
  EXPECT_EQ(two.a.links->Tick(), 30ms);
  two.Tick(30ms - 1ns);
  EXPECT_EQ(two.b.links->counters().session.frames_in, 1u);
  two.Tick(30ms);
  EXPECT_EQ(two.a.links->counters().session.deltas_out, 2u);
}

TEST(Links, TheReassemblyBudgetIsSharedButOneMessageAlwaysFits) {
  LinkSettings settings = LinkSettingsOf(9, 1024);
  settings.reassembly = ByteCount{1};
  MemoryNetwork network;
  LinksNode receiver(network, settings);
  std::vector<std::unique_ptr<LinksNode>> senders;
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    LinkSettings sender = LinkSettingsOf(number, 1024);
    sender.session.max_chunk = 1024;
    senders.push_back(std::make_unique<LinksNode>(network, sender));
    network.Dial(senders.back()->port, receiver.port);
  }
  network.Run();
  for (auto& sender : senders) {
    sender->links->Send(To(9, MessageOf(MessageKind::kWeights, 1, PayloadOf(1024))));
  }
  network.Run();  // round robin: both transfers would be under way together
  EXPECT_EQ(receiver.events.delivered.size(), 1u);
  EXPECT_EQ(receiver.Rejected(Reason::kBusy), 1u);
}

TEST(Links, TickSaysWhenItIsNeededNext) {
  Two two;
  EXPECT_EQ(two.a.links->Tick(), 5s);
  MemoryNetwork network;
  LinksNode alone(network, LinkSettingsOf(1, kFloats));
  EXPECT_EQ(alone.links->Tick(), kNever);
}

TEST(LinkSettings, AreChecked) {
  EXPECT_TRUE(Validate(LinkSettingsOf(1, 1)).has_value());
  EXPECT_FALSE(Validate(LinkSettingsOf(1, 0)).has_value());
  for (std::size_t LinkSettings::*const limit :
       {&LinkSettings::max_links, &LinkSettings::max_exchanges, &LinkSettings::max_delayed}) {
    LinkSettings settings = LinkSettingsOf(1, 1);
    settings.*limit = 0;
    EXPECT_FALSE(Validate(settings).has_value());
  }
  LinkSettings settings = LinkSettingsOf(1, 1);
  settings.exchanges_for = 0s;
  EXPECT_FALSE(Validate(settings).has_value());
  settings = LinkSettingsOf(1, 1);
  settings.faults.corrupt = 2;
  EXPECT_FALSE(Validate(settings).has_value());
}

}  // namespace
}  // namespace covey::learner
