// Life of a link: hello, refusals, pings, time-outs, ends.
#include "covey/session/session.h"

#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace covey::session {
namespace {

using namespace std::chrono_literals;
using consensus::MessageKind;
using test::CarryAll;
using test::KeyOf;
using test::MessageOf;
using test::Pair;
using test::PayloadOf;
using test::SessionSettings;
using wire::FrameKind;
using wire::Reason;

TEST(Session, TheDiallingSideSaysHelloFirst) {
  Pair pair(SessionSettings(1, 16), SessionSettings(2, 16));
  EXPECT_EQ(pair.a.host.sent.size(), 1u);
  EXPECT_TRUE(pair.b.host.sent.empty());
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.a.session->state(), State::kReady);
  EXPECT_EQ(pair.b.session->state(), State::kReady);
  EXPECT_EQ(pair.a.session->peer().key, KeyOf(2));
  EXPECT_EQ(pair.b.session->peer().software, "covey test");
  EXPECT_EQ(pair.a.host.ready, 1);
  EXPECT_EQ(pair.b.host.ready, 1);
  EXPECT_EQ(pair.a.counters.frames_out, 1u);
  EXPECT_EQ(pair.b.counters.frames_out, 1u);
}

TEST(Session, WithoutAuthenticationTheHelloNamesThePeer) {
  Pair pair(SessionSettings(1, 16), SessionSettings(2, 16), false);
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.b.session->peer().key, KeyOf(1));
  EXPECT_EQ(pair.b.session->state(), State::kReady);
}

TEST(Session, AnotherModelIsRefusedOnBothSides) {
  Settings other = SessionSettings(2, 16);
  other.model = test::DigestOf(201);
  other.model_summary = "mlp 12-64-4";
  Pair pair(SessionSettings(1, 16), other);
  CarryAll(pair.a, pair.b);
  for (test::Side* side : {&pair.a, &pair.b}) {
    EXPECT_EQ(side->session->state(), State::kRefused);
    EXPECT_EQ(side->host.ready, 0);
    ASSERT_EQ(side->host.refused.size(), 1u);
    EXPECT_EQ(side->host.refused[0].first, Reason::kModel);
    EXPECT_NE(side->host.refused[0].second.find("mlp 12-64-4 against 12-32-4"), std::string::npos);
  }
  EXPECT_EQ(pair.b.Rejected(Reason::kModel), 1u);
  EXPECT_EQ(pair.a.counters.nacks[static_cast<std::size_t>(Reason::kModel)], 1u);
}

TEST(Session, ARefusedLinkExchangesNothingAndEndsAfterAWhile) {
  Settings other = SessionSettings(2, 16);
  other.fleet = test::DigestOf(101);
  Pair pair(SessionSettings(1, 16), other);
  CarryAll(pair.a, pair.b);
  wire::Envelope begin;
  begin.kind = FrameKind::kBegin;
  pair.b.Frame(test::FrameOf(begin, {}));
  EXPECT_EQ(pair.b.AllRejected(), 1u);
  pair.b.session->Tick(other.refused_for - 1ns);
  EXPECT_EQ(pair.b.session->state(), State::kRefused);
  EXPECT_EQ(pair.b.session->NextDeadline(), other.refused_for);
  pair.b.session->Tick(other.refused_for);
  EXPECT_EQ(pair.b.session->state(), State::kClosed);
}

TEST(Session, AKeyThatTheTransportDidNotAuthenticateClosesTheLink) {
  Pair pair(SessionSettings(1, 16), SessionSettings(2, 16));
  test::Side b(SessionSettings(2, 16), false, KeyOf(3));
  Carry(pair.a, b);
  EXPECT_EQ(b.session->state(), State::kClosed);
  EXPECT_EQ(b.Rejected(Reason::kKey), 1u);
  EXPECT_TRUE(b.Last(FrameKind::kNack));
  EXPECT_TRUE(b.Last(FrameKind::kBye));
  EXPECT_EQ(b.host.ready, 0);
}

TEST(Session, ASecondHelloWithAnotherKeyClosesTheLink) {
  Pair pair(SessionSettings(1, 16), SessionSettings(2, 16), false);
  CarryAll(pair.a, pair.b);
  Settings impostor = SessionSettings(3, 16);
  impostor.session = SessionId{1001};
  test::Side other(impostor, true, std::nullopt);
  other.session->Start();
  Carry(other, pair.b);
  EXPECT_EQ(pair.b.Rejected(Reason::kKey), 1u);
  EXPECT_EQ(pair.b.session->state(), State::kClosed);
}

TEST(Session, AHelloOfAnotherSessionOnTheSameLinkClosesIt) {
  Pair pair(16);
  Settings restarted = SessionSettings(1, 16);
  restarted.session = SessionId{77};
  test::Side other(restarted, true, KeyOf(2));
  other.session->Start();
  Carry(other, pair.b);
  EXPECT_EQ(pair.b.Rejected(Reason::kSession), 1u);
  EXPECT_EQ(pair.b.session->state(), State::kClosed);
}

TEST(Session, JoinIsAskedByARepeatedHello) {
  Pair pair(16);
  EXPECT_EQ(pair.b.host.joins, 0);
  pair.a.session->AskToJoin(Time{});
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.b.host.joins, 1);
  EXPECT_EQ(pair.b.session->state(), State::kReady);
  EXPECT_EQ(pair.a.counters.frames_in, 1u);  // no hello answers the second one
}

TEST(Session, JoinInQuickSuccessionIsCounted) {
  Pair pair(16);
  const Duration every = pair.b.settings.join_every;
  for (const Time now : {Time{}, every - 1ns, every}) {
    pair.b.now = now;
    pair.a.session->AskToJoin(now);
    CarryAll(pair.a, pair.b);
  }
  EXPECT_EQ(pair.b.host.joins, 2);
  EXPECT_EQ(pair.b.Rejected(Reason::kTooOften), 1u);
}

TEST(Session, TheFirstHelloMayAskToo) {
  wire::Hello hello;
  hello.key = KeyOf(1);
  hello.session = SessionId{1001};
  hello.fleet = test::DigestOf(100);
  hello.model = test::DigestOf(200);
  hello.join = true;
  test::Side b(SessionSettings(2, 16), false, KeyOf(1));
  wire::Envelope envelope;
  envelope.session = hello.session;
  envelope.fleet = hello.fleet.Prefix();
  envelope.model = hello.model.Prefix();
  b.Frame(test::FrameOf(envelope, b.codec.Encode(hello)));
  EXPECT_EQ(b.host.ready, 1);
  EXPECT_EQ(b.host.joins, 1);
}

TEST(Session, NothingComesBeforeHello) {
  for (const FrameKind kind : {FrameKind::kBegin, FrameKind::kChunk, FrameKind::kCredit,
                               FrameKind::kPing, FrameKind::kPong, static_cast<FrameKind>(99)}) {
    test::Side b(SessionSettings(2, 16), false, KeyOf(1));
    wire::Envelope envelope;
    envelope.kind = kind;
    b.Frame(test::FrameOf(envelope, {}));
    EXPECT_EQ(b.Rejected(Reason::kNoHello), 1u);
    EXPECT_EQ(b.session->state(), State::kClosed);
  }
}

TEST(Session, WithoutHelloTheLinkEnds) {
  test::Side b(SessionSettings(2, 16), false, KeyOf(1));
  EXPECT_EQ(b.session->NextDeadline(), b.settings.hello_timeout);
  b.session->Tick(b.settings.hello_timeout - 1ns);
  EXPECT_EQ(b.session->state(), State::kWaiting);
  b.session->Tick(b.settings.hello_timeout);
  EXPECT_EQ(b.session->state(), State::kClosed);
  EXPECT_EQ(b.counters.timeouts, 1u);
}

TEST(Session, PingsMeasureTheRoundTrip) {
  Pair pair(16);
  EXPECT_EQ(pair.a.session->NextDeadline(), 5s);
  pair.a.session->Tick(5s);
  ASSERT_TRUE(Carry(pair.a, pair.b));
  ASSERT_TRUE(pair.b.Last(FrameKind::kPong));
  pair.a.now = 5s + 30ms;
  ASSERT_TRUE(Carry(pair.b, pair.a));
  EXPECT_EQ(pair.a.session->rtt(), 30ms);
}

TEST(Session, APongThatAnswersNothingIsIgnored) {
  Pair pair(16);
  wire::Envelope pong;
  pong.kind = FrameKind::kPong;
  pair.a.Frame(test::FrameOf(pong, {}));
  EXPECT_EQ(pair.a.session->rtt(), std::nullopt);
}

TEST(Session, SilenceEndsTheLink) {
  Pair pair(16);
  pair.a.session->Tick(20s - 1ns);
  EXPECT_EQ(pair.a.session->state(), State::kReady);
  pair.a.session->Tick(20s);
  EXPECT_EQ(pair.a.session->state(), State::kClosed);
  EXPECT_EQ(pair.a.counters.timeouts, 1u);
}

TEST(Session, AnAnsweredPingKeepsItUp) {
  Pair pair(16);
  for (Time now = 5s; now <= 60s; now += 5s) {
    pair.a.now = pair.b.now = now;
    pair.a.session->Tick(now);
    CarryAll(pair.a, pair.b);
  }
  EXPECT_EQ(pair.a.session->state(), State::kReady);
}

TEST(Session, ByeCloses) {
  Pair pair(16);
  pair.a.session->Goodbye("leaving");
  CarryAll(pair.a, pair.b);
  EXPECT_EQ(pair.a.session->state(), State::kClosed);
  EXPECT_EQ(pair.b.session->state(), State::kClosed);
}

TEST(Session, ALostLinkCloses) {
  Pair pair(16);
  pair.a.host.gone = true;
  pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 1, PayloadOf(16)));
  EXPECT_EQ(pair.a.session->state(), State::kClosed);
  EXPECT_EQ(pair.a.session->TakeUnsent().messages.size(), 1u);
}

TEST(Session, AnUnknownKindOfFrameIsIgnored) {
  Pair pair(16);
  wire::Envelope later;
  later.kind = static_cast<FrameKind>(200);
  pair.b.Frame(test::FrameOf(later, {}));
  EXPECT_EQ(pair.b.Rejected(Reason::kFrameKind), 1u);
  EXPECT_EQ(pair.b.session->state(), State::kReady);
  EXPECT_TRUE(pair.b.host.sent.empty());
}

TEST(Session, MalformedFramesCloseTheLink) {
  Pair pair(16);
  pair.b.Frame(std::vector<std::byte>(10));
  EXPECT_EQ(pair.b.Rejected(Reason::kMalformed), 1u);
  EXPECT_EQ(pair.b.session->state(), State::kClosed);
}

TEST(Session, StructuredBodiesAboveTheLimitAreNotParsed) {
  for (const FrameKind kind : {FrameKind::kHello, FrameKind::kBegin, FrameKind::kNack}) {
    Pair pair(16);
    wire::Envelope envelope;
    envelope.kind = kind;
    pair.b.Frame(test::FrameOf(envelope, std::vector<std::byte>(wire::kMaxStructuredBody + 1)));
    EXPECT_EQ(pair.b.Rejected(Reason::kTooLarge), 1u);
    EXPECT_EQ(pair.b.session->state(), State::kClosed);
  }
}

TEST(Session, ADamagedHelloClosesTheLinkOnlyWhereSumsAreChecked) {
  for (const bool checksum : {true, false}) {
    Pair pair(SessionSettings(1, 16), SessionSettings(2, 16));
    Settings settings = SessionSettings(2, 16);
    settings.checksum = checksum;
    test::Side b(settings, false, KeyOf(1));
    std::vector<std::byte> frame = pair.a.host.sent.front();
    frame[44] ^= std::byte{1};
    b.Frame(frame);
    EXPECT_EQ(b.Rejected(Reason::kChecksum), checksum ? 1u : 0u);
    EXPECT_EQ(b.session->state(), checksum ? State::kClosed : State::kReady);
    EXPECT_TRUE(b.host.refused.empty());  // damage is no refusal: the link is dialled again at once
  }
}

TEST(Session, NoBitOfAHelloCanBeDamagedUnseen) {
  Pair pair(SessionSettings(1, 16), SessionSettings(2, 16));
  const std::vector<std::byte> whole = pair.a.host.sent.front();
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    test::Side b(SessionSettings(2, 16), false, std::nullopt);
    std::vector<std::byte> frame = whole;
    frame[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    b.Frame(frame);
    EXPECT_EQ(b.session->state(), State::kClosed) << bit;
    EXPECT_EQ(b.AllRejected(), 1u) << bit;
  }
}

}  // namespace
}  // namespace covey::session
