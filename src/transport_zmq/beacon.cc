#include "transport_zmq/beacon.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "covey/base/bytes.h"
#include "transport_zmq/address.h"
#include "transport_zmq/core.h"
#include "transport_zmq/own_addresses.h"

namespace covey::transport_zmq {
namespace {

constexpr std::array<unsigned char, 5> kBeaconHead = {'C', 'V', 'Y', 'B', 1};
constexpr std::size_t kPortAt = kBeaconHead.size();
constexpr std::size_t kFleetAt = kPortAt + 2;
constexpr std::size_t kKeyAt = kFleetAt + 16;
constexpr int kBeaconBurst = 64;

static_assert(kKeyAt + 32 == Beacon::kSize);

bool Set(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// Addresses of the interfaces that are up and reach others, or this machine.
std::set<std::uint32_t> UsableInterfaces(const std::vector<std::string>& among) {
  std::set<std::uint32_t> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const bool up = (one->ifa_flags & IFF_UP) != 0 && IsAmong(one->ifa_name, among);
    if (!up || (one->ifa_flags & (IFF_MULTICAST | IFF_LOOPBACK)) == 0) continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    found.insert(address.sin_addr.s_addr);
  }
  ::freeifaddrs(all);
  return found;
}

}  // namespace

Beacon::Beacon(const BeaconSettings& settings, const PeerKey& self, Stream stream)
    : settings_(settings), self_(self), stream_(std::move(stream)) {}

Beacon::~Beacon() {
  if (fd_ >= 0) ::close(fd_);
}

Status Beacon::Open(const std::string& endpoint) {
  const auto failed = [](const char* doing) {
    return Fail(ErrorCode::kCantCreate, "beacon", std::string(doing) + ": " + std::strerror(errno),
                "free its UDP port, or write `network: {beacon: false}`");
  };
  if (const auto listens = ParseAddress(endpoint, AddressUse::kListen)) {
    port_ = PortOf(endpoint);
    in_addr host{};
    // Not IPv4: every interface when it is every address, and none otherwise.
    const bool all = listens->host == "*" || listens->host == "::";
    if (!all && ::inet_pton(AF_INET, listens->host.c_str(), &host) != 1) {
      host.s_addr = htonl(INADDR_NONE);
    }
    host_ = host.s_addr;
  }
  fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return failed("socket");
  // Several nodes of one machine listen to the same port.
  Set(fd_, SOL_SOCKET, SO_REUSEADDR, 1);
  Set(fd_, IPPROTO_IP, IP_MULTICAST_TTL, 1);
  Set(fd_, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(settings_.port);
  // To the group: then no datagram to this host itself, and none of another group, comes here.
  address.sin_addr.s_addr = ::inet_addr(settings_.group.c_str());
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return failed("bind");
  }
  due_ = Time{};
  return {};
}

void Beacon::LookForInterfaces() {
  const std::set<std::uint32_t> usable = UsableInterfaces(settings_.interfaces);
  // The kernel forgets a membership with its interface.
  std::erase_if(interfaces_, [&](std::uint32_t address) { return !usable.contains(address); });
  for (const std::uint32_t address : usable) {
    if (interfaces_.contains(address) || (host_ != 0 && host_ != address)) continue;
    ip_mreq join{};
    join.imr_multiaddr.s_addr = ::inet_addr(settings_.group.c_str());
    join.imr_interface.s_addr = address;
    const bool joined = ::setsockopt(fd_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join) == 0 ||
                        errno == EADDRINUSE;  // another address of the same interface
    if (joined) interfaces_.insert(address);
  }
}

void Beacon::Tick(Time now) {
  if (fd_ < 0 || now < due_) return;
  if (now >= look_due_) {
    LookForInterfaces();
    look_due_ = now + kLookEvery;
  }
  due_ = now + FromSeconds(Seconds(every_) * (0.5 + stream_.Uniform()));
  every_ = std::min(2 * every_, kEvery);
  if (port_ == 0) return;
  std::array<unsigned char, kSize> datagram{};
  std::copy(kBeaconHead.begin(), kBeaconHead.end(), datagram.begin());
  StoreLittle(reinterpret_cast<std::byte*>(datagram.data()) + kPortAt, port_);
  std::copy(settings_.fleet.begin(), settings_.fleet.end(), datagram.begin() + kFleetAt);
  std::copy(self_.bytes.begin(), self_.bytes.end(), datagram.begin() + kKeyAt);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(settings_.port);
  to.sin_addr.s_addr = ::inet_addr(settings_.group.c_str());
  for (const std::uint32_t address : interfaces_) {
    in_addr by{};
    by.s_addr = address;
    if (::setsockopt(fd_, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by) != 0) continue;
    const ssize_t sent = ::sendto(fd_, datagram.data(), datagram.size(), MSG_DONTWAIT,
                                  reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (sent == static_cast<ssize_t>(datagram.size())) ++sent_;
  }
}

void Beacon::Read(Time now) {
  for (int i = 0; i < kBeaconBurst; ++i) {
    std::array<unsigned char, kSize + 1> datagram{};
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const ssize_t size = ::recvfrom(fd_, datagram.data(), datagram.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) return;
    Hear(now, datagram.data(), static_cast<std::size_t>(size), from);
  }
}

void Beacon::Hear(Time now, const unsigned char* bytes, std::size_t size, const sockaddr_in& from) {
  if (size != kSize || !std::equal(kBeaconHead.begin(), kBeaconHead.end(), bytes) ||
      !std::equal(settings_.fleet.begin(), settings_.fleet.end(), bytes + kFleetAt)) {
    ++refused_;
    return;
  }
  PeerKey key;
  std::copy_n(bytes + kKeyAt, key.bytes.size(), key.bytes.begin());
  const auto port = LoadLittle<std::uint16_t>(reinterpret_cast<const std::byte*>(bytes) + kPortAt);
  if (key == self_ || port == 0) return;
  const auto told = told_.find(key);
  if (told != told_.end() && now < told->second + kAgainAfter) return;
  if (told == told_.end() && told_.size() >= kMaxKeys) {
    std::erase_if(told_, [&](const auto& entry) { return now >= entry.second + kAgainAfter; });
    if (told_.size() >= kMaxKeys) return;
  }
  told_[key] = now;
  char host[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &from.sin_addr, host, sizeof host);
  if (settings_.heard) settings_.heard(key, std::string(host) + ':' + std::to_string(port));
}

}  // namespace covey::transport_zmq
