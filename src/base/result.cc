#include "covey/base/result.h"

namespace covey {

std::string Error::Format() const {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!hint.empty()) text += "; " + hint;
  return text;
}

}  // namespace covey
