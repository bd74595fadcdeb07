// A script of frames into one session: invariants hold and memory stays bounded whatever a peer
// sends.
//
// Input, one step after another: a byte that says what comes, then its operands.
//   0..7  a frame of kind 1..8 whose fields are valid but for those that the next byte (a bit set)
//   spoils
//   8     raw frame: a length byte and that many bytes
//   9     time goes on by the next byte, in seconds
//   10    the transport takes no frames / takes them again
//   11    the owner sends WEIGHTS
//   12    the owner expects (or no longer expects) DELTAS
//   13    the link breaks and another one to the same peer comes up; parts of messages are kept
// A BEGIN whose spoiling byte has its highest bit set goes on with a message.
#include <cstdint>
#include <vector>

#include "covey/base/check.h"
#include "support/session_fixture.h"

namespace covey {
namespace {

constexpr std::size_t kFloats = 600;  // 3 chunks of 1 KiB
constexpr std::size_t kModelBytes = kFloats * sizeof(float);

struct Script {
  const std::uint8_t* at;
  const std::uint8_t* end;

  bool empty() const { return at == end; }
  std::uint8_t Next() { return empty() ? std::uint8_t{0} : *at++; }
};

session::Settings Victim() {
  session::Settings settings = test::SessionSettings(2, kFloats);
  settings.max_chunk = 1024;
  settings.credit = 4;
  return settings;
}

// What an honest peer of the victim would send next, in the order of a message.
struct Peer {
  std::uint32_t next = 0;  // chunk

  std::vector<std::byte> Body(const test::PlainCodec& codec, wire::FrameKind kind, bool spoiled,
                              std::uint8_t spoil) {
    if (kind == wire::FrameKind::kHello) {
      wire::Hello hello;
      hello.key = test::KeyOf(spoiled ? 2 : 1);
      hello.session = SessionId{1001};
      hello.fleet = test::DigestOf(100);
      hello.model = test::DigestOf((spoil & 64) != 0 ? 201 : 200);
      hello.max_chunk = 1024;
      hello.credit = 2;
      hello.join = (spoil & 32) != 0;
      return codec.Encode(hello);
    }
    if (kind == wire::FrameKind::kBegin) {
      if ((spoil & 128) == 0) next = 0;
      wire::Begin begin;
      begin.kind = static_cast<consensus::MessageKind>((spoil & 32) != 0 ? 2 : 1);
      begin.total = spoiled ? spoil * 1000000007ull : kModelBytes;
      begin.chunk = 1024;
      begin.gamma_max = (spoil & 64) != 0 ? 2.0f : 0.5f;
      return codec.Encode(begin);
    }
    if (kind == wire::FrameKind::kNack) {
      wire::Nack nack;
      nack.reason = static_cast<wire::Reason>(spoil % wire::kReasons);
      if (spoiled) nack.kind = consensus::MessageKind::kWeights;
      return codec.Encode(nack);
    }
    if (kind == wire::FrameKind::kChunk) {
      const std::size_t size = next < 2 ? 1024 : kModelBytes - 2048;
      return std::vector<std::byte>(spoiled ? size / 2 : size,
                                    static_cast<std::byte>((spoil & 64) != 0 ? 0xff : 0));
    }
    return {};
  }

  std::vector<std::byte> Frame(const test::PlainCodec& codec, std::uint8_t what,
                               std::uint8_t spoil) {
    wire::Envelope envelope;
    envelope.kind = static_cast<wire::FrameKind>(what + 1);
    const std::vector<std::byte> body = Body(codec, envelope.kind, (spoil & 1) != 0, spoil);
    envelope.fleet = test::DigestOf((spoil & 2) != 0 ? 101 : 100).Prefix();
    envelope.model = test::DigestOf(200).Prefix();
    if (envelope.kind == wire::FrameKind::kHello && (spoil & 64) != 0) {
      envelope.model = test::DigestOf(201).Prefix();
    }
    envelope.session = SessionId{(spoil & 4) != 0 ? 7u : 1001u};
    envelope.exchange = ExchangeId{(spoil & 8) != 0 ? 8u : 7u};
    envelope.count = 3;
    if (envelope.kind == wire::FrameKind::kChunk) {
      envelope.index = (spoil & 16) != 0 ? spoil : next;
      next = next == 2 ? 0 : next + 1;
    }
    if (envelope.kind == wire::FrameKind::kCredit) envelope.index = spoil >> 4;
    if (envelope.kind == wire::FrameKind::kBegin && (spoil & 128) != 0) {
      envelope.flags = wire::kFlagResume;
    }
    return test::FrameOf(envelope, body);
  }
};

void CheckInvariants(const test::Side& side) {
  // What arrives, and the part of an earlier link.
  COVEY_CHECK(side.host.reserved <= 2 * kModelBytes, side.host.reserved);
  const std::size_t kept = side.host.held.part ? kModelBytes : 0;
  COVEY_CHECK(side.session->state() == session::State::kReady || side.host.reserved == kept);
  COVEY_CHECK(side.host.ready <= 1);
  for (const consensus::Message& message : side.host.delivered) {
    COVEY_CHECK(message.payload->size() == kModelBytes);
    COVEY_CHECK(tensor::AllFinite(message.encoding, message.payload->view(), kFloats));
    COVEY_CHECK(message.peer == test::KeyOf(1));
    COVEY_CHECK(message.gamma_max > 0 && message.gamma_max <= 1);
  }
  if (side.host.ready == 0) COVEY_CHECK(side.host.delivered.empty());
}

void Step(test::Side& side, Peer& peer, Script& script) {
  const auto what = static_cast<std::uint8_t>(script.Next() % 14);
  if (what < 8) {
    side.Frame(peer.Frame(side.codec, what, script.Next()));
  } else if (what == 8) {
    std::vector<std::byte> frame(script.Next());
    for (std::byte& byte : frame) byte = static_cast<std::byte>(script.Next());
    side.Frame(frame);
  } else if (what == 9) {
    side.now += std::chrono::seconds(script.Next());
    side.session->Tick(side.now);
    COVEY_CHECK(side.session->NextDeadline() >= side.now ||
                side.session->state() == session::State::kClosed);
  } else if (what == 10) {
    side.host.room = side.host.room == 0 ? 1000000 : 0;
  } else if (what == 11 && side.session->state() == session::State::kReady) {
    side.session->Enqueue(side.now, test::MessageOf(consensus::MessageKind::kWeights, script.Next(),
                                                    test::PayloadOf(kFloats)));
  } else if (what == 12) {
    session::Expected& expected = side.host.expected[ExchangeId{7}];
    expected = expected == session::Expected::kYes ? session::Expected::kAnswered
                                                   : session::Expected::kYes;
  } else if (what == 13) {
    side.Relink();
    side.session->Start();
    side.host.ready = 0;
  }
}

}  // namespace
}  // namespace covey

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace covey;
  test::Side side(Victim(), false, std::nullopt);
  side.host.keeps_parts = true;
  side.session->Start();
  Peer peer;
  Script script{data, data + size};
  for (int steps = 0; steps < 500 && !script.empty(); ++steps) {
    const std::size_t before = side.host.sent.size();
    Step(side, peer, script);
    CheckInvariants(side);
    // One step provokes few frames: answers, a report, a model of three chunks under its credit.
    COVEY_CHECK(side.host.sent.size() <= before + 32, side.host.sent.size());
    side.host.delivered.clear();
    if (side.host.room != 0) side.host.sent.clear();
  }
  return 0;
}
