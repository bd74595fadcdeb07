// The folder in which the processes of an MPI run meet: one below it for each node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey::harness {

// Thread: any; several processes at once. A file is there whole or not at all.
class MpiFolder {
 public:
  static constexpr std::string_view kKey = "key";          // 64 hex digits
  static constexpr std::string_view kAddress = "address";  // host:port
  static constexpr std::string_view kDone = "done";        // trained and settled, or died
  static constexpr std::string_view kOutcome = "outcome.json";

  MpiFolder(const std::string& folder, std::uint32_t node)
      : node_(folder + "/nodes/" + std::to_string(node)) {}

  const std::string& node() const { return node_; }
  Status Write(std::string_view name, std::string_view text) const;
  // Returns: the text, or nothing while it is not there.
  std::optional<std::string> Read(std::string_view name) const;

 private:
  std::string node_;
};

}  // namespace covey::harness
