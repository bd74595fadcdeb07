// Strong types for the things that are counted and compared on the wire.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey {

// A node's identity: its CURVE public key. To everything above the transport it is 32 opaque bytes.
struct PeerKey {
  std::array<std::uint8_t, 32> bytes{};

  auto operator<=>(const PeerKey&) const = default;

  std::string Hex() const;    // 64 lower-case hex digits, the form of files and command lines
  std::string Short() const;  // the first 8 of them, the form of logs and tables
  // Errors: kConfig when it is not exactly 64 hex digits.
  static Result<PeerKey> FromHex(std::string_view text);
};

// One WEIGHTS message and the DELTAS that answers it; unique for its sender.
struct ExchangeId {
  std::uint64_t value = 0;
  auto operator<=>(const ExchangeId&) const = default;
};

// One life of one node's process, drawn at its start: tells a restarted peer from the one before.
struct SessionId {
  std::uint64_t value = 0;
  auto operator<=>(const SessionId&) const = default;
};

// SHA-256 (FIPS 180-4): fingerprints of fleets and models, and trailers of files.
struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;

  std::uint64_t Prefix() const;  // the first 8 bytes, little-endian: what frames carry
  std::string Hex() const;
};

}  // namespace covey
