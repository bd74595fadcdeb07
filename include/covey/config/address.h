// Network addresses as people write them: HOST:PORT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey::config {

struct HostPort {
  std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
  std::uint16_t port = 0;

  bool operator==(const HostPort&) const = default;
  std::string Text() const;  // "127.0.0.1:7420", "[::1]:7420"
};

// Parses "127.0.0.1:7420", "robot2.local:7420", "[::1]:7420". Port 0 is accepted here; whoever
// dials refuses it. Errors: kConfig; `what` says what was got, `hint` has an example.
Result<HostPort> ParseHostPort(std::string_view text);

// Returns: whether packets to `host` stay on this machine: 127.0.0.0/8, ::1, localhost. Names are
// not resolved: every other name counts as beyond loopback.
bool IsLoopback(std::string_view host);

}  // namespace covey::config
