// MEMBERSHIP frames, and how links part.
#include <gtest/gtest.h>

#include "covey/session/session.h"
#include "support/session_fixture.h"

namespace covey::session {
namespace {

using namespace std::chrono_literals;
using test::Pair;
using wire::FrameKind;
using wire::Reason;

constexpr std::size_t kFewFloats = 4;

wire::Membership Saying(const std::string& address) {
  wire::Membership membership;
  membership.own_address = address;
  membership.peers = {{test::KeyOf(3), "10.0.0.3:7420", 5s}};
  return membership;
}

// A MEMBERSHIP frame of node 1.
std::vector<std::byte> MembershipFrame(const wire::Membership& membership,
                                       std::uint8_t fleet = 100) {
  wire::Envelope envelope;
  envelope.kind = FrameKind::kMembership;
  envelope.fleet = test::DigestOf(fleet).Prefix();
  envelope.model = test::DigestOf(200).Prefix();
  envelope.session = SessionId{1001};
  return test::FrameOf(envelope, test::PlainCodec().Encode(membership));
}

TEST(Membership, WhatIsToldArrives) {
  Pair pair(kFewFloats);
  pair.a.session->Tell(pair.a.now, Saying("10.0.0.1:7420"));
  CarryAll(pair.a, pair.b);
  ASSERT_EQ(pair.b.host.told.size(), 1u);
  EXPECT_EQ(pair.b.host.told[0], Saying("10.0.0.1:7420"));
}

TEST(Membership, NewerGivesWayToNothingButKeepsTheQuestion) {
  Pair pair(kFewFloats);
  pair.a.host.room = 0;
  wire::Membership asking = Saying("10.0.0.1:1");
  asking.wants_peers = true;
  pair.a.session->Tell(pair.a.now, asking);
  pair.a.session->Tell(pair.a.now, Saying("10.0.0.1:2"));
  pair.a.host.room = 1000;
  pair.a.session->Tick(pair.a.now);
  CarryAll(pair.a, pair.b);
  ASSERT_EQ(pair.b.host.told.size(), 1u);
  EXPECT_EQ(pair.b.host.told[0].own_address, "10.0.0.1:2");
  EXPECT_TRUE(pair.b.host.told[0].wants_peers);
}

TEST(Membership, MoreThanAPeerMaySayIsNotRead) {
  Pair pair(kFewFloats);
  const auto most = static_cast<std::size_t>(kMostTells);
  for (std::size_t i = 0; i < most + 3; ++i) pair.b.Frame(MembershipFrame(Saying("h:1")));
  EXPECT_EQ(pair.b.host.told.size(), most);
  EXPECT_EQ(pair.b.Rejected(Reason::kTooOften), 3u);
  pair.b.now += 1s;
  for (int i = 0; i < 10; ++i) pair.b.Frame(MembershipFrame(Saying("h:1")));
  EXPECT_EQ(pair.b.host.told.size(), most + static_cast<std::size_t>(kTellsPerSecond));
  EXPECT_EQ(pair.b.session->state(), State::kReady);
}

TEST(Membership, OfAnotherFleetIsNotRead) {
  Pair pair(kFewFloats);
  pair.b.Frame(MembershipFrame(Saying("h:1"), 101));
  EXPECT_TRUE(pair.b.host.told.empty());
  EXPECT_EQ(pair.b.Rejected(Reason::kFleet), 1u);
}

TEST(Membership, ThatCannotBeReadEndsTheLink) {
  Pair pair(kFewFloats);
  std::vector<std::byte> frame = MembershipFrame(Saying("h:1"));
  wire::Envelope envelope = *wire::Decode(frame);
  pair.b.Frame(test::FrameOf(envelope, ByteView(frame).subspan(64, 3)));
  EXPECT_EQ(pair.b.Rejected(Reason::kMalformed), 1u);
  EXPECT_EQ(pair.b.session->state(), State::kClosed);
}

TEST(Membership, AboveTheLimitIsNotParsed) {
  Pair pair(kFewFloats);
  wire::Envelope envelope = *wire::Decode(MembershipFrame(Saying("h:1")));
  const std::vector<std::byte> body(wire::kMaxStructuredBody + 1);
  pair.b.Frame(test::FrameOf(envelope, body));
  EXPECT_EQ(pair.b.Rejected(Reason::kTooLarge), 1u);
}

TEST(Membership, BeforeHelloEndsTheLink) {
  Pair pair(test::SessionSettings(1, kFewFloats), test::SessionSettings(2, kFewFloats));
  pair.b.Frame(MembershipFrame(Saying("h:1")));
  EXPECT_EQ(pair.b.Rejected(Reason::kNoHello), 1u);
  EXPECT_TRUE(pair.b.host.told.empty());
}

TEST(Parting, SaysWhetherTheNodeOrTheLinkIsGone) {
  for (const bool leaving : {false, true}) {
    Pair pair(kFewFloats);
    EXPECT_EQ(pair.b.session->parting(), Parting::kLost);
    pair.a.session->Goodbye("enough", leaving);
    CarryAll(pair.a, pair.b);
    EXPECT_EQ(pair.b.session->state(), State::kClosed);
    EXPECT_EQ(pair.b.session->parting(), leaving ? Parting::kLeft : Parting::kClosed);
    EXPECT_EQ(pair.a.session->parting(), Parting::kLost);
  }
}

TEST(Ping, OneThatIsAskedForIsCountedWhenItIsAnswered) {
  Pair pair(kFewFloats);
  pair.a.session->Ping(pair.a.now);
  EXPECT_EQ(pair.a.session->pings(), 1u);
  EXPECT_EQ(pair.a.session->pongs(), 0u);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.a.session->pongs(), 1u);
  EXPECT_EQ(pair.a.session->rtt(), Duration::zero());
  // One that is overtaken by the next is lost.
  pair.a.session->Ping(pair.a.now);
  pair.a.host.sent.clear();
  pair.a.session->Ping(pair.a.now);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.a.session->pings(), 3u);
  EXPECT_EQ(pair.a.session->pongs(), 2u);
}

}  // namespace
}  // namespace covey::session
