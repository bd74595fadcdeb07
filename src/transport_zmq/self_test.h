// Proof, at every start, that strangers stay out: CURVE without a working ZAP handler lets every
// key in.
#pragma once

#include "covey/base/result.h"
#include "covey/transport_zmq/settings.h"
#include "transport_zmq/zap.h"

namespace covey::transport_zmq {

// Binds a listening socket with the options of the real one to a free loopback port and shakes
// hands with it twice: once with a random key that `keys` does not hold, which must be refused with
// 400, and once with one that it holds for the moment, which must be accepted.
// Requires: `keys` is not in use yet; its content is replaced.
// Errors: kSoftware with which of the two failed; kCantCreate when no socket can be made.
// Cost: two handshakes, about 10 ms.
Status ProveAccess(void* context, const Settings& settings, KeySet* keys);

}  // namespace covey::transport_zmq
