// errno as an Error.
#pragma once

#include <string>

#include "covey/base/result.h"

namespace covey::store {

// "where: doing: No space left on device; hint". `cause` is an errno.
tl::unexpected<Error> SystemError(const std::string& where, const std::string& doing, int cause);

}  // namespace covey::store
