// What tests of sessions share: settings, a host that records, hand-made frames.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/session/session.h"
#include "support/plain_codec.h"

namespace covey::test {

inline PeerKey KeyOf(std::uint8_t number) {
  PeerKey key;
  key.bytes.fill(number);
  return key;
}

inline Digest DigestOf(std::uint8_t number) {
  Digest digest;
  digest.bytes.fill(number);
  return digest;
}

// Node `number` of fleet 100 with model 200.
inline session::Settings SessionSettings(std::uint8_t number, std::size_t vector_size) {
  session::Settings settings;
  settings.self = KeyOf(number);
  settings.session = SessionId{1000u + number};
  settings.fleet = DigestOf(100);
  settings.model = DigestOf(200);
  settings.model_summary = "mlp 12-32-4";
  settings.software = "covey test";
  settings.vector_size = vector_size;
  return settings;
}

// A payload of n floats that depends on `seed`.
inline SharedBuffer PayloadOf(std::size_t n, std::uint32_t seed = 1) {
  auto buffer = std::make_shared<AlignedBuffer>(n * sizeof(float));
  for (std::size_t i = 0; i < n; ++i) {
    const float value = static_cast<float>((i * 31 + seed * 17) % 1009) * 0.25f;
    std::memcpy(buffer->data() + i * sizeof(float), &value, sizeof value);
  }
  return buffer;
}

inline bool SameBytes(const SharedBuffer& a, const SharedBuffer& b) {
  return a->size() == b->size() && std::memcmp(a->data(), b->data(), a->size()) == 0;
}

inline consensus::Message MessageOf(consensus::MessageKind kind, std::uint64_t exchange,
                                    SharedBuffer payload) {
  consensus::Message message;
  message.kind = kind;
  message.exchange = ExchangeId{exchange};
  message.payload = std::move(payload);
  return message;
}

// Out of line: inlined with sizes that it knows, g++ 12 warns of copies that can't happen.
[[gnu::noinline]] inline std::vector<std::byte> Joined(ByteView header, ByteView body) {
  std::vector<std::byte> frame(header.begin(), header.end());
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

// A whole frame; body length and CRC are put in.
inline std::vector<std::byte> FrameOf(wire::Envelope envelope, ByteView body) {
  envelope.body_length = static_cast<std::uint32_t>(body.size());
  envelope.crc = wire::Checksum(wire::Encode(envelope), body);
  const wire::EnvelopeBytes header = wire::Encode(envelope);
  return Joined(header, body);
}

class RecordingHost final : public session::Host {
 public:
  struct Nacked {
    consensus::MessageKind kind;
    ExchangeId exchange;
    wire::Reason reason;
  };

  transport::SendResult SendFrame(transport::LinkId, ByteView header, ByteView body) override {
    if (sent.size() >= room) return transport::SendResult::kFull;
    if (gone) return transport::SendResult::kGone;
    sent.push_back(Joined(header, body));
    return transport::SendResult::kSent;
  }
  session::Expected Expects(const PeerKey&, ExchangeId exchange) override {
    const auto found = expected.find(exchange);
    return found == expected.end() ? session::Expected::kNo : found->second;
  }
  bool Reserve(std::size_t bytes) override {
    if (reserved + bytes > budget) return false;
    reserved += bytes;
    return true;
  }
  void Release(std::size_t bytes) override { reserved -= bytes; }
  void OnInterrupted(session::Session&, session::Incoming arrived) override {
    if (keeps_parts) {
      DropPart();
      held.part = std::move(arrived);
    } else {
      Release(static_cast<std::size_t>(arrived.begin().total));
    }
  }
  session::Held TakeHeld(session::Session&, consensus::MessageKind kind,
                         ExchangeId exchange) override {
    if (held.part &&
        (held.part->begin().kind != kind || held.part->envelope().exchange != exchange)) {
      return {};
    }
    return std::exchange(held, session::Held());
  }
  void DropPart() {
    if (held.part) Release(static_cast<std::size_t>(held.part->begin().total));
    held = session::Held();
  }
  void OnReady(session::Session&) override { ++ready; }
  void OnRefused(session::Session&, wire::Reason reason, const std::string& text) override {
    refused.emplace_back(reason, text);
  }
  void OnRejected(session::Session&, wire::Reason reason) override { rejected.push_back(reason); }
  void OnJoinAsked(session::Session&) override { ++joins; }
  void OnMessage(session::Session&, consensus::Message message) override {
    delivered.push_back(std::move(message));
  }
  void OnNacked(session::Session&, consensus::MessageKind kind, ExchangeId exchange,
                wire::Reason reason) override {
    nacked.push_back(Nacked{kind, exchange, reason});
  }
  void OnTold(session::Session&, wire::Membership membership) override {
    told.push_back(std::move(membership));
  }

  std::deque<std::vector<std::byte>> sent;
  std::size_t room = 1000000;
  bool gone = false;
  std::size_t budget = 1ull << 40;
  std::size_t reserved = 0;
  std::map<ExchangeId, session::Expected> expected;
  int ready = 0;
  int joins = 0;
  std::vector<wire::Reason> rejected;
  std::vector<std::pair<wire::Reason, std::string>> refused;
  std::vector<consensus::Message> delivered;
  std::vector<Nacked> nacked;
  bool keeps_parts = false;
  session::Held held;
  std::vector<wire::Membership> told;
};

// One session with its host.
struct Side {
  Side(session::Settings with, bool dialled, std::optional<PeerKey> authenticated)
      : settings(std::move(with)) {
    link.id = transport::LinkId{1};
    link.key = authenticated;
    link.dialled = dialled;
    link.address = "memory";
    Relink();
  }

  // A new link in the place of the old one.
  void Relink() {
    if (session) session->Close("lost");
    session =
        std::make_unique<session::Session>(settings, codec, link, host, budget, counters, now);
  }

  void Frame(ByteView frame) { session->OnFrame(now, frame); }
  std::uint64_t Rejected(wire::Reason reason) const { return counters.Rejected(reason); }
  std::uint64_t AllRejected() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counters.rejected) sum += count;
    return sum;
  }
  // The last frame of a kind that was sent.
  std::optional<wire::Envelope> Last(wire::FrameKind kind) const {
    for (auto frame = host.sent.rbegin(); frame != host.sent.rend(); ++frame) {
      const Result<wire::Envelope> envelope = wire::Decode(*frame);
      if (envelope && envelope->kind == kind) return *envelope;
    }
    return std::nullopt;
  }

  PlainCodec codec;
  session::Settings settings;
  transport::LinkInfo link;
  RecordingHost host;
  session::Budget budget{session::BudgetSettings{}};
  session::Counters counters;
  Time now{};
  std::unique_ptr<session::Session> session;
};

// Moves one frame. Returns: whether there was one.
inline bool Carry(Side& from, Side& to) {
  if (from.host.sent.empty()) return false;
  const std::vector<std::byte> frame = std::move(from.host.sent.front());
  from.host.sent.pop_front();
  to.Frame(frame);
  return true;
}

// Moves frames in both directions until none is left.
inline void CarryAll(Side& a, Side& b) {
  for (bool more = true; more;) {
    more = Carry(a, b);
    more = Carry(b, a) || more;
  }
}

// Node 1, which dialled node 2, and node 2.
struct Pair {
  Pair(session::Settings near, session::Settings far, bool authenticated = true)
      : a(near, true, authenticated ? std::optional(far.self) : std::nullopt),
        b(far, false, authenticated ? std::optional(near.self) : std::nullopt) {
    a.session->Start();
    b.session->Start();
  }
  explicit Pair(std::size_t vector_size)
      : Pair(SessionSettings(1, vector_size), SessionSettings(2, vector_size)) {
    CarryAll(a, b);
  }

  Side a;
  Side b;
};

}  // namespace covey::test
