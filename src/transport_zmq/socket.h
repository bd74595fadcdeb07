// Thin owners of libzmq handles: sockets, their monitors, messages.
#pragma once

#include <zmq.h>

#include <cstddef>
#include <string>
#include <utility>

#include "covey/base/result.h"
#include "covey/transport_zmq/settings.h"

namespace covey::transport_zmq {

class Socket {
 public:
  Socket() = default;
  // Empty when libzmq has no socket or descriptor left (then errno says why).
  Socket(void* context, int type) : handle_(zmq_socket(context, type)) {}
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Socket& operator=(Socket&& other) noexcept {
    Close();
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }
  ~Socket() { Close(); }

  explicit operator bool() const { return handle_ != nullptr; }
  void* get() const { return handle_; }

  // Requires: an option and value that libzmq knows; ours are fixed, so a failure is a bug.
  void Set(int option, int value);
  void Set(int option, const std::string& value);
  void SetKey(int option, const void* bytes);
  void SetLinger(Duration linger);

  int Events() const;  // ZMQ_POLLIN | ZMQ_POLLOUT, after taking in what the I/O thread reported
  void Close();

 private:
  void* handle_ = nullptr;
};

class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { zmq_msg_close(&message_); }

  zmq_msg_t* get() { return &message_; }
  const void* data() { return zmq_msg_data(&message_); }
  std::size_t size() const { return zmq_msg_size(&message_); }
  bool more() const { return zmq_msg_more(&message_) != 0; }
  // False when there is nothing to receive.
  bool Receive(Socket& socket) { return zmq_msg_recv(&message_, socket.get(), ZMQ_DONTWAIT) >= 0; }

 private:
  zmq_msg_t message_;
};

struct MonitorEvent {
  int kind = 0;   // ZMQ_EVENT_*
  int value = 0;  // a descriptor, an errno or a status, by kind
};

// The events of one socket. They must be read: libzmq's I/O thread waits when 2,000 are pending.
class Monitor {
 public:
  Monitor() = default;
  // Empty on failure.
  Monitor(void* context, Socket& watched, int events);
  Monitor(Monitor&&) noexcept = default;
  Monitor& operator=(Monitor&&) noexcept = default;

  explicit operator bool() const { return static_cast<bool>(socket_); }
  void* get() const { return socket_.get(); }
  bool Next(MonitorEvent* event);
  // Requires: called before `watched` is closed; an event without a reader would block the I/O
  // thread for ever.
  void Stop(Socket& watched);

 private:
  Socket socket_;
};

inline constexpr char kZapDomain[] = "covey";
inline constexpr char kDoorDomain[] = "covey-door";

// Options of both kinds of socket, and then those of one; before bind or connect.
void SetListening(Socket& router, const Settings& settings);
void SetDoor(Socket& router, const Settings& settings);
void SetDialling(Socket& dealer, const Settings& settings, const KeyPair& own,
                 const PeerKey& server);

// What libzmq may be sent at most in one frame: ours, and what CURVE adds, and a margin for its
// handshake.
std::int64_t MaxMessageSize();

}  // namespace covey::transport_zmq
