#include "covey/transport_zmq/settings.h"

#include <string>

#include "transport_zmq/core.h"

namespace covey::transport_zmq {

Status Validate(const Settings& settings) {
  const auto wrong = [](const char* name, const Duration& got, const char* wanted) {
    return Fail(ErrorCode::kConfig, name, "got " + FormatDuration(got) + ", wanted " + wanted);
  };
  if (settings.connect_timeout <= Duration::zero() ||
      settings.handshake_timeout <= Duration::zero()) {
    return wrong("connect or handshake time-out", Duration::zero(), "more than 0");
  }
  if (settings.credit < 1 || settings.credit > 4096) {
    return Fail(ErrorCode::kConfig, "credit", "got " + std::to_string(settings.credit) + " chunks",
                "wanted 1 to 4096");
  }
  if (settings.max_links < 1 || settings.max_links > 16384) {
    return Fail(ErrorCode::kConfig, "max_links", "got " + std::to_string(settings.max_links),
                "wanted 1 to 16384");
  }
  if (settings.curve && settings.keys.public_key == PeerKey{}) {
    return Fail(ErrorCode::kConfig, "keys", "CURVE needs a key pair", "load or create one");
  }
  return {};
}

}  // namespace covey::transport_zmq
