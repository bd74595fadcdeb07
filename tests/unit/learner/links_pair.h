// Two nodes with Links, linked, and small messages for them.
#pragma once

#include <utility>

#include "support/links_fixture.h"

namespace covey::learner::links_pair {

using consensus::MessageKind;
using test::LinkSettingsOf;
using test::LinksNode;
using test::MemoryNetwork;
using test::MessageOf;
using test::PayloadOf;
using test::To;

inline constexpr std::size_t kFloats = 16;

inline consensus::Message Weights(std::uint8_t to, std::uint64_t exchange) {
  return To(to, MessageOf(MessageKind::kWeights, exchange, PayloadOf(kFloats)));
}
inline consensus::Message Deltas(std::uint8_t to, std::uint64_t exchange) {
  return To(to, MessageOf(MessageKind::kDeltas, exchange, PayloadOf(kFloats)));
}

// Nodes 1 and 2; node 1 has dialled node 2.
struct Two {
  explicit Two(LinkSettings first = LinkSettingsOf(1, kFloats),
               LinkSettings second = LinkSettingsOf(2, kFloats))
      : a(network, first), b(network, second) {
    link = network.Dial(a.port, b.port);
    network.Run();
  }
  void SetTime(Time now) {
    a.links->SetTime(now);
    b.links->SetTime(now);
  }
  void Tick(Time now) {
    SetTime(now);
    a.links->Tick();
    b.links->Tick();
    network.Run();
  }

  MemoryNetwork network;
  LinksNode a;
  LinksNode b;
  std::pair<transport::LinkId, transport::LinkId> link;
};

}  // namespace covey::learner::links_pair
