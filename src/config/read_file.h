// The text of a configuration file.
#pragma once

#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey::config {

// Returns: the file's bytes, one more than kMaxFileBytes at most.
// Errors: kNoInput, kNoPermission, kIo.
Result<std::string> ReadConfigFile(const std::string& path);

// Returns: the text without byte order mark and with '\n' as its line ends.
// Errors: kConfig when it is larger than kMaxFileBytes or not UTF-8; `name` stands for the file.
Result<std::string> CleanText(std::string_view raw, const std::string& name);

}  // namespace covey::config
