// The server of the local API: one ROUTER on an ipc path, driven by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "covey/api/types.h"
#include "covey/base/result.h"
#include "covey/base/time.h"

namespace covey::api {

// Limits, the same on both sides. The largest path is what fits a socket address, with room to
// spare.
inline constexpr std::size_t kMaxSocketPath = 96;
inline constexpr std::size_t kMaxRequest = 1024 * 1024;
inline constexpr std::size_t kMaxAnswer = 1024 * 1024;
inline constexpr std::size_t kMaxSubscribers = 32;
inline constexpr int kMaxWaitingRequests = 16;  // of one client; it waits before it sends more

// What the server asks its daemon. Called on the thread that polls; all must answer at once.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual NodeStatus GetStatus() = 0;
  virtual covey::Result<void> Do(Command command) = 0;
  // Asks a linked peer for a sign of life; it shows in its Member.
  virtual covey::Result<void> Ping(const std::string& peer) {
    return Fail(ErrorCode::kUnavailable, "peer " + peer, "there is no link to it");
  }
  // Takes in bytes that the operator signed.
  virtual covey::Result<void> TakeRecord(const std::string&) {
    return Fail(ErrorCode::kUsage, "coveyd", "goes by no operator's word");
  }
  virtual covey::Result<Predictions> Predict(const Question& question) = 0;
  virtual InputForm GetInputForm() = 0;
  virtual covey::Result<Pushed> Push(const Samples& samples) = 0;
};

class Server {
 public:
  // Binds `path` (or "ipc://" and a path). Its directory is made with mode 0700 when it is missing;
  // a lock file beside the socket keeps a second daemon out, because ZeroMQ would let it steal the
  // path silently; a socket that a killed daemon left behind is replaced. The socket has mode 0600.
  // Errors: kConfig when the path is too long or not absolute; kCantCreate when another process
  // serves it, when the directory can be written by others, or when the system refuses.
  static Result<Server> Open(const std::string& path);

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // removes the socket and closes at once; unsent messages get 200 ms

  // Waits at most `at_most` for requests and answers them, then sends what Publish left.
  // Thread: one, always the same.
  void Poll(Handler& handler, Duration at_most);

  // Sends an event to every subscriber; the sequence number is set here. Never blocks: at most 1024
  // wait, the oldest leave first. Thread: any.
  void Publish(const Event& event);
  // Ends a Poll that waits. Thread: any.
  void Wake();

  // "ipc:///run/covey/api.sock"
  const std::string& endpoint() const;

  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t malformed = 0;       // could not be read; ignored
    std::uint64_t events_dropped = 0;  // a subscriber did not read
  };
  const Counters& counters() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace covey::api
