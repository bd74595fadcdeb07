// Why something of a peer was refused: the reason of a NACK, and the index of a counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace covey::wire {

// Values stand in NACK bodies: never reuse one; append only.
enum class Reason : std::uint8_t {
  kUnknown = 0,  // a reason of a later version
  kBusy =
      1,  // the receiver has no room now: its FIFO evicted the message, or its buffers are in use
  kMalformed = 2,  // envelope or structured body that can't be read
  kTooLarge = 3,   // structured body above kMaxStructuredBody
  kVersion = 4,    // no common protocol version, or a frame of another one than agreed
  kFleet = 5,      // another fleet
  kModel = 6,      // another model
  kKey = 7,   // hello names another key than the transport authenticated, or than an earlier hello
  kSelf = 8,  // our own key: we dialled ourselves
  kNotAllowed = 9,    // key outside the allow-list
  kNoHello = 10,      // anything before hello
  kSession = 11,      // frame of another session than hello's
  kFrameKind = 12,    // kind of frame that we don't know; ignored
  kChecksum = 13,     // CRC-32C of the body differs
  kMessageKind = 14,  // neither WEIGHTS nor DELTAS
  kEncoding = 15,     // unknown encoding
  kSize = 16,         // total length is not that of our vector
  kChunks = 17,       // chunk size or count that don't fit the total length
  kGamma = 18,        // gamma_max outside (0, 1]
  kUnsolicited = 19,  // DELTAS for an exchange that we did not begin with this peer, or gave up
  kRepeated = 20,     // DELTAS for an exchange that is answered
  kNoTransfer = 21,   // CHUNK without BEGIN
  kOrder = 22,        // CHUNK out of order, or differing from its BEGIN
  kCredit = 23,       // more chunks than granted, or credit for chunks never sent
  kNotFinite = 24,    // a value that is not finite
  kUnfinished = 25,   // transfer given up by its sender, or too slow
  kTooOften = 26,     // requests to join in quick succession
  // Made at home, never sent:
  kReplaced = 27,  // our own newer WEIGHTS to the same peer took its place
  kLinkLost = 28,  // the link went down, or was down, before the message left
  // Sent again:
  kData = 29,     // samples are normalised differently, or classes have other names
  kSegment = 30,  // no segment of our vector
  kCount
};

inline constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kCount);

// Returns: the name in metrics and logs ("busy", "not_finite"); "unknown" for values beyond kCount.
std::string_view Name(Reason reason);

}  // namespace covey::wire
