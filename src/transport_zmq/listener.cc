#include "transport_zmq/listener.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace covey::transport_zmq {
namespace {

using transport::LinkId;
using transport::SendResult;
using transport::Sink;

// libzmq's own routing ids; what a peer chose itself looks different, or is taken for one of these
// at its own cost: an id in use is refused by libzmq.
constexpr std::size_t kOwnIdSize = 5;
constexpr std::size_t kMaxBurials = 4096;
constexpr Duration kShortestRest = std::chrono::milliseconds(10);
constexpr Duration kLongestRest = std::chrono::seconds(1);
constexpr int kMonitorBurst = 4096;

bool NoDescriptor(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

void Listener::Stop(Duration linger) {
  if (!router_) return;
  monitor_.Stop(router_);
  router_.SetLinger(linger);
  router_.Close();
}

void Listener::ReadMonitor(Time now) {
  MonitorEvent event;
  for (int i = 0; i < kMonitorBurst && monitor_.Next(&event); ++i) {
    switch (event.kind) {
      case ZMQ_EVENT_ACCEPTED:
        Accepted(event.value, now);
        break;
      case ZMQ_EVENT_DISCONNECTED:
        Disconnected(event.value);
        break;
      case ZMQ_EVENT_ACCEPT_FAILED:
        AcceptFailed(event.value, now);
        break;
      default:
        break;
    }
  }
}

void Listener::Accepted(int fd, Time now) {
  ++core_.counters.accepted;
  const auto tcp = TcpConnection::Of(fd);
  Disconnected(fd);  // its end was reported before, if it had one
  if (!tcp) {        // gone already
    ++core_.counters.accepted_in_vain;
    return;
  }
  if (connections_.size() >= 2 * core_.settings.max_links) {
    ++core_.counters.dropped_links;
    tcp->Cut();
    return;
  }
  if (!core_.Take(*tcp)) return;
  Connection connection;
  connection.tcp = *tcp;
  connection.since = now;
  connections_.emplace(fd, connection);
  due_ = std::min(due_, now + core_.settings.first_frame_timeout);
}

void Listener::Disconnected(int fd) {
  const auto at = connections_.find(fd);
  if (at == connections_.end()) return;
  if (at->second.link) ended_.push_back(*at->second.link);
  // libzmq has an event for some failed handshakes only.
  if (!at->second.named) ++core_.counters.accepted_in_vain;
  core_.watch.Remove(at->second.tcp.id());
  connections_.erase(at);
}

void Listener::AcceptFailed(int error, Time now) {
  if (!NoDescriptor(error) || rebind_at_ != kNever) return;
  ++core_.counters.accept_failures;
  // Without a descriptor libzmq tries again at once and for ever. Connections that are nobody's
  // link yet give theirs back; unbinding, the last resort, would end all links too.
  bool relieved = false;
  for (auto& [fd, connection] : connections_) {
    if (connection.named || connection.cut_at == Time::min()) continue;
    connection.cut_at = Time::min();
    connection.tcp.Cut();
    relieved = true;
  }
  if (relieved) return;
  zmq_unbind(router_.get(), bind_to_.c_str());
  pause_ = std::clamp(2 * pause_, kShortestRest, kLongestRest);
  rebind_at_ = now + pause_;
  due_ = std::min(due_, rebind_at_);
  core_.Notice("no descriptor left: not listening for " + FormatDuration(pause_));
}

int Listener::Read(Sink& sink, Time now, int most) {
  for (int i = 0; i < most; ++i) {
    if (!id_.Receive(router_)) return i;
    if (!id_.more() || !body_.Receive(router_)) continue;
    HandleMessage(sink, now);
  }
  return most;
}

void Listener::HandleMessage(Sink& sink, Time now) {
  const bool multipart = ReadRest(router_, body_);
  const std::string id(static_cast<const char*>(id_.data()), id_.size());
  if (buried_.contains(id)) {
    ++core_.counters.dropped_closed;
    const auto closed = connections_.find(zmq_msg_get(body_.get(), ZMQ_SRCFD));
    if (!multipart && closed != connections_.end()) {
      core_.watch.Delivered(closed->second.tcp.id(), body_.size());
    }
    return;
  }
  const std::string violation = Violation(multipart);
  auto at = routes_.find(id);
  if (at == routes_.end()) {
    ReadMonitor(now);  // whose descriptor is it now?
    const auto connection = connections_.find(zmq_msg_get(body_.get(), ZMQ_SRCFD));
    if (connection == connections_.end() || connection->second.named) {
      ++core_.counters.dropped_closed;
      return Bury(id);
    }
    connection->second.named = true;
    connection->second.cut_at = kNever;
    if (!violation.empty() || NewRoute(sink, id) == nullptr) {
      connection->second.tcp.Cut();
      return Bury(id);
    }
    at = routes_.find(id);
    if (at == routes_.end()) return;  // the sink closed it at once
  }
  Route& route = at->second;
  if (!violation.empty()) return Drop(sink, route, violation);
  const char* user = core_.settings.curve ? zmq_msg_gets(body_.get(), "User-Id") : "";
  if (user == nullptr || route.user != user) {
    ++core_.counters.dropped_unauthenticated;
    return Drop(sink, route, "sent a frame under another key");
  }
  core_.watch.Delivered(route.connection, body_.size());
  core_.Frame(sink, route.link, body_);
}

std::string Listener::Violation(bool multipart) {
  if (multipart) {
    ++core_.counters.dropped_multipart;
    return "sent a multipart message";
  }
  if (body_.size() > transport::kMaxFrame) {
    ++core_.counters.dropped_oversize;
    return "sent a frame of " + std::to_string(body_.size()) + " bytes";
  }
  return {};
}

Listener::Route* Listener::NewRoute(Sink& sink, const std::string& id) {
  if (id.size() != kOwnIdSize || id.front() != '\0') {
    ++core_.counters.dropped_routing_id;
    return nullptr;
  }
  Route route;
  if (core_.settings.curve) {
    const char* user = zmq_msg_gets(body_.get(), "User-Id");
    const Result<PeerKey> key = FromZ85(user == nullptr ? "" : user);
    if (!key || !core_.Allowed(*key)) {
      ++core_.counters.dropped_unauthenticated;
      return nullptr;
    }
    route.user = user;
    route.key = *key;
  }
  if (routes_.size() >= core_.settings.max_links) {
    ++core_.counters.dropped_links;
    return nullptr;
  }
  route.link = Core::NewLink();
  route.id = id;
  route.fd = zmq_msg_get(body_.get(), ZMQ_SRCFD);
  Connection& connection = connections_.at(route.fd);
  connection.link = route.link;
  route.connection = connection.tcp.id();
  links_.emplace(route.link.value, id);
  Route& kept = routes_.emplace(id, route).first->second;
  transport::LinkInfo info{route.link, {}, false, connection.tcp.peer()};
  if (core_.settings.curve) info.key = route.key;
  core_.Up(sink, info);
  return &kept;
}

void Listener::Forget(Route& route) {
  const auto connection = connections_.find(route.fd);
  if (connection != connections_.end() && connection->second.link == route.link) {
    connection->second.link.reset();
  }
  links_.erase(route.link.value);
  const std::string id = route.id;
  routes_.erase(id);
  Bury(id);
}

void Listener::Drop(Sink& sink, Route& route, const std::string& reason) {
  const LinkId link = route.link;
  const auto connection = connections_.find(route.fd);
  if (connection != connections_.end() && connection->second.link == link) {
    connection->second.tcp.Cut();
  }
  Forget(route);
  core_.Down(sink, link, reason);
}

void Listener::Bury(const std::string& id) {
  if (!buried_.insert(id).second) return;
  burials_.push_back(id);
  if (burials_.size() > kMaxBurials) {
    buried_.erase(burials_.front());
    burials_.pop_front();
  }
}

void Listener::EndLinks(Sink& sink) {
  const std::vector<LinkId> ended = std::move(ended_);
  ended_.clear();
  for (const LinkId link : ended) {
    const auto at = links_.find(link.value);
    if (at == links_.end()) continue;
    Drop(sink, routes_.at(at->second), "connection ended");
  }
}

void Listener::Revoke(Sink& sink) {
  std::vector<LinkId> revoked;
  for (const auto& [id, route] : routes_) {
    if (!core_.Allowed(route.key)) revoked.push_back(route.link);
  }
  std::sort(revoked.begin(), revoked.end());
  for (const LinkId link : revoked) {
    const auto at = links_.find(link.value);
    if (at != links_.end()) Drop(sink, routes_.at(at->second), "key is not allowed any more");
  }
}

bool Listener::CutUnfinished(Sink& sink, std::uint64_t connection) {
  const auto at = std::find_if(connections_.begin(), connections_.end(),
                               [&](const auto& c) { return c.second.tcp.id() == connection; });
  if (at == connections_.end()) return false;
  ++core_.counters.cut_unfinished;
  core_.watch.Remove(connection);  // its end may take a moment: cut it once
  const auto link = at->second.link;
  at->second.tcp.Cut();
  if (link) Drop(sink, routes_.at(links_.at(link->value)), "sent more than it was granted");
  return true;
}

void Listener::Tick(Time now) {
  if (now < due_) return;
  due_ = kNever;
  for (auto& [fd, connection] : connections_) {
    if (!connection.named && connection.cut_at == kNever) {
      connection.cut_at = connection.since + core_.settings.first_frame_timeout;
    }
    if (connection.cut_at == Time::min()) continue;  // cut, and not yet reported as ended
    if (connection.cut_at <= now) {
      if (!connection.named) ++core_.counters.cut_silent;
      connection.cut_at = Time::min();
      connection.tcp.Cut();
    } else if (!connection.named || connection.cut_at != kNever) {
      due_ = std::min(due_, connection.cut_at);
    }
  }
  if (rebind_at_ <= now) {
    rebind_at_ = kNever;
    if (BindAgain(router_, bind_to_).empty()) {  // the old socket may need a moment to go
      pause_ = std::clamp(2 * pause_, kShortestRest, kLongestRest);
      rebind_at_ = now + pause_;
    }
  }
  due_ = std::min(due_, rebind_at_);
}

SendResult Listener::Send(LinkId link, ByteView header, ByteView body) {
  Route& route = routes_.at(links_.at(link.value));
  if (zmq_send(router_.get(), route.id.data(), route.id.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
    if (zmq_errno() == EAGAIN) return SendResult::kFull;
    Forget(route);
    core_.downs.emplace_back(link, "connection ended");
    return SendResult::kGone;
  }
  // The route has room now, so this part is taken, or dropped with a route that ends in this
  // moment.
  SendFrame(router_, header, body);
  return SendResult::kSent;
}

void Listener::Close(LinkId link, Time now) {
  Route& route = routes_.at(links_.at(link.value));
  const auto connection = connections_.find(route.fd);
  if (connection != connections_.end() && connection->second.link == link) {
    connection->second.cut_at = now + core_.settings.linger;
    due_ = std::min(due_, connection->second.cut_at);
  }
  Forget(route);
}

}  // namespace covey::transport_zmq
