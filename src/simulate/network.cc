#include "covey/simulate/network.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace covey::simulate {

using transport::LinkId;
using transport::LinkInfo;
using transport::SendResult;

VirtualNetwork::Port& VirtualNetwork::AddPort(const PeerKey& key, transport::Sink& sink) {
  ports_.push_back(std::make_unique<Port>(*this, key, sink));
  return *ports_.back();
}

void VirtualNetwork::Connect(Port& dialler, Port& listener) {
  const LinkId near{next_link_++};
  const LinkId far{next_link_++};
  ends_[near] = End{&dialler, far, {}, {}};
  ends_[far] = End{&listener, near, {}, {}};
  scheduler_.After(Duration::zero(), [this, near, far] {
    const auto up = [this](LinkId id, LinkId other, bool dialled) {
      const auto end = ends_.find(id);
      const auto peer = ends_.find(other);
      if (end == ends_.end() || peer == ends_.end()) return;
      const PeerKey& key = peer->second.port->key_;
      end->second.port->sink_.OnLinkUp(LinkInfo{id, key, dialled, "virtual:" + key.Short()});
    };
    up(far, near, false);
    up(near, far, true);
  });
}

SendResult VirtualNetwork::Port::Send(LinkId link, ByteView header, ByteView body) {
  const auto entry = network_.ends_.find(link);
  if (entry == network_.ends_.end()) return SendResult::kGone;
  End& end = entry->second;
  const std::size_t size = header.size() + body.size();
  auto frame = std::make_shared<AlignedBuffer>(size);
  std::memcpy(frame->data(), header.data(), header.size());
  if (!body.empty()) std::memcpy(frame->data() + header.size(), body.data(), body.size());

  Scheduler& scheduler = network_.scheduler_;
  const double seconds = static_cast<double>(size) / network_.model_.bytes_per_second;
  end.busy_until = std::max(end.busy_until, scheduler.now()) + FromSeconds(seconds);
  end.arrives = std::max(end.arrives, end.busy_until + network_.model_.delay);
  VirtualNetwork& network = network_;
  scheduler.At(end.arrives, [&network, other = end.other, frame = std::move(frame)] {
    const auto receiver = network.ends_.find(other);
    if (receiver == network.ends_.end()) return;
    receiver->second.port->sink_.OnFrame(other, frame->view());
  });
  return SendResult::kSent;
}

void VirtualNetwork::Port::Close(LinkId link) {
  const auto entry = network_.ends_.find(link);
  if (entry == network_.ends_.end()) return;
  const LinkId other = entry->second.other;
  network_.ends_.erase(entry);
  VirtualNetwork& network = network_;
  network.scheduler_.After(network.model_.delay, [&network, other] {
    const auto end = network.ends_.find(other);
    if (end == network.ends_.end()) return;
    transport::Sink& sink = end->second.port->sink_;
    network.ends_.erase(end);
    sink.OnLinkDown(other, "closed by the peer");
  });
}

}  // namespace covey::simulate
