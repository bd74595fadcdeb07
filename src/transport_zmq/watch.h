// Finds connections that fill libzmq's memory: with a message that never ends, or with more frames
// than are read.
//
//     held = bytes that libzmq took in - bytes of the frames that were read
//
// libzmq keeps the parts of a multipart message unread until the last one, and whole messages
// without a limit (SetListening). Our frames come alone and under credit. So a connection of which
// more is held than credit allows is cut; where every complete frame was just read, more than
// kAllowance.
// Limit: what a connection brings between two samples comes on top.
//
// An idle connection costs nothing: epoll reports its first byte after a rest, and only then is it
// looked at every kInterval, until it rests again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/time.h"
#include "transport_zmq/tcp.h"

namespace covey::transport_zmq {

class Watch {
 public:
  static constexpr Duration kInterval = std::chrono::milliseconds(4);
  static constexpr std::uint64_t kAllowance = 1024 * 1024;

  // `queue` is what complete but unread frames of one connection may take. `curve`: frames are
  // boxed.
  Watch(std::uint64_t queue, bool curve);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  int fd() const {
    return epoll_;
  }  // readable when a resting connection stirs; negative on failure

  // Returns: false, and the connection is cut, when its own end is none of LetIn.
  bool Add(const TcpConnection& connection);
  void Remove(std::uint64_t id);
  // A complete frame of this connection was read.
  void Delivered(std::uint64_t id, std::size_t frame);

  // From now on only connections whose own end is one of these hosts are watched; others are cut.
  void LetIn(std::set<std::string> hosts) { let_in_ = std::move(hosts); }
  // Cuts every connection whose own end is none of these hosts. Returns: how many.
  std::size_t CutOthers(const std::set<std::string>& hosts);

  // When Begin wants to be called; kNever while everything rests.
  Time due() const { return due_; }
  // Before reading: takes in what stirs and, when it is time, samples all that are active.
  // Returns: true when it sampled; all sockets must then be read until they are empty.
  bool Begin(Time now);
  // After reading; `drained`: every socket was seen empty since Begin.
  // Returns: the connections to cut.
  std::vector<std::uint64_t> End(Time now, bool drained);

 private:
  struct Entry {
    TcpConnection connection;
    // What is uncertain speaks for the peer: the most for the base, the least for what came since.
    std::uint64_t base = 0;       // consumed when everything complete had been read
    TcpConnection::Bytes sample;  // consumed at Begin
    std::uint64_t delivered = 0;  // bytes of the frames that were read since then
    bool active = false;
    bool sampled = false;
  };

  void Arm(const Entry& entry);

  std::uint64_t queue_;
  bool curve_;
  int epoll_;
  Time due_ = kNever;
  std::optional<std::set<std::string>> let_in_;  // empty: whatever comes
  std::map<std::uint64_t, Entry> entries_;       // by TcpConnection::id
};

}  // namespace covey::transport_zmq
