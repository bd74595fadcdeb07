// Any text as a peers file: no crash, limits hold, and what was read survives another round.
#include <cstdint>
#include <string_view>

#include "covey/base/check.h"
#include "covey/membership/peers_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace covey;
  const auto peers =
      membership::ParsePeers(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!peers) return 0;
  COVEY_CHECK(peers->size() <= membership::kMaxStoredPeers, peers->size());
  const Time now = wire::kMaxAge;
  std::vector<membership::Known> known;
  for (const membership::StoredPeer& peer : *peers) {
    COVEY_CHECK(wire::IsPeerAddress(peer.address));
    membership::Known one;
    one.key = peer.key;
    one.address = peer.address;
    one.heard = now - peer.age;
    known.push_back(one);
  }
  const std::string text = membership::FormatPeers(known, now);
  const auto again = membership::ParsePeers(text);
  COVEY_CHECK(again.has_value() && again->size() <= peers->size());
  COVEY_CHECK(text.size() <= membership::kMaxPeersFile);
  return 0;
}
