#include "covey/membership/peers_file.h"

#include <algorithm>
#include <charconv>

#include "covey/wire/membership.h"

namespace covey::membership {
namespace {

constexpr std::string_view kHead = "covey-peers 1";
constexpr std::size_t kHexKey = 64;

tl::unexpected<Error> WrongLine(std::size_t number, const std::string& what) {
  return Fail(ErrorCode::kData, "peers file, line " + std::to_string(number), what);
}

std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

}  // namespace

std::string FormatPeers(const std::vector<Known>& peers, Time now) {
  std::vector<const Known*> kept;
  for (const Known& peer : peers) {
    if (!peer.address.empty() && (peer.linked || peer.heard)) kept.push_back(&peer);
  }
  const auto age = [now](const Known& peer) {
    return peer.linked ? Duration::zero() : now - *peer.heard;
  };
  std::stable_sort(kept.begin(), kept.end(),
                   [&age](const Known* a, const Known* b) { return age(*a) < age(*b); });
  if (kept.size() > kMaxStoredPeers) kept.resize(kMaxStoredPeers);
  std::string text(kHead);
  text += '\n';
  for (const Known* peer : kept) {
    std::string line = peer->key.Hex() + ' ' + peer->address + ' ';
    line += std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(std::min(age(*peer), wire::kMaxAge))
            .count());
    if (text.size() + line.size() + 1 > kMaxPeersFile) break;
    text += line + '\n';
  }
  return text;
}

Result<std::vector<StoredPeer>> ParsePeers(std::string_view text) {
  if (text.size() > kMaxPeersFile) return WrongLine(1, "the file has more than 256 KiB");
  if (TakeLine(text) != kHead) return WrongLine(1, "wanted '" + std::string(kHead) + "'");
  std::vector<StoredPeer> peers;
  for (std::size_t number = 2; !text.empty(); ++number) {
    const std::string_view line = TakeLine(text);
    if (peers.size() == kMaxStoredPeers) return WrongLine(number, "more than 4096 peers");
    const std::size_t second = line.rfind(' ');
    if (line.size() <= kHexKey || line[kHexKey] != ' ' || second <= kHexKey) {
      return WrongLine(number, "wanted a key, an address and an age");
    }
    StoredPeer peer;
    const Result<PeerKey> key = PeerKey::FromHex(line.substr(0, kHexKey));
    if (!key) return WrongLine(number, "the key is not of 64 hex digits");
    peer.key = *key;
    const std::string_view address = line.substr(kHexKey + 1, second - kHexKey - 1);
    if (!wire::IsPeerAddress(address)) return WrongLine(number, "the address is not host:port");
    peer.address = std::string(address);
    std::uint32_t seconds = 0;
    const std::string_view age = line.substr(second + 1);
    const auto read = std::from_chars(age.data(), age.data() + age.size(), seconds);
    if (read.ec != std::errc() || read.ptr != age.data() + age.size()) {
      return WrongLine(number, "the age is not a number of seconds");
    }
    peer.age = std::min<Duration>(std::chrono::seconds(seconds), wire::kMaxAge);
    peers.push_back(std::move(peer));
  }
  return peers;
}

}  // namespace covey::membership
