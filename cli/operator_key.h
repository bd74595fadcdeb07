// The file with the secret of a fleet's operator.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/membership/invitation.h"

namespace covey {

// Makes the file with a new key, mode 0600. One that is there is never replaced.
// Errors: kCantCreate, kIo.
Result<membership::SigningKey> MakeOperatorKey(const std::string& path);

// Errors: kNoInput; kNoPermission when others may read it; kData when it holds no key.
Result<membership::SigningKey> ReadOperatorKey(const std::string& path);

}  // namespace covey
