#include "transport_zmq/door.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "covey/base/check.h"
#include "transport_zmq/listener.h"

namespace covey::transport_zmq {
namespace {

constexpr int kDoorEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED;
constexpr int kDoorBurst = 256;
constexpr Duration kDoorRest = std::chrono::seconds(1);

}  // namespace

Status Door::Open() {
  const std::string& listen = core_.settings.door.listen;
  router_ = Socket(core_.context, ZMQ_ROUTER);
  if (router_) {
    SetDoor(router_, core_.settings);
    monitor_ = Monitor(core_.context, router_, kDoorEvents);
  }
  if (!router_ || !monitor_) {
    return Fail(ErrorCode::kCantCreate, "door at " + listen, zmq_strerror(zmq_errno()),
                "raise the limit of open files (ulimit -n)");
  }
  Result<std::string> bound = BindTo(router_, listen);
  if (!bound) return tl::unexpected<Error>(bound.error());
  bound_ = std::move(*bound);
  endpoint_ = ShownEndpoint(bound_);
  return {};
}

void Door::Stop(Duration linger) {
  if (!router_) return;
  monitor_.Stop(router_);
  router_.SetLinger(linger);
  router_.Close();
}

void Door::ReadMonitor(Time now) {
  MonitorEvent event;
  for (int i = 0; i < kDoorBurst && monitor_.Next(&event); ++i) {
    if (event.kind == ZMQ_EVENT_ACCEPTED) {
      Accepted(event.value, now);
    } else if (event.kind == ZMQ_EVENT_DISCONNECTED) {
      Ended(event.value);
    } else if (event.kind == ZMQ_EVENT_ACCEPT_FAILED) {
      Pause(now);
    }
  }
}

void Door::Accepted(int fd, Time now) {
  Ended(fd);  // its end was reported before, if it had one
  const auto tcp = TcpConnection::Of(fd);
  if (!tcp) return;
  if (connections_.size() >= core_.settings.door.max_connections) {
    ++core_.counters.knocks_dropped;
    tcp->Cut();
    return;
  }
  if (!core_.Take(*tcp)) return;
  const Time cut_at = now + core_.settings.door.patience;
  connections_.emplace(fd, Connection{*tcp, cut_at});
  due_ = std::min(due_, cut_at);
}

void Door::Ended(int fd) {
  const auto at = connections_.find(fd);
  if (at == connections_.end()) return;
  if (!at->second.heard) ++core_.counters.knocks_dropped;
  core_.watch.Remove(at->second.tcp.id());
  connections_.erase(at);
}

// Without a descriptor libzmq tries again at once and for ever; members come first.
void Door::Pause(Time now) {
  if (rebind_at_ != kNever) return;
  ++core_.counters.accept_failures;
  for (const auto& [fd, connection] : connections_) connection.tcp.Cut();
  zmq_unbind(router_.get(), bound_.c_str());
  rebind_at_ = now + kDoorRest;
  due_ = std::min(due_, rebind_at_);
}

void Door::Read(Time now) {
  for (int i = 0; i < kDoorBurst && id_.Receive(router_); ++i) {
    if (!id_.more() || !body_.Receive(router_)) continue;
    const bool multipart = ReadRest(router_, body_);
    ReadMonitor(now);  // whose descriptor is it now?
    const auto at = connections_.find(zmq_msg_get(body_.get(), ZMQ_SRCFD));
    if (at == connections_.end()) continue;
    Connection& connection = at->second;
    if (multipart || connection.heard || body_.size() > DoorSettings::kMaxKnock) {
      connection.tcp.Cut();
    } else {
      core_.watch.Delivered(connection.tcp.id(), body_.size());
      Answer(connection, now);
    }
  }
}

void Door::Answer(Connection& connection, Time now) {
  const char* user = zmq_msg_gets(body_.get(), "User-Id");
  const Result<PeerKey> key = FromZ85(user == nullptr ? "" : user);
  if (!key) return connection.tcp.Cut();
  ++core_.counters.knocks;
  connection.heard = true;
  connection.cut_at = now + core_.settings.linger;
  due_ = std::min(due_, connection.cut_at);
  const ByteView frame(static_cast<const std::byte*>(body_.data()), body_.size());
  const std::vector<std::byte> answer =
      core_.settings.door.answer ? core_.settings.door.answer(*key, connection.tcp.peer(), frame)
                                 : std::vector<std::byte>();
  COVEY_CHECK(answer.size() <= DoorSettings::kMaxKnock, answer.size());
  if (zmq_send(router_.get(), id_.data(), id_.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0) {
    zmq_send(router_.get(), answer.data(), answer.size(), ZMQ_DONTWAIT);
  }
}

void Door::Tick(Time now) {
  if (now < due_) return;
  due_ = kNever;
  for (auto& [fd, connection] : connections_) {
    if (connection.cut_at <= now) {
      connection.cut_at = kNever;  // its end is reported
      connection.tcp.Cut();
    }
    due_ = std::min(due_, connection.cut_at);
  }
  if (rebind_at_ <= now) {
    rebind_at_ = BindAgain(router_, bound_).empty() ? now + kDoorRest : kNever;
  }
  due_ = std::min(due_, rebind_at_);
}

bool Door::CutUnfinished(std::uint64_t id) {
  const auto at = std::find_if(connections_.begin(), connections_.end(),
                               [&](const auto& entry) { return entry.second.tcp.id() == id; });
  if (at == connections_.end()) return false;
  ++core_.counters.cut_unfinished;
  core_.watch.Remove(id);
  at->second.tcp.Cut();
  return true;
}

}  // namespace covey::transport_zmq
