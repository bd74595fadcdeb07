// Nodes with Links on a virtual clock, whose uplinks are narrow: all that a node sends leaves one
// frame after another at its rate, over whichever link, and arrives `delay` later. Nothing is ever
// full, as with the buffers of a modem: what a node sends too early it waits for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/links_fixture.h"

namespace covey::test {

class NarrowNetwork {
 public:
  class Node final : public transport::Transport {
   public:
    Node(NarrowNetwork& network, const learner::LinkSettings& with, double bytes_a_second)
        : rate(bytes_a_second),
          settings(with),
          network_(network),
          links(std::make_unique<learner::Links>(settings, *this, codec, events)) {}
    ~Node() override { network_.dying_ = true; }
    transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body) override {
      return network_.Send(*this, link, header, body);
    }
    void Close(transport::LinkId link) override { network_.Break(link); }
    void Send(consensus::Message message) {
      links->SetTime(network_.now);
      links->Send(std::move(message));
      due = Time{};
    }

    double rate;
    wire_pb::ProtobufCodec codec;
    RecordedEvents events;
    learner::LinkSettings settings;
    Time due{};
    Time busy_until{};

   private:
    NarrowNetwork& network_;

   public:
    std::unique_ptr<learner::Links> links;
  };

  Node& Add(const learner::LinkSettings& settings, double bytes_a_second) {
    nodes.push_back(std::make_unique<Node>(*this, settings, bytes_a_second));
    return *nodes.back();
  }

  void Dial(Node& from, Node& to) {
    const transport::LinkId near{++last_link_};
    const transport::LinkId far{++last_link_};
    ends_[near] = End{&from, far};
    ends_[far] = End{&to, near};
    const auto up = [this](transport::LinkId link, Node& node, Node& peer, bool dialled) {
      At(now + delay, link, [&node, &peer, link, dialled] {
        node.links->OnLinkUp({link, peer.settings.session.self, dialled, "narrow"});
      });
    };
    up(far, to, from, false);
    up(near, from, to, true);
  }

  // Everything on the way is lost; both sides hear of it now, and `redial` later they meet again.
  void ResetAll(Duration redial) {
    std::vector<std::pair<Node*, Node*>> pairs;
    while (!ends_.empty()) {
      const auto [link, end] = *ends_.begin();
      Node* from = end.node;
      Node* to = ends_.at(end.other).node;
      const transport::LinkId other = end.other;
      ends_.erase(link);
      ends_.erase(other);
      from->links->SetTime(now);
      from->links->OnLinkDown(link, "reset");
      to->links->SetTime(now);
      to->links->OnLinkDown(other, "reset");
      pairs.emplace_back(from, to);
    }
    for (const auto& [from, to] : pairs) {
      At(now + redial, {}, [this, from = from, to = to] { Dial(*from, *to); });
    }
    for (auto& node : nodes) node->busy_until = now;
  }

  // Runs until `done` or that time. Returns: whether `done`.
  bool Run(Time until, const std::function<bool()>& done) {
    while (!done()) {
      Time next = events_.empty() ? kNever : events_.begin()->first;
      for (const auto& node : nodes) next = std::min(next, std::max(now, node->due));
      if (next > until) {
        now = until;
        return false;
      }
      now = next;
      if (!events_.empty() && events_.begin()->first <= now) {
        const Event event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        const auto end = ends_.find(event.link);
        if (event.link.value != 0 && end == ends_.end()) continue;
        if (end != ends_.end()) {
          end->second.node->links->SetTime(now);
          end->second.node->due = now;
        }
        event.run();
        continue;
      }
      for (const auto& node : nodes) {
        if (node->due > now) continue;
        node->links->SetTime(now);
        node->due = node->links->Tick();
      }
    }
    return true;
  }

  Duration delay = std::chrono::milliseconds(10);
  Time now{};
  std::uint64_t bytes = 0;       // that arrived
  std::set<std::size_t> bodies;  // lengths of bodies that were sent
  std::vector<std::unique_ptr<Node>> nodes;

 private:
  struct End {
    Node* node = nullptr;
    transport::LinkId other;
  };
  struct Event {
    transport::LinkId link;  // the end that it arrives at; 0: none
    std::function<void()> run;
  };

  void At(Time time, transport::LinkId link, std::function<void()> run) {
    events_.emplace(time, Event{link, std::move(run)});
  }

  transport::SendResult Send(Node& node, transport::LinkId link, ByteView header, ByteView body) {
    const auto end = ends_.find(link);
    if (end == ends_.end()) return transport::SendResult::kGone;
    auto frame = std::make_shared<std::vector<std::byte>>(Joined(header, body));
    bodies.insert(body.size());
    node.busy_until = std::max(node.busy_until, now) +
                      FromSeconds(static_cast<double>(frame->size()) / node.rate);
    const transport::LinkId other = end->second.other;
    Node* to = ends_.at(other).node;
    At(node.busy_until + delay, other, [this, to, other, frame] {
      bytes += frame->size();
      to->links->OnFrame(other, *frame);
    });
    return transport::SendResult::kSent;
  }

  void Break(transport::LinkId link) {
    const auto end = ends_.find(link);
    if (dying_ || end == ends_.end()) return;
    const transport::LinkId other = end->second.other;
    ends_.erase(end);
    const auto far = ends_.find(other);
    if (far == ends_.end()) return;
    Node* node = far->second.node;
    At(now + delay, other, [this, node, other] {
      ends_.erase(other);
      node->links->OnLinkDown(other, "closed by the peer");
    });
  }

  bool dying_ = false;
  std::uint64_t last_link_ = 0;
  std::map<transport::LinkId, End> ends_;
  std::multimap<Time, Event> events_;
};

}  // namespace covey::test
