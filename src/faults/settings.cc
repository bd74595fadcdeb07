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
  const struct {
    const char* name;
    Duration value;
  } times[] = {{"delay", settings.delay}, {"reorder", settings.reorder}};
  for (const auto& time : times) {
    if (time.value >= Duration::zero() && time.value <= std::chrono::hours(1)) continue;
    return Fail(ErrorCode::kConfig, std::string("faults.") + time.name,
                "got " + std::to_string(Seconds(time.value)) + "s, wanted 0s to 1h");
  }
  return {};
}

}  // namespace covey::faults
