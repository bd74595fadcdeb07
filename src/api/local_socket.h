// Paths of the local API: what ZeroMQ does not check about an ipc address.
//
// Source: measured with libzmq 4.3.4: a second bind on one path succeeds and steals it, and a bind
// removes whatever file stands there.
#pragma once

#include <string>

#include "covey/base/result.h"

namespace covey::api {

// Returns: the path, without "ipc://".
// Errors: kConfig when it is empty, not absolute, or longer than kMaxSocketPath.
Result<std::string> SocketPath(const std::string& address);

// A claim on a socket path: its directory exists, belongs to us alone, and no other process serves
// the path.
class PathClaim {
 public:
  // Makes the directory (mode 0700) when it is missing, locks `path`.lock, removes a stale socket.
  // Errors: kCantCreate: another process holds the lock, the directory can be written by others, a
  // file that is not a socket is in the way, or the system refuses.
  static Result<PathClaim> Take(const std::string& path);

  PathClaim(PathClaim&& other) noexcept;
  PathClaim& operator=(PathClaim&& other) noexcept;
  ~PathClaim();  // removes the socket and gives the lock back

 private:
  PathClaim(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

// Connects once and hangs up.
// Errors: kUnavailable (no such file, nobody listens), kNoPermission; the text says what to do.
Result<void> Probe(const std::string& path);

}  // namespace covey::api
