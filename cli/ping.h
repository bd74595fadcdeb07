// covey ping: whether a linked peer answers, and how soon.
#pragma once

#include <cstdint>
#include <string>

#include "covey/api/client.h"
#include "covey/base/result.h"

namespace covey {

struct PingOptions {
  std::string peer;         // first digits of its key, or its address
  std::uint32_t count = 4;  // at least 1
  bool json = false;
};

// Prints a line for each and a summary, or one JSON object, schema "covey.ping/1".
// Errors: kUsage when no peer or more than one is meant; kUnavailable when there is no link, with
// what is known about why, or when none was answered.
Status Ping(api::Client& client, const PingOptions& options);

}  // namespace covey
