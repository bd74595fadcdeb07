// The gates before the FIFO. Each case is a valid message with one thing wrong; it is counted under
// its own reason, answered, and changes nothing: the next valid message arrives.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "covey/session/session.h"
#include "support/session_fixture.h"

namespace covey::session {
namespace {

using namespace std::chrono_literals;
using consensus::MessageKind;
using test::Pair;
using test::PayloadOf;
using test::SessionSettings;
using wire::FrameKind;
using wire::Reason;

constexpr std::size_t kThreeChunks = 600;  // 2400 bytes: chunks of 1024, 1024, 352

Settings Small(std::uint8_t number) {
  Settings settings = SessionSettings(number, kThreeChunks);
  settings.max_chunk = 1024;
  settings.credit = 4;
  return settings;
}

// A victim (b) that is ready, and the frames of one message of node 1 that can be bent before they
// arrive.
struct Attack {
  Attack() : pair(Small(1), Small(2)) {
    CarryAll(pair.a, pair.b);
    begin.total = kThreeChunks * sizeof(float);
    begin.chunk = 1024;
    envelope.fleet = test::DigestOf(100).Prefix();
    envelope.model = test::DigestOf(200).Prefix();
    envelope.session = SessionId{1001};
    envelope.exchange = ExchangeId{7};
    envelope.count = 3;
  }

  void SendBegin() {
    wire::Envelope header = envelope;
    header.kind = FrameKind::kBegin;
    pair.b.Frame(test::FrameOf(header, pair.b.codec.Encode(begin)));
  }
  void SendChunk(std::uint32_t index) {
    wire::Envelope header = envelope;
    header.kind = FrameKind::kChunk;
    header.index = index;
    const std::size_t from = index * 1024;
    pair.b.Frame(test::FrameOf(header, payload->view().subspan(from, index < 2 ? 1024 : 352)));
  }
  void SendAll() {
    SendBegin();
    for (std::uint32_t i = 0; i < 3; ++i) SendChunk(i);
  }
  void MakeDeltas() { begin.kind = MessageKind::kDeltas; }
  void BendToPartialCopy() {
    begin.segment.count = 2;
    envelope.flags |= wire::kFlagCopy;
  }
  void SetFloat(std::size_t index, float value) {
    auto changed = std::make_shared<AlignedBuffer>(payload->size());
    std::memcpy(changed->data(), payload->data(), payload->size());
    std::memcpy(changed->data() + index * sizeof(float), &value, sizeof value);
    payload = changed;
  }

  // Counted once under its reason, answered so, nothing delivered or held, and the link still
  // works.
  void ExpectRejected(Reason reason) {
    EXPECT_EQ(pair.b.Rejected(reason), 1u) << wire::Name(reason);
    EXPECT_EQ(pair.b.AllRejected(), 1u);
    EXPECT_TRUE(pair.b.host.delivered.empty());
    EXPECT_EQ(pair.b.host.reserved, 0u);
    EXPECT_EQ(pair.b.session->state(), State::kReady);
    const auto nack = pair.b.Last(FrameKind::kNack);
    EXPECT_TRUE(nack && nack->exchange == ExchangeId{7});
    for (const std::vector<std::byte>& frame : pair.b.host.sent) {
      if (wire::Decode(frame)->kind != FrameKind::kNack) continue;
      EXPECT_EQ(pair.b.codec.DecodeNack(ByteView(frame).subspan(64))->reason, reason);
    }
    envelope = Attack().envelope;
    begin = Attack().begin;
    payload = PayloadOf(kThreeChunks);
    envelope.exchange = ExchangeId{8};
    SendAll();
    EXPECT_EQ(pair.b.host.delivered.size(), 1u);
  }

  Pair pair;
  wire::Envelope envelope;
  wire::Begin begin;
  SharedBuffer payload = PayloadOf(kThreeChunks);
};

TEST(Gates, TheUnbentMessageArrives) {
  Attack attack;
  attack.SendAll();
  EXPECT_EQ(attack.pair.b.AllRejected(), 0u);
  ASSERT_EQ(attack.pair.b.host.delivered.size(), 1u);
  EXPECT_TRUE(test::SameBytes(attack.pair.b.host.delivered[0].payload, attack.payload));
}

TEST(Gates, WrongFleetModelSessionVersion) {
  const std::pair<Reason, std::function<void(Attack&)>> cases[] = {
      {Reason::kFleet, [](Attack& a) { ++a.envelope.fleet; }},
      {Reason::kModel, [](Attack& a) { ++a.envelope.model; }},
      {Reason::kSession, [](Attack& a) { ++a.envelope.session.value; }},
      {Reason::kVersion, [](Attack& a) { ++a.envelope.version; }},
  };
  for (const auto& [reason, bend] : cases) {
    Attack attack;
    bend(attack);
    attack.SendAll();
    attack.ExpectRejected(reason);
  }
}

TEST(Gates, WrongBegin) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::pair<Reason, std::function<void(Attack&)>> cases[] = {
      {Reason::kMessageKind, [](Attack& a) { a.begin.kind = static_cast<MessageKind>(3); }},
      {Reason::kMessageKind, [](Attack& a) { a.begin.kind = static_cast<MessageKind>(0); }},
      {Reason::kEncoding, [](Attack& a) { a.begin.encoding = static_cast<tensor::Encoding>(9); }},
      {Reason::kEncoding, [](Attack& a) { a.begin.encoding = tensor::Encoding::kTopK; }},
      {Reason::kSize, [](Attack& a) { a.begin.encoding = tensor::Encoding::kFloat16; }},
      {Reason::kSize, [](Attack& a) { a.begin.total -= 4; }},
      {Reason::kSize, [](Attack& a) { a.begin.total += 4; }},
      {Reason::kSize, [](Attack& a) { a.begin.total = 0; }},
      {Reason::kSize, [](Attack& a) { a.begin.total = UINT64_MAX; }},
      {Reason::kSize, [](Attack& a) { a.begin.segment.count = 2; }},
      {Reason::kSegment, [](Attack& a) { a.begin.segment.index = 1; }},
      {Reason::kSegment, [](Attack& a) { a.begin.segment.count = 257; }},
      {Reason::kSegment, [](Attack& a) { a.begin.segment.count = 0; }},
      {Reason::kSegment, [](Attack& a) { a.BendToPartialCopy(); }},
      {Reason::kChunks, [](Attack& a) { a.envelope.count = 2; }},
      {Reason::kChunks, [](Attack& a) { a.envelope.count = 4; }},
      {Reason::kChunks, [](Attack& a) { a.begin.chunk = 0; }},
      {Reason::kChunks, [](Attack& a) { a.begin.chunk = 1025; }},
      {Reason::kChunks, [](Attack& a) { a.begin.chunk = 800; }},
      {Reason::kGamma, [](Attack& a) { a.begin.gamma_max = 0; }},
      {Reason::kGamma, [](Attack& a) { a.begin.gamma_max = -0.5f; }},
      {Reason::kGamma, [](Attack& a) { a.begin.gamma_max = 1.001f; }},
      {Reason::kGamma, [nan](Attack& a) { a.begin.gamma_max = nan; }},
      {Reason::kUnsolicited, [](Attack& a) { a.MakeDeltas(); }},
      {Reason::kRepeated,
       [](Attack& a) {
         a.MakeDeltas();
         a.pair.b.host.expected[ExchangeId{7}] = Expected::kAnswered;
       }},
      {Reason::kBusy, [](Attack& a) { a.pair.b.host.budget = 2399; }},
  };
  for (const auto& [reason, bend] : cases) {
    Attack attack;
    bend(attack);
    attack.SendBegin();
    EXPECT_EQ(attack.pair.b.host.reserved, 0u) << wire::Name(reason);
    for (std::uint32_t i = 0; i < 3; ++i) attack.SendChunk(i);
    attack.pair.b.host.budget = 2400;
    attack.ExpectRejected(reason);
  }
}

TEST(Gates, TheEdgesOfGammaPass) {
  for (const float gamma : {1.0f, std::numeric_limits<float>::min()}) {
    Attack attack;
    attack.begin.gamma_max = gamma;
    attack.SendAll();
    EXPECT_EQ(attack.pair.b.host.delivered.size(), 1u);
  }
}

TEST(Gates, SolicitedDeltasPass) {
  Attack attack;
  attack.MakeDeltas();
  attack.pair.b.host.expected[ExchangeId{7}] = Expected::kYes;
  attack.SendAll();
  ASSERT_EQ(attack.pair.b.host.delivered.size(), 1u);
  EXPECT_EQ(attack.pair.b.host.delivered[0].kind, MessageKind::kDeltas);
  EXPECT_EQ(attack.pair.b.counters.deltas_in, 1u);
}

TEST(Gates, DeltasAnsweredMeanwhileOverAnotherLinkAreRepeated) {
  Attack attack;
  attack.MakeDeltas();
  attack.pair.b.host.expected[ExchangeId{7}] = Expected::kYes;
  attack.SendBegin();
  attack.SendChunk(0);
  attack.SendChunk(1);
  attack.pair.b.host.expected[ExchangeId{7}] = Expected::kAnswered;
  attack.SendChunk(2);
  attack.ExpectRejected(Reason::kRepeated);
}

TEST(Gates, NotFinite) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const std::size_t index : {std::size_t{0}, std::size_t{300}, kThreeChunks - 1}) {
      Attack attack;
      attack.SetFloat(index, value);
      attack.SendAll();
      attack.ExpectRejected(Reason::kNotFinite);
    }
  }
}

TEST(Gates, DamagedBodies) {
  Attack attack;
  attack.SendBegin();
  attack.SendChunk(0);
  wire::Envelope header = attack.envelope;
  header.kind = FrameKind::kChunk;
  header.index = 1;
  std::vector<std::byte> frame = test::FrameOf(header, attack.payload->view().subspan(1024, 1024));
  frame[500] ^= std::byte{16};
  attack.pair.b.Frame(frame);
  attack.SendChunk(2);
  attack.ExpectRejected(Reason::kChecksum);
}

TEST(Gates, DamagedHeaders) {
  // Magic, version 0 and length make a frame malformed, which ends the link.
  for (std::size_t byte = 5; byte < wire::kEnvelopeSize; byte = byte == 39 ? 44 : byte + 1) {
    for (const unsigned bit : {0u, 7u}) {
      Attack attack;
      attack.SendBegin();
      attack.SendChunk(0);
      wire::Envelope header = attack.envelope;
      header.kind = FrameKind::kChunk;
      header.index = 1;
      std::vector<std::byte> frame =
          test::FrameOf(header, attack.payload->view().subspan(1024, 1024));
      frame[byte] ^= static_cast<std::byte>(1u << bit);
      attack.pair.b.Frame(frame);
      EXPECT_EQ(attack.pair.b.Rejected(Reason::kChecksum), 1u) << byte;
      attack.SendChunk(2);
      EXPECT_TRUE(attack.pair.b.host.delivered.empty()) << byte;
      EXPECT_EQ(attack.pair.b.session->state(), State::kReady) << byte;
    }
  }
}

TEST(Gates, DamagedCreditAndNackSayNothing) {
  Pair pair(16);
  for (const FrameKind kind : {FrameKind::kCredit, FrameKind::kNack, FrameKind::kBye}) {
    wire::Envelope envelope;
    envelope.kind = kind;
    const wire::Nack nack{Reason::kModel, std::nullopt, {}};
    std::vector<std::byte> frame = test::FrameOf(
        envelope, kind == FrameKind::kNack ? pair.b.codec.Encode(nack) : std::vector<std::byte>());
    frame[30] ^= std::byte{1};
    pair.b.Frame(frame);
    EXPECT_EQ(pair.b.session->state(), State::kReady);
  }
  EXPECT_EQ(pair.b.Rejected(Reason::kChecksum), 3u);
}

TEST(Gates, ADamagedBegin) {
  Attack attack;
  wire::Envelope header = attack.envelope;
  header.kind = FrameKind::kBegin;
  std::vector<std::byte> frame = test::FrameOf(header, attack.pair.b.codec.Encode(attack.begin));
  frame[70] ^= std::byte{1};
  attack.pair.b.Frame(frame);
  for (std::uint32_t i = 0; i < 3; ++i) attack.SendChunk(i);
  attack.ExpectRejected(Reason::kChecksum);
}

TEST(Gates, ABeginThatIsNone) {
  Attack attack;
  wire::Envelope header = attack.envelope;
  header.kind = FrameKind::kBegin;
  attack.pair.b.Frame(test::FrameOf(header, std::vector<std::byte>(3)));
  attack.ExpectRejected(Reason::kMalformed);
}

TEST(Gates, ChunksWithoutBegin) {
  Attack attack;
  for (std::uint32_t i = 0; i < 3; ++i) attack.SendChunk(i);
  attack.ExpectRejected(Reason::kNoTransfer);
}

TEST(Gates, ChunksOutOfOrder) {
  for (const auto& order : std::vector<std::vector<std::uint32_t>>{{0, 2, 1}, {1, 0, 2}}) {
    Attack attack;
    attack.SendBegin();
    for (const std::uint32_t index : order) attack.SendChunk(index);
    attack.ExpectRejected(Reason::kOrder);
  }
}

TEST(Gates, AChunkOfAnotherFleet) {
  Attack attack;
  attack.SendBegin();
  ++attack.envelope.fleet;
  attack.SendChunk(0);
  attack.ExpectRejected(Reason::kFleet);
}

TEST(Gates, ABeginBeforeTheEndOfTheLastMessage) {
  Attack attack;
  attack.SendBegin();
  attack.SendChunk(0);
  attack.SendBegin();
  EXPECT_EQ(attack.pair.b.Rejected(Reason::kUnfinished), 1u);
  EXPECT_EQ(attack.pair.b.host.reserved, 2400u);
  for (std::uint32_t i = 0; i < 3; ++i) attack.SendChunk(i);
  EXPECT_EQ(attack.pair.b.host.delivered.size(), 1u);
}

TEST(Gates, MoreChunksThanGrantedCloseTheLink) {
  Attack attack;
  attack.pair.b.host.room = 0;  // no report leaves
  for (int i = 0; i < 4; ++i) attack.SendChunk(0);
  EXPECT_EQ(attack.pair.b.session->state(), State::kReady);
  attack.SendChunk(0);
  EXPECT_EQ(attack.pair.b.Rejected(Reason::kCredit), 1u);
  EXPECT_EQ(attack.pair.b.session->state(), State::kClosed);
}

TEST(Gates, CreditForChunksNeverSentClosesTheLink) {
  Attack attack;
  attack.envelope.kind = FrameKind::kCredit;
  attack.envelope.index = 0;
  attack.pair.b.Frame(test::FrameOf(attack.envelope, {}));
  EXPECT_EQ(attack.pair.b.session->state(), State::kReady);
  attack.envelope.index = 1;
  attack.pair.b.Frame(test::FrameOf(attack.envelope, {}));
  EXPECT_EQ(attack.pair.b.Rejected(Reason::kCredit), 1u);
  EXPECT_EQ(attack.pair.b.session->state(), State::kClosed);
}

TEST(Gates, CreditOfAnotherFleetCounts) {
  Attack attack;
  attack.envelope.kind = FrameKind::kCredit;
  ++attack.envelope.fleet;
  attack.pair.b.Frame(test::FrameOf(attack.envelope, {}));
  EXPECT_EQ(attack.pair.b.Rejected(Reason::kFleet), 1u);
}

TEST(Gates, ATransferThatStopsIsFreedAtItsDeadline) {
  Attack attack;
  attack.SendBegin();
  attack.SendChunk(0);
  wire::Envelope ping = attack.envelope;
  ping.kind = FrameKind::kPing;
  for (Time now = 10s; now < 60s; now += 10s) {
    attack.pair.b.now = now;
    attack.pair.b.Frame(test::FrameOf(ping, {}));
    attack.pair.b.session->Tick(now);
  }
  attack.pair.b.session->Tick(60s - 1ns);
  EXPECT_EQ(attack.pair.b.host.reserved, 2400u);
  attack.pair.b.session->Tick(60s);
  EXPECT_EQ(attack.pair.b.counters.timeouts, 1u);
  attack.pair.b.now = 60s;
  attack.ExpectRejected(Reason::kUnfinished);
}

TEST(Gates, ATransferThatDripsIsFreed) {
  Attack attack;
  attack.pair.b.settings.slowest = ByteCount{100};
  attack.SendBegin();
  attack.pair.b.now = 59s;
  attack.SendChunk(0);  // 1024 bytes: enough for ten seconds beyond the first minute
  for (Time now : {65s, 70s}) {
    attack.pair.b.now = now;
    attack.pair.b.session->Tick(now);
    EXPECT_TRUE(attack.pair.b.host.reserved > 0);
  }
  attack.pair.b.now = 71s;
  attack.pair.b.session->Tick(71s);
  EXPECT_EQ(attack.pair.b.Rejected(Reason::kUnfinished), 1u);
  EXPECT_EQ(attack.pair.b.host.reserved, 0u);
}

TEST(Gates, TheEndOfALinkFreesItsTransfer) {
  Attack attack;
  attack.SendBegin();
  attack.SendChunk(0);
  EXPECT_EQ(attack.pair.b.host.reserved, 2400u);
  attack.pair.b.session->Close("gone");
  EXPECT_EQ(attack.pair.b.host.reserved, 0u);
}

TEST(Gates, ANackThatIsNoneClosesTheLink) {
  Attack attack;
  attack.envelope.kind = FrameKind::kNack;
  attack.pair.b.Frame(test::FrameOf(attack.envelope, std::vector<std::byte>(1)));
  EXPECT_EQ(attack.pair.b.Rejected(Reason::kMalformed), 1u);
}

}  // namespace
}  // namespace covey::session
