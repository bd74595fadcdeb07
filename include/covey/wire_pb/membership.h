// The body of a MEMBERSHIP frame in protobuf.
#pragma once

#include <cstddef>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/wire/membership.h"

namespace covey::wire_pb {

// Requires: at most kMaxToldPeers peers, records within their limits. Leaves out peers at the end
// that no longer fit into kMaxStructuredBody.
std::vector<std::byte> Encode(const wire::Membership& membership);

// Returns: what was told; peers without a sound key or address are left out, the first
// kMaxToldPeers and the first records within their limits are read, ages are cut to kMaxAge, an own
// address that is none is empty.
// Errors: kProtocol for bytes that are no such body, or longer than kMaxStructuredBody.
Result<wire::Membership> DecodeMembership(ByteView body);

}  // namespace covey::wire_pb
