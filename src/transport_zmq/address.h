// "tcp://HOST:PORT", taken apart.
#pragma once

#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey::transport_zmq {

struct Address {
  std::string host;  // without brackets; "*" only where listening
  std::string port;  // decimal; "*" only where listening

  bool numeric() const;  // libzmq may have it as it is
  // Returns: "tcp://host:port" with brackets around IPv6.
  std::string Text() const;
};

enum class AddressUse { kListen, kDial };

// Errors: kConfig with the part that is wrong and an example.
Result<Address> ParseAddress(std::string_view text, AddressUse use);

}  // namespace covey::transport_zmq
