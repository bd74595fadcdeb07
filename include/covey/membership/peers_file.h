// What a node remembers of its peers from one life to the next: a text.
//
//     covey-peers 1
//     <64 hex digits> <host:port> <seconds since it was heard>
//
// Limits: 256 KiB, 4,096 peers; an unknown version is refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/membership/book.h"

namespace covey::membership {

inline constexpr std::size_t kMaxPeersFile = 256 * 1024;
inline constexpr std::size_t kMaxStoredPeers = 4096;

struct StoredPeer {
  PeerKey key;
  std::string address;
  Duration age{};  // whole seconds

  bool operator==(const StoredPeer&) const = default;
};

// Returns: the text for those of `peers` that can be dialled and were heard, the latest first, at
// most kMaxStoredPeers of them.
std::string FormatPeers(const std::vector<Known>& peers, Time now);

// Errors: kData naming the line, what was got and what was wanted.
Result<std::vector<StoredPeer>> ParsePeers(std::string_view text);

}  // namespace covey::membership
