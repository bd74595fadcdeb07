#include "covey/wire/reason.h"

#include <array>

namespace covey::wire {
namespace {

constexpr std::array<std::string_view, kReasons> kNames = {
    "unknown",    "busy",        "malformed",    "too_large",   "version",   "fleet",
    "model",      "key",         "self",         "not_allowed", "no_hello",  "session",
    "frame_kind", "checksum",    "message_kind", "encoding",    "size",      "chunks",
    "gamma",      "unsolicited", "repeated",     "no_transfer", "order",     "credit",
    "not_finite", "unfinished",  "too_often",    "replaced",    "link_lost", "data",
    "segment"};

}  // namespace

std::string_view Name(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index < kNames.size() ? kNames[index] : kNames[0];
}

}  // namespace covey::wire
