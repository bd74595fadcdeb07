#include "covey/wire/membership.h"

#include <algorithm>

namespace covey::wire {

bool IsPeerAddress(std::string_view text) {
  if (text.size() > kMaxPeerAddress) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; })) {
    return false;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  if (port.empty() || port.size() > 5) return false;
  std::uint32_t number = 0;
  for (const char c : port) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number >= 1 && number <= 65535;
}

}  // namespace covey::wire
