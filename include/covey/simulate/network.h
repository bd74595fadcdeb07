// A virtual network: links between nodes of one process, with a delay, in order, on the virtual
// clock.
//
// Frames pass through the same sessions as in a daemon; losses of whole messages are injected above
// them by the learner's fault decorator, as in a daemon.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "covey/base/ids.h"
#include "covey/simulate/scheduler.h"
#include "covey/transport/transport.h"

namespace covey::simulate {

struct LinkModel {
  Duration delay = std::chrono::microseconds(300);  // one way, per frame
  double bytes_per_second = 1e9;                    // of one direction of a link
};

class VirtualNetwork {
 public:
  VirtualNetwork(Scheduler& scheduler, LinkModel model) : scheduler_(scheduler), model_(model) {}

  // One node's end of the network; lives as long as the network.
  class Port : public transport::Transport {
   public:
    Port(VirtualNetwork& network, PeerKey key, transport::Sink& sink)
        : network_(network), key_(key), sink_(sink) {}
    transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body) override;
    void Close(transport::LinkId link) override;

   private:
    friend class VirtualNetwork;
    VirtualNetwork& network_;
    PeerKey key_;
    transport::Sink& sink_;
  };

  Port& AddPort(const PeerKey& key, transport::Sink& sink);
  // Opens a link; both ends hear of it at the present time.
  void Connect(Port& dialler, Port& listener);

 private:
  // Two ends make a link; each has an id of its own.
  struct End {
    Port* port = nullptr;
    transport::LinkId other;
    Time busy_until{};  // of the direction that leaves this end
    Time arrives{};     // of the frame sent last: order is kept
  };

  Scheduler& scheduler_;
  LinkModel model_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::map<transport::LinkId, End> ends_;
  std::uint64_t next_link_ = 1;
};

}  // namespace covey::simulate
