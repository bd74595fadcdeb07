#include "covey/wire/membership.h"

#include <algorithm>

namespace covey::wire {
namespace {

std::string_view HostOf(std::string_view address) {
  constexpr std::string_view kScheme = "tcp://";
  if (address.starts_with(kScheme)) address.remove_prefix(kScheme.size());
  const std::size_t colon = address.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : address.substr(0, colon);
}

bool IsLoopbackHost(std::string_view host) {
  return host.starts_with("127.") || host == "localhost" || host == "[::1]";
}

}  // namespace

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

std::string AddressSeenFrom(std::string_view link, std::string_view told) {
  const std::string_view host = HostOf(told);
  const std::string_view seen = HostOf(link);
  if (host == "*") {
    return seen.empty() ? std::string() : std::string(seen).append(told.substr(host.size()));
  }
  if (IsLoopbackHost(host) && !IsLoopbackHost(seen)) return {};
  return std::string(told);
}

}  // namespace covey::wire
