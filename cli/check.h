// covey check: what would keep a node from running well, all of it at once.
#pragma once

#include <string>
#include <vector>

#include "covey/base/result.h"

namespace covey {

// One thing that was looked at.
struct Finding {
  enum class Kind { kGood, kWarning, kError };
  std::string what;  // "data", "network.listen"
  Kind kind = Kind::kGood;
  std::string text;
  ErrorCode code = ErrorCode::kSoftware;  // of an error
  std::string remedy = {};                // what to do; empty: nothing, or it is in the text
};

// Reads the file, opens the data, binds the ports for a moment, resolves the seeds, looks at disk,
// state folder and key. Nothing is changed but for unpacked data in the cache.
std::vector<Finding> CheckNode(const std::string& path);

std::string FindingsText(const std::vector<Finding>& findings);
// `schema`: of the object, "covey.check/1".
std::string FindingsJson(const std::vector<Finding>& findings, const char* schema);

// Returns: 0, or the exit code of the first error.
int ExitCodeOf(const std::vector<Finding>& findings);

}  // namespace covey
