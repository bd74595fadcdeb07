#include "covey/config/address.h"

#include <charconv>

#include "config/source.h"

namespace covey::config {
namespace {

constexpr std::string_view kExample = "want HOST:PORT, e.g. 192.168.1.7:7420 or [::1]:7420";

tl::unexpected<Error> Refuse(std::string_view text, const std::string& what) {
  return Fail(ErrorCode::kConfig, {}, "'" + Shown(text) + "' " + what, std::string(kExample));
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool IsIpv6Character(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
         c == '.';
}

// Whether `text` is a dotted quad of numbers up to 255.
bool IsIpv4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    unsigned number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto used = static_cast<std::size_t>(end - text.data());
    if (failure != std::errc{} || used == 0 || used > 3 || number > 255) return false;
    text.remove_prefix(used);
    if (part == 3) return text.empty();
    if (text.empty() || text.front() != '.') return false;
    text.remove_prefix(1);
  }
  return false;
}

bool GoodHost(std::string_view host, bool bracketed) {
  if (host.empty() || host.size() > 253) return false;
  if (bracketed) {
    const std::size_t zone = host.find('%');  // link-local: fe80::1%wlan0
    for (std::size_t i = 0; i < host.size(); ++i) {
      if (i == zone) continue;
      if (!(i > zone && zone != std::string_view::npos ? IsHostCharacter(host[i])
                                                       : IsIpv6Character(host[i]))) {
        return false;
      }
    }
    return host.find(':') != std::string_view::npos;
  }
  for (const char c : host) {
    if (!IsHostCharacter(c)) return false;
  }
  // What consists of digits and dots alone must be an address: 192.168.1 or 300.1.1.1 is a slip.
  return host.find_first_not_of("0123456789.") != std::string_view::npos || IsIpv4(host);
}

// fe80::/10, the same on every link: without an interface it names nobody.
bool LacksInterface(std::string_view host) {
  std::uint16_t first = 0;
  const auto [end, failure] = std::from_chars(host.data(), host.data() + host.size(), first, 16);
  return failure == std::errc{} && (first & 0xffc0) == 0xfe80 && end != host.data() + host.size() &&
         *end == ':' && host.find('%') == std::string_view::npos;
}

}  // namespace

std::string HostPort::Text() const {
  const std::string shown = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  return shown + ":" + std::to_string(port);
}

Result<HostPort> ParseHostPort(std::string_view text) {
  if (text.find("://") != std::string_view::npos) {
    return Refuse(text, "has a scheme; leave out what stands before the host");
  }
  const bool bracketed = text.starts_with('[');
  const std::size_t close = bracketed ? text.find(']') : std::string_view::npos;
  if (bracketed && close == std::string_view::npos) return Refuse(text, "has no closing bracket");
  const std::size_t colon = bracketed ? close + 1 : text.find(':');
  if (!bracketed && colon != text.rfind(':')) {
    return Refuse(text, "has several colons; put an IPv6 address into brackets");
  }
  if (colon == std::string_view::npos || colon >= text.size() || text[colon] != ':') {
    return Refuse(text, "has no port");
  }
  const std::string_view host = bracketed ? text.substr(1, close - 1) : text.substr(0, colon);
  if (host.empty()) return Refuse(text, "has no host");
  if (!GoodHost(host, bracketed)) return Refuse(text, "has a host that is no name or address");
  if (bracketed && LacksInterface(host)) {
    return Refuse(text, "is an address of one link, and names no interface: [fe80::1%eth0]:7420");
  }
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc{} || end != digits.data() + digits.size() || digits.size() > 5) {
    return Refuse(text, "has a port that is no number from 0 to 65535");
  }
  return HostPort{std::string(host), port};
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") && IsIpv4(host);
}

}  // namespace covey::config
