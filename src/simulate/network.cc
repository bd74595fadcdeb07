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

namespace {

// Mean part of the time for which a direction is clogged.
double Clogged(const config::LinkFaults& links) {
  if (links.clog_every <= Duration::zero()) return 0;
  return Seconds(links.clog_for) / (Seconds(links.clog_every) + Seconds(links.clog_for));
}

}  // namespace

VirtualNetwork::Port& VirtualNetwork::AddPort(const PeerKey& key,
                                              const config::LinkFaults& settings,
                                              transport::Sink& sink) {
  const auto index = static_cast<std::uint32_t>(ports_.size());
  ports_.push_back(std::make_unique<Port>(*this, index, key, settings, sink));
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

Time VirtualNetwork::Direction::AfterClog(const config::LinkFaults& clogs, Time time) {
  while (clog_ends <= time) {
    clog_begins = clog_ends + Exponential(clog, clogs.clog_every);
    clog_ends = clog_begins + Exponential(clog, clogs.clog_for);
  }
  return time >= clog_begins ? clog_ends : time;
}

Duration VirtualNetwork::Direction::DrawDelay(const config::LinkFaults& delays) {
  const double tail = delays.delay_tail;
  const double factor = std::exp(tail * delay.Normal() - tail * tail / 2);
  return delays.delay_min + FromSeconds(factor * Seconds(delays.delay - delays.delay_min));
}

Time VirtualNetwork::ArrivalTime(End& end, std::size_t bytes) {
  const config::LinkFaults& here = end.port->settings_;
  const config::LinkFaults& there = end.peer->settings_;
  const config::LinkFaults& delays = there.delay > here.delay ? there : here;
  const config::LinkFaults& clogs = Clogged(there) > Clogged(here) ? there : here;
  const auto bandwidth = static_cast<double>(std::min(here.bandwidth.value, there.bandwidth.value));
  end.busy_until = std::max(end.busy_until, scheduler_.now()) +
                   FromSeconds(static_cast<double>(bytes) / bandwidth);
  Duration delay = delays.delay;
  if (!healed_ && clogs.clog_every > Duration::zero()) {
    end.busy_until = DirectionOf(end).AfterClog(clogs, end.busy_until);
  }
  if (!healed_ && delays.delay_tail > 0) delay = DirectionOf(end).DrawDelay(delays);
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

void VirtualNetwork::Heal() { healed_ = true; }

Time VirtualNetwork::MovePaths() {
  const Time next = paths_.MoveTo(scheduler_.now());
  ReleaseAll();
  return next;
}

}  // namespace covey::simulate
