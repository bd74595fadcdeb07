// Which addresses this machine has, and when that changes.
//
// A connection whose own address has gone is dead, and nobody says so: both ends would wait for
// their time-outs. The kernel tells of addresses that come and go (rtnetlink).
#pragma once

#include <set>
#include <string>
#include <vector>

namespace covey::transport_zmq {

// Whether an interface is named there, or none is.
bool IsAmong(const std::string& name, const std::vector<std::string>& interfaces);

class OwnAddresses {
 public:
  OwnAddresses();
  OwnAddresses(const OwnAddresses&) = delete;
  OwnAddresses& operator=(const OwnAddresses&) = delete;
  ~OwnAddresses();

  int fd() const { return fd_; }  // readable when something changed; negative: it can't be known
  // Takes what the kernel told. Returns: whether an address came or went.
  bool Read();

  // Numeric hosts without brackets ("10.0.0.7", "fe80::1") of these interfaces; of all when none is
  // named.
  static std::set<std::string> Of(const std::vector<std::string>& interfaces);

 private:
  int fd_;
};

}  // namespace covey::transport_zmq
