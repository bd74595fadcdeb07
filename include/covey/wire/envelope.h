// The first 64 bytes of every frame between peers: enough to refuse a wrong peer before parsing
// anything.
//
// Layout (little-endian, no padding):
//    0 magic "CVY1"   4 version u8       5 kind u8   6 flags u16
//    8 fleet u64     16 session u64     24 exchange u64
//   32 index u32     36 count u32       40 body length u32   44 CRC-32C
//   48 model u64     56 zero u64
// Fields that a kind does not use are zero; receivers ignore them, flags that they don't know, and
// bytes 56..63. The CRC covers the whole frame, its own four bytes being zero; it is 0 where the
// transport authenticates every frame.
//
//   kind      exchange   index                    count             body
//   HELLO     -          -                        -                 Hello
//   BEGIN     id         -                        chunks to follow  Begin
//   CHUNK     id         0, 1, ... count - 1      as in BEGIN       payload, raw
//   CREDIT    - or id    chunks taken since the   moment, or chunks -
//                        link came up, mod 2^32   held of a message
//   NACK      id or 0    -                        -                 Nack
//   PING      nonce      -                        -                 -
//   PONG      its nonce  -                        -                 -
//   BYE       -          -                        -                 -
//   MEMBERS   -          -                        -                 Membership
//
// A CHUNK repeats exchange, count and flags of its BEGIN, but for kFlagResume.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/wire/limits.h"

namespace covey::wire {

// Values stand in frames: never reuse one.
enum class FrameKind : std::uint8_t {
  kHello = 1,
  kBegin = 2,
  kChunk = 3,
  kCredit = 4,
  kNack = 5,
  kPing = 6,
  kPong = 7,
  kBye = 8,
  kMembership = 9,
};

// Returns: "hello", "begin", ...; "unknown" for a value of a later version.
std::string_view Name(FrameKind kind);

// Flags of BEGIN and CHUNK: see consensus::Message.
inline constexpr std::uint16_t kFlagNoReply = 1;
inline constexpr std::uint16_t kFlagCopy = 2;
inline constexpr std::uint16_t kFlagTraining = 4;
// BEGIN: an earlier link broke in the middle of this message; chunks follow once the receiver has
// said how many it holds. CREDIT: says so, in exchange and count.
inline constexpr std::uint16_t kFlagResume = 8;
// Flag of BYE: the sender's node leaves the fleet; without it only this link ends.
inline constexpr std::uint16_t kFlagLeaving = 16;

struct Envelope {
  std::uint8_t version = kProtocolMax;
  FrameKind kind = FrameKind::kHello;  // any value: later versions have kinds that we ignore
  std::uint16_t flags = 0;
  std::uint64_t fleet = 0;  // Digest::Prefix of the fleet
  SessionId session;        // of the sender
  ExchangeId exchange;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint32_t body_length = 0;
  std::uint32_t crc = 0;    // 0 where the transport authenticates
  std::uint64_t model = 0;  // Digest::Prefix of the model fingerprint

  bool operator==(const Envelope&) const = default;
};

using EnvelopeBytes = std::array<std::byte, kEnvelopeSize>;

EnvelopeBytes Encode(const Envelope& envelope);

// Returns: the CRC of a frame with this header, whose own CRC field counts as zero.
std::uint32_t Checksum(const EnvelopeBytes& header, ByteView body);

// Whether a whole frame holds its own CRC. Requires: at least kEnvelopeSize bytes.
bool ChecksumHolds(ByteView frame);

// Reads the header of a whole frame. Never allocates on success.
// Returns: the envelope; its body is frame.subspan(kEnvelopeSize), exactly body_length bytes.
// Errors: kProtocol for a frame shorter than an envelope or longer than kMaxFrame, another magic,
// version 0, or a body length that differs from the frame's. Neither kind nor version is judged
// here.
Result<Envelope> Decode(ByteView frame);

}  // namespace covey::wire
