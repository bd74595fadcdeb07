// What nodes tell each other about who is there: the body of a MEMBERSHIP frame.
//
// Written and read by wire_pb/membership.h (proto/covey/v1/peer.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/time.h"

namespace covey::wire {

// Peers in one body: 16 with addresses of 100 bytes stay below kMaxStructuredBody.
inline constexpr std::size_t kMaxToldPeers = 16;
inline constexpr std::size_t kMaxPeerAddress = 120;
// Signed records of who may take part (membership/invitation.h) in one body.
inline constexpr std::size_t kMaxToldRecords = 16;
inline constexpr std::size_t kToldRecordBytes = 2048;  // all of them
// An age beyond this is as good as this.
inline constexpr Duration kMaxAge = std::chrono::hours(24);

struct ToldPeer {
  PeerKey key;
  std::string address;  // "host:port", where it can be dialled
  Duration age{};       // since somebody whom the sender believes has heard it; in whole seconds

  bool operator==(const ToldPeer&) const = default;
};

struct Membership {
  // Where the sender can be dialled; empty: nowhere (behind NAT); with the host "*": where its
  // frames come from.
  std::string own_address;
  bool wants_peers = false;     // the sender has too few: answer with what you know
  std::vector<ToldPeer> peers;  // at most kMaxToldPeers
  // A hash of the records that the sender holds; unset: it goes by none.
  std::optional<std::uint64_t> records_digest{};
  std::vector<std::vector<std::byte>> records{};  // within the limits above; opaque here

  bool operator==(const Membership&) const = default;
};

// Whether a text may be an address: at most kMaxPeerAddress bytes of printable ASCII without
// spaces, with a host, a colon and a port from 1 to 65535.
bool IsPeerAddress(std::string_view text);

// What was told over a link means something to its receiver only in view of where the link leads.
// Returns: `told` with "*" as host replaced by the host of `link` ("tcp://10.0.0.7:41873"), or
// empty: there is none, or the host is a loopback one and that of the link is not.
std::string AddressSeenFrom(std::string_view link, std::string_view told);

}  // namespace covey::wire
