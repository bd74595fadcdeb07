// Knocks at the door of a node (DoorSettings): says one frame, and hears the answer.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/transport_zmq/keys.h"
#include "covey/transport_zmq/settings.h"

namespace covey::transport_zmq {

// Tries every address of a name in turn. Waits for at most `patience`; less once `stop` is set.
// Errors: kConfig for an address that is none; kUnavailable: nobody answers there, or not as the
//   owner of the key.
// Thread: any; each call has sockets of its own.
Result<std::vector<std::byte>> Knock(const KeyPair& own, const DialAddress& door, ByteView frame,
                                     Duration patience, const std::atomic<bool>& stop);

}  // namespace covey::transport_zmq
