#include "covey/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace covey::internal {

void CheckFailed(const char* file, int line, const char* condition, const char* names,
                 const std::string& values) {
  std::fprintf(stderr, "%s:%d: check failed: %s", file, line, condition);
  if (*names != '\0') std::fprintf(stderr, " (%s = %s)", names, values.c_str());
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace covey::internal
