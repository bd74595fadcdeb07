// Whether the peer of a link is one to exchange with.
#pragma once

#include <optional>
#include <string>

#include "covey/session/settings.h"
#include "covey/transport/transport.h"
#include "covey/wire/bodies.h"
#include "covey/wire/envelope.h"

namespace covey::session {

struct HelloVerdict {
  std::optional<wire::Reason> reason;  // unset: welcome
  std::string text;                    // for people on both sides, naming both sides
  bool broken = false;  // not an honest peer of another kind: the link is closed, not only refused
};

HelloVerdict JudgeHello(const Settings& settings, const transport::LinkInfo& link,
                        const wire::Envelope& envelope, const wire::Hello& hello);

}  // namespace covey::session
