#include "covey/node/report.h"

#include <array>
#include <cstddef>

namespace covey::node {

std::string_view Name(Stage stage) {
  constexpr std::array<std::string_view, 6> kNames = {"starting", "joining", "training",
                                                      "settling", "done",    "leaving"};
  return kNames[static_cast<std::size_t>(stage)];
}

}  // namespace covey::node
