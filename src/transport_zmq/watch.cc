#include "transport_zmq/watch.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>

namespace covey::transport_zmq {
namespace {

// What a frame takes on the connection (RFC 23, 26): flags and length, and the box of CURVE.
std::uint64_t OnTheWire(std::size_t frame, bool curve) {
  constexpr std::size_t kBox = 33;
  const std::size_t body = frame + (curve ? kBox : 0);
  return body + (body > 255 ? 9 : 2);
}

}  // namespace

Watch::Watch(std::uint64_t queue, bool curve)
    : queue_(queue), curve_(curve), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Watch::~Watch() {
  if (epoll_ >= 0) ::close(epoll_);
}

bool Watch::Add(const TcpConnection& connection) {
  if (let_in_ && !let_in_->contains(connection.OwnHost())) {
    connection.Cut();
    return false;
  }
  Entry entry;
  entry.connection = connection;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = connection.id();
  // The kernel forgets a closed descriptor by itself; a number that came back is a new
  // registration.
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd(), &event) != 0) {
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd(), &event);
  }
  entries_[connection.id()] = entry;
  return true;
}

void Watch::Remove(std::uint64_t id) { entries_.erase(id); }

void Watch::Delivered(std::uint64_t id, std::size_t frame) {
  const auto at = entries_.find(id);
  if (at != entries_.end()) at->second.delivered += OnTheWire(frame, curve_);
}

std::size_t Watch::CutOthers(const std::set<std::string>& hosts) {
  std::size_t cut = 0;
  for (const auto& [id, entry] : entries_) {
    const std::string own = entry.connection.OwnHost();
    if (own.empty() || hosts.contains(own)) continue;
    entry.connection.Cut();
    ++cut;
  }
  return cut;
}

void Watch::Arm(const Entry& entry) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = entry.connection.id();
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, entry.connection.fd(), &event);
}

bool Watch::Begin(Time now) {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    // A copy: the structure is packed, and a reference into it may be misaligned.
    const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;
    const auto at = entries_.find(id);
    if (at == entries_.end()) continue;
    at->second.active = true;
    if (due_ == kNever) due_ = now + kInterval;
  }
  if (now < due_) return false;
  for (auto& [id, entry] : entries_) {
    if (!entry.active) continue;
    const auto consumed = entry.connection.Consumed();
    entry.sampled = consumed.has_value();
    if (consumed) entry.sample = *consumed;
  }
  return true;
}

std::vector<std::uint64_t> Watch::End(Time now, bool drained) {
  std::vector<std::uint64_t> cut;
  due_ = kNever;
  for (auto& [id, entry] : entries_) {
    if (!entry.active) continue;
    if (!entry.sampled) {  // gone, or no descriptor for the look: its end will be reported
      due_ = now + kInterval;
      continue;
    }
    entry.sampled = false;
    if (entry.delivered > 0 && drained) {
      // What was complete at Begin has been handed over by now; the rest is within one frame.
      entry.base = entry.sample.high;
      entry.delivered = 0;
    } else if (entry.sample.low > entry.base + entry.delivered) {
      const std::uint64_t held = entry.sample.low - entry.base - entry.delivered;
      if (held > kAllowance + (drained ? 0 : queue_)) {
        cut.push_back(id);
        continue;
      }
    }
    entry.active = false;
    Arm(entry);
  }
  return cut;
}

}  // namespace covey::transport_zmq
