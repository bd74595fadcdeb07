#include "covey/faults/settings.h"

#include <string>

namespace covey::faults {

Status Validate(const Settings& settings) {
  const struct {
    const char* name;
    double value;
  } rates[] = {{"weights_drop", settings.weights_drop},
               {"deltas_drop", settings.deltas_drop},
               {"duplicate", settings.duplicate},
               {"corrupt", settings.corrupt},
               {"cut", settings.cut}};
  for (const auto& rate : rates) {
    // Written so that NaN fails too.
    if (!(rate.value >= 0 && rate.value <= 1)) {
      return Fail(ErrorCode::kConfig, std::string("faults.") + rate.name,
                  "got " + std::to_string(rate.value) + ", wanted a fraction",
                  "write a number from 0 to 1, e.g. 0.25");
    }
  }
  if (settings.delay < Duration::zero() || settings.delay > std::chrono::hours(1)) {
    return Fail(ErrorCode::kConfig, "faults.delay",
                "got " + std::to_string(Seconds(settings.delay)) + "s, wanted 0s to 1h");
  }
  return {};
}

}  // namespace covey::faults
