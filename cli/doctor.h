// covey doctor: why peers are not reached.
#pragma once

#include <vector>

#include "check.h"
#include "covey/api/client.h"
#include "covey/config/node_config.h"

namespace covey {

// Looks at interfaces, the listening address, and for each seed its name, a TCP connection, the
// handshake, and what the two nodes say to each other. One finding each; a failure comes with what
// to do. `daemon`: null when it does not run; handshakes are tried with the node's key then.
// Cost: up to 3 s for an address that does not answer, 8 s for a handshake.
std::vector<Finding> Diagnose(const config::NodeConfig& config, api::Client* daemon);

}  // namespace covey
