#include "transport_zmq/socket.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>

#include "covey/base/check.h"
#include "covey/transport/transport.h"

namespace covey::transport_zmq {
namespace {

// A draft in zmq.h that Debian's 4.3.4 takes: without it, a missing ZAP handler lets everybody in.
constexpr int kZapEnforceDomain = 93;

constexpr std::int64_t kCurveOverhead = 33;
constexpr std::int64_t kMargin = 1024;
constexpr int kSpareFrames = 16;

int Milliseconds(Duration duration) {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<int>(std::clamp<std::int64_t>(count, 0, std::numeric_limits<int>::max()));
}

void SetCommon(Socket& socket, const Settings& settings) {
  socket.Set(ZMQ_SNDHWM, static_cast<int>(settings.credit) + kSpareFrames);
  // libzmq 4.3.4 aborts the process when a connection breaks while a full queue holds its input
  // back and a heartbeat is due or comes. So the queue is never full (Watch bounds its bytes), and
  // there are no heartbeats: sessions have their own, which don't cut a slow transfer either.
  socket.Set(ZMQ_RCVHWM, 0);
  const std::int64_t most = MaxMessageSize();
  COVEY_CHECK(zmq_setsockopt(socket.get(), ZMQ_MAXMSGSIZE, &most, sizeof most) == 0, zmq_errno());
  socket.SetLinger(Duration::zero());
  socket.Set(ZMQ_IPV6, 1);
  socket.Set(ZMQ_IMMEDIATE, 1);
  socket.Set(ZMQ_HANDSHAKE_IVL, Milliseconds(settings.handshake_timeout));
  socket.Set(ZMQ_HEARTBEAT_IVL, 0);
  socket.Set(ZMQ_TCP_KEEPALIVE, 1);
  socket.Set(ZMQ_TCP_KEEPALIVE_IDLE, 30);
  socket.Set(ZMQ_TCP_KEEPALIVE_INTVL, 10);
  socket.Set(ZMQ_TCP_KEEPALIVE_CNT, 3);
  socket.Set(ZMQ_TCP_MAXRT, 30000);
  if (settings.socket_buffer > 0) {
    socket.Set(ZMQ_SNDBUF, settings.socket_buffer);
    socket.Set(ZMQ_RCVBUF, settings.socket_buffer);
  }
}

}  // namespace

std::int64_t MaxMessageSize() {
  return static_cast<std::int64_t>(transport::kMaxFrame) + kCurveOverhead + kMargin;
}

void Socket::Set(int option, int value) {
  COVEY_CHECK(zmq_setsockopt(handle_, option, &value, sizeof value) == 0, option, value,
              zmq_errno());
}

void Socket::Set(int option, const std::string& value) {
  COVEY_CHECK(zmq_setsockopt(handle_, option, value.data(), value.size()) == 0, option,
              zmq_errno());
}

void Socket::SetKey(int option, const void* bytes) {
  COVEY_CHECK(zmq_setsockopt(handle_, option, bytes, 32) == 0, option, zmq_errno());
}

void Socket::SetLinger(Duration linger) { Set(ZMQ_LINGER, Milliseconds(linger)); }

int Socket::Events() const {
  int events = 0;
  std::size_t size = sizeof events;
  return zmq_getsockopt(handle_, ZMQ_EVENTS, &events, &size) == 0 ? events : 0;
}

void Socket::Close() {
  if (handle_ != nullptr) zmq_close(std::exchange(handle_, nullptr));
}

Monitor::Monitor(void* context, Socket& watched, int events) {
  static std::atomic<std::uint64_t> next{1};
  const std::string address = "inproc://covey-monitor-" + std::to_string(next.fetch_add(1));
  if (zmq_socket_monitor(watched.get(), address.c_str(), events) != 0) return;
  socket_ = Socket(context, ZMQ_PAIR);
  if (socket_) {
    socket_.SetLinger(Duration::zero());
    if (zmq_connect(socket_.get(), address.c_str()) == 0) return;
  }
  Stop(watched);
}

bool Monitor::Next(MonitorEvent* event) {
  Message head;
  if (!socket_ || !head.Receive(socket_)) return false;
  std::uint16_t kind = 0;
  std::int32_t value = 0;
  if (head.size() >= sizeof kind + sizeof value) {
    std::memcpy(&kind, head.data(), sizeof kind);
    std::memcpy(&value, static_cast<const char*>(head.data()) + sizeof kind, sizeof value);
  }
  bool more = head.more();
  while (more) {  // the address
    Message rest;
    if (!rest.Receive(socket_)) break;
    more = rest.more();
  }
  event->kind = kind;
  event->value = value;
  return true;
}

void Monitor::Stop(Socket& watched) {
  MonitorEvent ignored;
  while (Next(&ignored)) {
  }
  if (watched) zmq_socket_monitor(watched.get(), nullptr, 0);
  socket_.Close();
}

void SetListening(Socket& router, const Settings& settings) {
  SetCommon(router, settings);
  router.Set(ZMQ_ROUTER_MANDATORY, 1);
  router.Set(ZMQ_ROUTER_HANDOVER, 0);
  if (settings.curve) {
    router.Set(ZMQ_CURVE_SERVER, 1);
    router.SetKey(ZMQ_CURVE_SECRETKEY, settings.keys.secret.bytes.data());
    router.Set(ZMQ_ZAP_DOMAIN, std::string(kZapDomain));
    router.Set(kZapEnforceDomain, 1);
  }
}

void SetDoor(Socket& router, const Settings& settings) {
  SetListening(router, settings);
  router.Set(ZMQ_ZAP_DOMAIN, std::string(kDoorDomain));
  const std::int64_t most = DoorSettings::kMaxKnock + kCurveOverhead;
  COVEY_CHECK(zmq_setsockopt(router.get(), ZMQ_MAXMSGSIZE, &most, sizeof most) == 0, zmq_errno());
}

void SetDialling(Socket& dealer, const Settings& settings, const KeyPair& own,
                 const PeerKey& server) {
  SetCommon(dealer, settings);
  dealer.Set(ZMQ_CONNECT_TIMEOUT, Milliseconds(settings.connect_timeout));
  // libzmq's own reconnecting has jitter or back-off, not both, and stops for good after an error
  // of protocol or authentication. So it is off, and the supervisor makes a new socket after every
  // loss.
  dealer.Set(ZMQ_RECONNECT_IVL, -1);
  if (settings.curve) {
    dealer.SetKey(ZMQ_CURVE_SERVERKEY, server.bytes.data());
    dealer.SetKey(ZMQ_CURVE_PUBLICKEY, own.public_key.bytes.data());
    dealer.SetKey(ZMQ_CURVE_SECRETKEY, own.secret.bytes.data());
  }
}

}  // namespace covey::transport_zmq
