// Any bytes as the body of MEMBERSHIP: no crash, limits hold, and what decodes survives another
// round.
#include <cstdint>

#include "covey/base/check.h"
#include "covey/wire/limits.h"
#include "covey/wire_pb/membership.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace covey;
  const ByteView body(reinterpret_cast<const std::byte*>(data), size);
  const auto membership = wire_pb::DecodeMembership(body);
  if (!membership) return 0;
  COVEY_CHECK(size <= wire::kMaxStructuredBody && membership->peers.size() <= wire::kMaxToldPeers);
  for (const wire::ToldPeer& peer : membership->peers) {
    COVEY_CHECK(wire::IsPeerAddress(peer.address) && peer.age <= wire::kMaxAge);
  }
  COVEY_CHECK(*wire_pb::DecodeMembership(wire_pb::Encode(*membership)) == *membership);
  return 0;
}
