// Finds nodes of the same fleet on the local network without a seed: a small datagram to a
// multicast group, on every interface that can, every few seconds.
//
//     datagram = "CVYB" version u8 port u16 fleet[16] key[32], little-endian
//
// `fleet` is a hash of the fleet's name; `port` is where the sender listens, at the address that
// the datagram comes from: it leaves by the interfaces where the sender listens, and by no other.
// Nothing else is told, and nothing is believed: a wrong address costs an attempt to dial, because
// whoever answers there must own the key.
//
// Limits: one datagram of a key in kAgainAfter is told on; so many keys.
// IPv4 only. Interfaces that come and go are noticed within kLookEvery.
// Thread: one.
// Source: RFC 1112 (multicast), 2365 (administratively scoped addresses).
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "covey/base/random.h"
#include "covey/base/result.h"
#include "covey/transport_zmq/settings.h"

namespace covey::transport_zmq {

class Beacon {
 public:
  static constexpr std::size_t kSize = 55;
  static constexpr Duration kFirstEvery = std::chrono::seconds(1);  // doubles up to kEvery
  static constexpr Duration kEvery = std::chrono::seconds(10);
  static constexpr Duration kLookEvery = std::chrono::seconds(10);
  static constexpr Duration kAgainAfter = std::chrono::seconds(5);
  static constexpr std::size_t kMaxKeys = 1024;

  Beacon(const BeaconSettings& settings, const PeerKey& self, Stream stream);
  Beacon(const Beacon&) = delete;
  Beacon& operator=(const Beacon&) = delete;
  ~Beacon();

  // `endpoint`: where this node listens, "tcp://HOST:PORT"; empty: it tells nothing of itself and
  // only hears others.
  // Errors: kCantCreate when the system has no such socket or the port is taken by another program.
  Status Open(const std::string& endpoint);

  int fd() const { return fd_; }  // negative: not open
  Time due() const { return due_; }
  // Sends what is due.
  void Tick(Time now);
  // Reads what has come and tells of peers.
  void Read(Time now);

  std::uint64_t sent() const { return sent_; }
  std::uint64_t refused() const { return refused_; }  // of another fleet, or no beacon

 private:
  void LookForInterfaces();
  void Hear(Time now, const unsigned char* bytes, std::size_t size, const sockaddr_in& from);

  const BeaconSettings settings_;
  const PeerKey self_;
  Stream stream_;
  int fd_ = -1;
  std::uint16_t port_ = 0;
  std::uint32_t host_ = 0;              // the only address to use, in network order; 0: all
  std::set<std::uint32_t> interfaces_;  // addresses, in network order, that joined the group
  Time due_ = kNever;
  Time look_due_{};
  Duration every_ = kFirstEvery;
  std::map<PeerKey, Time> told_;
  std::uint64_t sent_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace covey::transport_zmq
