// covey peers: whom the node knows, and what became of them.
#pragma once

#include <string>

#include "covey/api/client.h"
#include "covey/api/types.h"
#include "covey/base/result.h"

namespace covey {

// One line a peer: key, state and since when, address, round trip, reason.
std::string PeersText(const api::NodeStatus& status);
// One JSON object in one line, schema "covey.peers/1".
std::string PeersJson(const api::NodeStatus& status);

// The table, and then a line for each change until the daemon ends; as JSON: an object each time
// that something changed. Errors: those of the client.
Status WatchPeers(api::Client& client, bool json);

}  // namespace covey
