#include "covey/simulate/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "covey/base/check.h"
#include "simulate/world_stream.h"

namespace covey::simulate {

using transport::LinkId;
using transport::LinkInfo;
using transport::SendResult;

VirtualNetwork::VirtualNetwork(Scheduler& scheduler, const config::LinkFaults& settings,
                               std::uint64_t seed, Paths paths)
    : scheduler_(scheduler), settings_(settings), seed_(seed), paths_(std::move(paths)) {}

VirtualNetwork::Port& VirtualNetwork::AddPort(const PeerKey& key, transport::Sink& sink) {
  const auto index = static_cast<std::uint32_t>(ports_.size());
  ports_.push_back(std::make_unique<Port>(*this, index, key, sink));
  return *ports_.back();
}

// --- Links ---

void VirtualNetwork::Connect(std::uint32_t dialler, std::uint32_t listener) {
  COVEY_CHECK(dialler != listener && dialler < ports_.size() && listener < ports_.size(), dialler,
              listener);
  const LinkId near{next_link_++};
  const LinkId far{next_link_++};
  Port* one = ports_[dialler].get();
  Port* two = ports_[listener].get();
  ends_[near] = End{one, two, far, true, {}, {}, {}};
  ends_[far] = End{two, one, near, false, {}, {}, {}};
  dialled_[{dialler, listener}] = near;
  scheduler_.After(Duration::zero(), [this, near, far] {
    Arrive(far, {.kind = Arrival::Kind::kUp});
    Arrive(near, {.kind = Arrival::Kind::kUp});
  });
}

void VirtualNetwork::Drop(const Pair& pair) {
  const auto link = dialled_.find(pair);
  if (link == dialled_.end()) return;
  const LinkId near = link->second;
  const LinkId far = ends_.at(near).other;
  scheduler_.After(Duration::zero(), [this, near, far] {
    Arrive(far, {.kind = Arrival::Kind::kDown});
    Arrive(near, {.kind = Arrival::Kind::kDown});
  });
}

void VirtualNetwork::CloseAll(std::uint32_t node) {
  Port& port = *ports_[node];
  std::vector<LinkId> own;
  for (const auto& [id, end] : ends_) {
    if (end.port == &port) own.push_back(id);
  }
  for (const LinkId id : own) port.Close(id);
  port.stopped_ = false;
}

void VirtualNetwork::Port::Close(LinkId link) {
  const auto entry = network_.ends_.find(link);
  if (entry == network_.ends_.end()) return;
  const LinkId other = entry->second.other;
  const Time arrives = network_.ArrivalTime(entry->second, 0);
  network_.Erase(entry);
  VirtualNetwork& network = network_;
  network.scheduler_.At(
      arrives, [&network, other] { network.Arrive(other, {.kind = Arrival::Kind::kDown}); });
}

void VirtualNetwork::Erase(std::map<LinkId, End>::iterator end) {
  const Pair pair = PairOf(end->second);
  const LinkId id = end->first;
  const bool dialled = end->second.dialled;
  holding_.erase(id);
  ends_.erase(end);
  if (!dialled) return;
  const auto newest = dialled_.find(pair);
  if (newest == dialled_.end() || newest->second != id) return;
  dialled_.erase(newest);
  if (lost_) lost_(pair);
}

Pair VirtualNetwork::PairOf(const End& end) const {
  return end.dialled ? Pair{end.port->index_, end.peer->index_}
                     : Pair{end.peer->index_, end.port->index_};
}

// --- Frames ---

SendResult VirtualNetwork::Port::Send(LinkId link, ByteView header, ByteView body) {
  const auto entry = network_.ends_.find(link);
  if (entry == network_.ends_.end()) return SendResult::kGone;
  End& end = entry->second;
  const std::size_t size = header.size() + body.size();
  auto frame = std::make_shared<AlignedBuffer>(size);
  std::memcpy(frame->data(), header.data(), header.size());
  if (!body.empty()) std::memcpy(frame->data() + header.size(), body.data(), body.size());

  VirtualNetwork& network = network_;
  const Time arrives = network.ArrivalTime(end, size);
  network.scheduler_.At(arrives, [&network, other = end.other, frame = std::move(frame)] {
    network.Arrive(other, {.kind = Arrival::Kind::kFrame, .frame = frame});
  });
  return SendResult::kSent;
}

VirtualNetwork::Direction& VirtualNetwork::DirectionOf(const End& end) {
  const Pair key{end.port->index_, end.peer->index_};
  const auto found = directions_.find(key);
  if (found != directions_.end()) return found->second;
  return directions_
      .emplace(key, Direction{.delay = WorldStream(seed_, Draw::kDelay, key.first, key.second),
                              .clog = WorldStream(seed_, Draw::kClog, key.first, key.second)})
      .first->second;
}

Time VirtualNetwork::AfterClog(Direction& direction, Time time) const {
  while (direction.clog_ends <= time) {
    direction.clog_begins = direction.clog_ends + Exponential(direction.clog, settings_.clog_every);
    direction.clog_ends = direction.clog_begins + Exponential(direction.clog, settings_.clog_for);
  }
  return time >= direction.clog_begins ? direction.clog_ends : time;
}

Duration VirtualNetwork::DrawDelay(Direction& direction) const {
  const double tail = settings_.delay_tail;
  const double factor = std::exp(tail * direction.delay.Normal() - tail * tail / 2);
  return settings_.delay_min + FromSeconds(factor * Seconds(settings_.delay - settings_.delay_min));
}

Time VirtualNetwork::ArrivalTime(End& end, std::size_t bytes) {
  const double seconds =
      static_cast<double>(bytes) / static_cast<double>(settings_.bandwidth.value);
  end.busy_until = std::max(end.busy_until, scheduler_.now()) + FromSeconds(seconds);
  Duration delay = settings_.delay;
  if (settings_.clog_every > Duration::zero()) {
    end.busy_until = AfterClog(DirectionOf(end), end.busy_until);
  }
  if (settings_.delay_tail > 0) delay = DrawDelay(DirectionOf(end));
  end.arrives = std::max(end.arrives, end.busy_until + delay);
  return end.arrives;
}

// --- Arrivals ---

bool VirtualNetwork::HeldUp(const End& end) const {
  return end.port->stopped_ || !paths_.Open(end.peer->index_, end.port->index_);
}

void VirtualNetwork::Arrive(LinkId to, Arrival arrival) {
  const auto found = ends_.find(to);
  if (found == ends_.end()) return;
  End& end = found->second;
  if (end.held.empty() && !HeldUp(end)) return Dispatch(to, arrival);
  end.held.push_back(std::move(arrival));
  holding_.insert(to);
}

void VirtualNetwork::Dispatch(LinkId to, const Arrival& arrival) {
  const auto found = ends_.find(to);
  if (found == ends_.end()) return;
  transport::Sink& sink = found->second.port->sink_;
  switch (arrival.kind) {
    case Arrival::Kind::kUp: {
      // The other end may have closed meanwhile: then its word is on the way.
      const PeerKey& key = found->second.peer->key_;
      sink.OnLinkUp(LinkInfo{to, key, found->second.dialled, "virtual:" + key.Short()});
      return;
    }
    case Arrival::Kind::kFrame:
      sink.OnFrame(to, arrival.frame->view());
      return;
    case Arrival::Kind::kDown:
      Erase(found);
      sink.OnLinkDown(to, "closed by the peer");
      return;
  }
}

void VirtualNetwork::Release(LinkId id) {
  for (;;) {
    const auto found = ends_.find(id);
    if (found == ends_.end()) return;
    End& end = found->second;
    if (end.held.empty()) {
      holding_.erase(id);
      return;
    }
    if (HeldUp(end)) return;
    const Arrival next = std::move(end.held.front());
    end.held.pop_front();
    Dispatch(id, next);
  }
}

void VirtualNetwork::ReleaseAll() {
  for (const LinkId id : holding_) {
    scheduler_.After(Duration::zero(), [this, id] { Release(id); });
  }
}

void VirtualNetwork::Stop(std::uint32_t node) { ports_[node]->stopped_ = true; }

void VirtualNetwork::Resume(std::uint32_t node) {
  ports_[node]->stopped_ = false;
  ReleaseAll();
}

void VirtualNetwork::Heal() {
  settings_.delay_tail = 0;
  settings_.clog_every = Duration::zero();
}

Time VirtualNetwork::MovePaths() {
  const Time next = paths_.MoveTo(scheduler_.now());
  ReleaseAll();
  return next;
}

}  // namespace covey::simulate
