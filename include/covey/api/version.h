// What --version prints: build, protocol, kernel level, libraries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace covey::api {

struct BuildInfo {
  std::string version;  // "0.1.0"
  std::string commit;   // "abc1234", with "+" when the tree was changed; "unknown" outside a clone
  std::uint32_t protocol;    // peer protocol
  std::string platform;      // "linux/x86_64"
  std::string kernel_level;  // what this CPU runs: "v2", "v3", "v4", "neon", "scalar"
  std::string compiler;      // "g++ 12.2.0"
  std::string zmq;           // "4.3.4", of the library that is loaded
  std::string protobuf;      // "3.21.12"
};

BuildInfo GetBuildInfo();

// Returns: "coveyd 0.1.0 (git abc1234, protocol 1, linux/x86_64, kernels v3, g++ 12.2.0, zmq 4.3.4,
// protobuf 3.21.12)"
std::string VersionLine(std::string_view program);

}  // namespace covey::api
