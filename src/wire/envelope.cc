#include "covey/wire/envelope.h"

#include <algorithm>
#include <string>

namespace covey::wire {
namespace {

constexpr std::uint32_t kMagic = 0x31595643;  // "CVY1"
constexpr std::size_t kCrcAt = 44;

tl::unexpected<Error> Malformed(std::string what) {
  return Fail(ErrorCode::kProtocol, "frame", std::move(what));
}

}  // namespace

std::string_view Name(FrameKind kind) {
  switch (kind) {
    case FrameKind::kHello:
      return "hello";
    case FrameKind::kBegin:
      return "begin";
    case FrameKind::kChunk:
      return "chunk";
    case FrameKind::kCredit:
      return "credit";
    case FrameKind::kNack:
      return "nack";
    case FrameKind::kPing:
      return "ping";
    case FrameKind::kPong:
      return "pong";
    case FrameKind::kBye:
      return "bye";
    case FrameKind::kMembership:
      return "membership";
  }
  return "unknown";
}

EnvelopeBytes Encode(const Envelope& envelope) {
  EnvelopeBytes bytes{};
  std::byte* at = bytes.data();
  StoreLittle<std::uint32_t>(at, kMagic);
  StoreLittle<std::uint8_t>(at + 4, envelope.version);
  StoreLittle<std::uint8_t>(at + 5, static_cast<std::uint8_t>(envelope.kind));
  StoreLittle<std::uint16_t>(at + 6, envelope.flags);
  StoreLittle<std::uint64_t>(at + 8, envelope.fleet);
  StoreLittle<std::uint64_t>(at + 16, envelope.session.value);
  StoreLittle<std::uint64_t>(at + 24, envelope.exchange.value);
  StoreLittle<std::uint32_t>(at + 32, envelope.index);
  StoreLittle<std::uint32_t>(at + 36, envelope.count);
  StoreLittle<std::uint32_t>(at + 40, envelope.body_length);
  StoreLittle<std::uint32_t>(at + kCrcAt, envelope.crc);
  StoreLittle<std::uint64_t>(at + 48, envelope.model);
  return bytes;
}

std::uint32_t Checksum(const EnvelopeBytes& header, ByteView body) {
  EnvelopeBytes plain = header;
  StoreLittle<std::uint32_t>(plain.data() + kCrcAt, 0);
  return Crc32c(body, Crc32c(plain));
}

bool ChecksumHolds(ByteView frame) {
  EnvelopeBytes header;
  std::copy_n(frame.begin(), kEnvelopeSize, header.begin());
  return LoadLittle<std::uint32_t>(frame.data() + kCrcAt) ==
         Checksum(header, frame.subspan(kEnvelopeSize));
}

Result<Envelope> Decode(ByteView frame) {
  if (frame.size() < kEnvelopeSize || frame.size() > kMaxFrame) {
    return Malformed(std::to_string(frame.size()) + " bytes, wanted " +
                     std::to_string(kEnvelopeSize) + " to " + std::to_string(kMaxFrame));
  }
  const std::byte* at = frame.data();
  if (LoadLittle<std::uint32_t>(at) != kMagic) return Malformed("not a Covey frame");
  Envelope envelope;
  envelope.version = LoadLittle<std::uint8_t>(at + 4);
  envelope.kind = static_cast<FrameKind>(LoadLittle<std::uint8_t>(at + 5));
  envelope.flags = LoadLittle<std::uint16_t>(at + 6);
  envelope.fleet = LoadLittle<std::uint64_t>(at + 8);
  envelope.session.value = LoadLittle<std::uint64_t>(at + 16);
  envelope.exchange.value = LoadLittle<std::uint64_t>(at + 24);
  envelope.index = LoadLittle<std::uint32_t>(at + 32);
  envelope.count = LoadLittle<std::uint32_t>(at + 36);
  envelope.body_length = LoadLittle<std::uint32_t>(at + 40);
  envelope.crc = LoadLittle<std::uint32_t>(at + kCrcAt);
  envelope.model = LoadLittle<std::uint64_t>(at + 48);
  if (envelope.version == 0) return Malformed("version 0");
  if (envelope.body_length != frame.size() - kEnvelopeSize) {
    return Malformed("announces a body of " + std::to_string(envelope.body_length) +
                     " bytes, has " + std::to_string(frame.size() - kEnvelopeSize));
  }
  return envelope;
}

}  // namespace covey::wire
