// A look from outside at the TCP connections that libzmq owns: their peer, what they consumed, and
// an end to them.
//
// libzmq buffers an unfinished multipart message without bound and can't drop a peer of a ROUTER.
// But the connections are descriptors of this process, and the socket monitor names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace covey::transport_zmq {

class TcpConnection {
 public:
  // Empty when `fd` is no TCP socket (any more).
  static std::optional<TcpConnection> Of(int fd);

  int fd() const { return fd_; }
  // The kernel's number for this connection, never used again; the descriptor may be another one's
  // by now.
  std::uint64_t id() const { return cookie_; }
  const std::string& peer() const { return peer_; }  // "tcp://127.0.0.1:41873"

  // Bytes that libzmq has read from it so far: `low` at least, `high` at most. The kernel says what
  // arrived and what waits in two calls; what arrives between them makes the difference, and can be
  // megabytes when this thread loses its core there.
  struct Bytes {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  // Empty when the connection is gone.
  std::optional<Bytes> Consumed() const;
  // The numeric host that is its own end ("10.0.0.7"); empty when the connection is gone.
  std::string OwnHost() const;
  // Ends the connection in both directions; libzmq then reports it as disconnected.
  void Cut() const;

 private:
  int fd_ = -1;
  std::uint64_t cookie_ = 0;
  std::string peer_;
};

}  // namespace covey::transport_zmq
