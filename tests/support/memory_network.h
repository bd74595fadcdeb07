// A network in memory for tests: links are pairs of queues, events arrive one by one in the order
// that a stream draws (or round robin), in order on each link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/random.h"
#include "covey/transport/transport.h"

namespace covey::test {

class MemoryNetwork {
 public:
  // One node's end: hand it to whatever sends.
  class Port final : public transport::Transport {
   public:
    Port(MemoryNetwork& network, PeerKey node_key) : key(node_key), network_(network) {}
    transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body) override {
      return network_.Send(link, header, body);
    }
    void Close(transport::LinkId link) override { network_.Close(link); }

    PeerKey key;
    transport::Sink* sink = nullptr;

   private:
    MemoryNetwork& network_;
  };

  std::size_t capacity = 1000;  // frames under way on one direction of a link; more: kFull
  bool authenticated = true;    // links know the key of their peer
  std::uint64_t frames = 0;     // accepted
  std::size_t peak_bytes = 0;   // under way at one time

  Port& AddNode(PeerKey key) {
    nodes_.push_back(std::make_unique<Port>(*this, key));
    return *nodes_.back();
  }

  // Returns: the link as `from` (the dialling side) and as `to` see it.
  std::pair<transport::LinkId, transport::LinkId> Dial(Port& from, Port& to) {
    const transport::LinkId near{++last_link_};
    const transport::LinkId far{++last_link_};
    AddEnd(near, far, from, to.key, true);
    AddEnd(far, near, to, from.key, false);
    return {near, far};
  }

  // Both sides lose the link after what is under way.
  void Cut(transport::LinkId link) {
    const transport::LinkId other = ends_.at(link).other;
    ends_.at(link).events.push_back(Event{Event::kDown, {}});
    ends_.at(other).events.push_back(Event{Event::kDown, {}});
    ends_.at(link).open = ends_.at(other).open = false;
  }

  // Puts a frame onto the way to the owner of `link`, as if its peer had sent it.
  void Inject(transport::LinkId link, std::vector<std::byte> frame) {
    ends_.at(link).events.push_back(Event{Event::kFrame, std::move(frame)});
  }

  // Delivers one event. Returns: false when there was none.
  bool Step(Stream& stream) {
    std::vector<transport::LinkId> busy;
    for (const auto& [id, end] : ends_) {
      if (!end.events.empty()) busy.push_back(id);
    }
    if (busy.empty()) return false;
    Deliver(busy[static_cast<std::size_t>(stream.Below(busy.size()))]);
    return true;
  }

  // Delivers until nothing is under way, or `steps` events.
  void Run(std::uint64_t steps = 1000000) {
    for (std::uint64_t i = 0; i < steps; ++i) {
      auto busy = ends_.upper_bound(last_delivered_);
      while (busy != ends_.end() && busy->second.events.empty()) ++busy;
      if (busy == ends_.end()) {
        busy = ends_.begin();
        while (busy != ends_.end() && busy->second.events.empty()) ++busy;
      }
      if (busy == ends_.end()) return;
      last_delivered_ = busy->first;
      Deliver(busy->first);
    }
  }

  bool IsOpen(transport::LinkId link) const { return ends_.contains(link) && ends_.at(link).open; }

 private:
  struct Event {
    enum Kind { kUp, kFrame, kDown } kind;
    std::vector<std::byte> frame;
  };
  struct End {
    transport::LinkId other;
    Port* owner = nullptr;
    transport::LinkInfo info;
    bool open = true;
    std::deque<Event> events;  // on their way to the owner
  };

  void AddEnd(transport::LinkId id, transport::LinkId other, Port& owner, PeerKey peer,
              bool dialled) {
    End& end = ends_[id];
    end.other = other;
    end.owner = &owner;
    end.info.id = id;
    if (authenticated) end.info.key = peer;
    end.info.dialled = dialled;
    end.info.address = "memory://" + peer.Short();
    end.events.push_back(Event{Event::kUp, {}});
  }

  transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body) {
    const auto found = ends_.find(link);
    if (found == ends_.end() || !found->second.open) return transport::SendResult::kGone;
    End& other = ends_.at(found->second.other);
    if (other.events.size() >= capacity) return transport::SendResult::kFull;
    std::vector<std::byte> frame(header.size() + body.size());
    std::copy(body.begin(), body.end(), std::copy(header.begin(), header.end(), frame.begin()));
    ++frames;
    bytes_ += frame.size();
    if (bytes_ > peak_bytes) peak_bytes = bytes_;
    other.events.push_back(Event{Event::kFrame, std::move(frame)});
    return transport::SendResult::kSent;
  }

  void Close(transport::LinkId link) {
    const auto found = ends_.find(link);
    if (found == ends_.end() || found->second.owner == nullptr) return;
    End& end = found->second;
    for (const Event& event : end.events) bytes_ -= std::min(bytes_, event.frame.size());
    end.events.clear();
    end.owner = nullptr;
    if (!end.open) return;
    End& other = ends_.at(end.other);
    end.open = other.open = false;
    if (other.owner != nullptr) other.events.push_back(Event{Event::kDown, {}});
  }

  void Deliver(transport::LinkId link) {
    End& end = ends_.at(link);
    const Event event = std::move(end.events.front());
    end.events.pop_front();
    bytes_ -= std::min(bytes_, event.frame.size());
    if (end.owner == nullptr || end.owner->sink == nullptr) return;
    transport::Sink& sink = *end.owner->sink;
    switch (event.kind) {
      case Event::kUp:
        sink.OnLinkUp(end.info);
        break;
      case Event::kFrame:
        sink.OnFrame(link, event.frame);
        break;
      case Event::kDown:
        sink.OnLinkDown(link, "connection lost");
        break;
    }
  }

  std::vector<std::unique_ptr<Port>> nodes_;
  std::map<transport::LinkId, End> ends_;
  std::uint64_t last_link_ = 0;
  transport::LinkId last_delivered_{};
  std::size_t bytes_ = 0;
};

}  // namespace covey::test
