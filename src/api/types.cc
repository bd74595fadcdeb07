#include "covey/api/types.h"

#include <array>
#include <cstddef>

namespace covey::api {

std::string_view Name(State state) {
  constexpr std::array<std::string_view, 6> kNames = {"starting", "joining", "training",
                                                      "settling", "done",    "leaving"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view Name(Command command) {
  constexpr std::array<std::string_view, 4> kNames = {"pause", "resume", "settle", "leave"};
  return kNames[static_cast<std::size_t>(command)];
}

}  // namespace covey::api
