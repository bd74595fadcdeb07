#include "transport_zmq/own_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace covey::transport_zmq {

bool IsAmong(const std::string& name, const std::vector<std::string>& interfaces) {
  return interfaces.empty() ||
         std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end();
}

OwnAddresses::OwnAddresses()
    : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)) {
  sockaddr_nl groups{};
  groups.nl_family = AF_NETLINK;
  groups.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (fd_ < 0) return;
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&groups), sizeof groups) == 0) return;
  ::close(fd_);
  fd_ = -1;
}

OwnAddresses::~OwnAddresses() {
  if (fd_ >= 0) ::close(fd_);
}

bool OwnAddresses::Read() {
  bool changed = false;
  while (fd_ >= 0) {
    alignas(nlmsghdr) std::array<char, 8192> bytes{};
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == ENOBUFS) {  // more than the kernel kept for us
      changed = true;
      continue;
    }
    if (got <= 0) return changed;
    std::size_t at = 0;
    const auto size = static_cast<std::size_t>(got);
    while (at + sizeof(nlmsghdr) <= size) {
      nlmsghdr head{};
      std::memcpy(&head, bytes.data() + at, sizeof head);
      changed |= head.nlmsg_type == RTM_NEWADDR || head.nlmsg_type == RTM_DELADDR;
      if (head.nlmsg_len < sizeof head) break;
      at += NLMSG_ALIGN(head.nlmsg_len);
    }
  }
  return changed;
}

std::set<std::string> OwnAddresses::Of(const std::vector<std::string>& interfaces) {
  std::set<std::string> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || !IsAmong(one->ifa_name, interfaces)) continue;
    char text[INET6_ADDRSTRLEN] = {};
    if (one->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, one->ifa_addr, sizeof address);
      found.insert(::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text));
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 address{};
      std::memcpy(&address, one->ifa_addr, sizeof address);
      found.insert(::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text));
    }
  }
  ::freeifaddrs(all);
  return found;
}

}  // namespace covey::transport_zmq
