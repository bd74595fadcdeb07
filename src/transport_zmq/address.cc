#include "transport_zmq/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

namespace covey::transport_zmq {
namespace {

constexpr std::size_t kMaxName = 253;  // RFC 1035

bool IsName(std::string_view host) {
  return host.size() <= kMaxName && std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

bool IsIpv6(const std::string& host) {
  const std::string address = host.substr(0, host.find('%'));  // "fe80::1%eth0"
  in6_addr parsed{};
  return ::inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

}  // namespace

bool Address::numeric() const {
  in_addr parsed{};
  return host == "*" || ::inet_pton(AF_INET, host.c_str(), &parsed) == 1 || IsIpv6(host);
}

std::string Address::Text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return "tcp://" + (brackets ? "[" + host + "]" : host) + ":" + port;
}

Result<Address> ParseAddress(std::string_view text, AddressUse use) {
  const bool listen = use == AddressUse::kListen;
  const auto wrong = [&](const std::string& what) {
    return Fail(
        ErrorCode::kConfig, "address '" + std::string(text.substr(0, 300)) + "'", what,
        listen ? "write tcp://127.0.0.1:7420, tcp://*:7420 or tcp://[::1]:0"
               : "write tcp://192.168.1.7:7420, tcp://[fd00::7]:7420 or tcp://robot7.local:7420");
  };
  constexpr std::string_view kScheme = "tcp://";
  if (!text.starts_with(kScheme)) return wrong("wanted tcp://HOST:PORT");
  const std::string_view rest = text.substr(kScheme.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return wrong("the port is missing");
  Address address;
  address.port = std::string(rest.substr(colon + 1));
  std::string_view host = rest.substr(0, colon);
  const bool brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  address.host = std::string(host);
  if (address.host.empty()) return wrong("the host is missing");
  if (brackets ? !IsIpv6(address.host) : !(IsName(host) || (listen && host == "*"))) {
    return wrong("the host is neither an address nor a name");
  }
  if (listen && address.port == "*") address.port = "0";
  unsigned port = 0;
  const char* end = address.port.data() + address.port.size();
  const auto parsed = std::from_chars(address.port.data(), end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end || port > 65535 || (!listen && port == 0)) {
    return wrong(listen ? "wanted a port of 0 to 65535" : "wanted a port of 1 to 65535");
  }
  if (listen && port == 0) address.port = "*";
  return address;
}

}  // namespace covey::transport_zmq
