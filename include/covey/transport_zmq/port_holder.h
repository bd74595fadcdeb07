// Who listens on a TCP port of this machine: for messages when it is in use.
#pragma once

#include <cstdint>
#include <string>

namespace covey::transport_zmq {

// Returns: "coveyd (pid 4711) listens there", or "another process listens there" where /proc does
// not say: not Linux, another user's process, another network namespace.
// Cost: reads the descriptors of every process of this user; for the way to an error only.
std::string PortHolder(std::uint16_t port);

}  // namespace covey::transport_zmq
