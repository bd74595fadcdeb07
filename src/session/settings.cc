#include "covey/session/settings.h"

#include <string>

namespace covey::session {
namespace {

tl::unexpected<Error> Wrong(const char* name, const std::string& got, const char* wanted) {
  return Fail(ErrorCode::kConfig, std::string("network.") + name,
              "got " + got + ", wanted " + wanted);
}

}  // namespace

Status Validate(const Settings& settings) {
  if (settings.vector_size == 0) return Wrong("vector_size", "0", "at least 1");
  if (settings.max_chunk < wire::kMinChunk || settings.max_chunk > wire::kMaxBody) {
    return Wrong("max_chunk", std::to_string(settings.max_chunk), "1KiB to 256KiB");
  }
  if (settings.credit < wire::kMinCredit || settings.credit > wire::kMaxCredit) {
    return Wrong("credit", std::to_string(settings.credit), "1 to 1048576");
  }
  if (settings.deltas_queue == 0) return Wrong("deltas_queue", "0", "at least 1");
  const struct {
    const char* name;
    Duration value;
  } durations[] = {{"ping_every", settings.ping_every},
                   {"timeout", settings.timeout},
                   {"hello_timeout", settings.hello_timeout},
                   {"progress_timeout", settings.progress_timeout},
                   {"refused_for", settings.refused_for},
                   {"join_every", settings.join_every},
                   {"retry", settings.retry},
                   {"report_every", settings.report_every}};
  for (const auto& duration : durations) {
    // The upper end keeps sums of times far from overflow.
    if (duration.value <= Duration::zero() || duration.value > std::chrono::hours(24 * 365)) {
      return Wrong(duration.name, std::to_string(Seconds(duration.value)) + "s",
                   "more than nothing, at most a year");
    }
  }
  if (settings.timeout <= settings.ping_every) {
    return Wrong("timeout", FormatDuration(settings.timeout), "more than ping_every");
  }
  return {};
}

}  // namespace covey::session
