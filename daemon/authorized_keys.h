// Who may connect to a node.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/config/node_config.h"

namespace covey {

// One key of 64 hex digits a line; what follows a blank or '#' is a comment.
// Errors: kConfig with file:line and what was got.
Result<std::set<PeerKey>> ParseKeys(std::string_view text, const std::string& file);

// security.authorized_keys, authorized_keys_file and the seeds.
// Errors: as ParseKeys; kNoInput, kNoPermission, kIo for the file, which may have 1 MiB.
Result<std::set<PeerKey>> KnownKeys(const config::NodeConfig& config);

}  // namespace covey
