// A virtual network: links between nodes of one process on the virtual clock.
//
// A link is a reliable ordered connection, as TCP is: what the path holds up (a partition, a clog,
// a radio out of range, a receiver that stands still) waits in order and flows afterwards, until
// one end closes the link. Losses of whole messages and damage to frames are injected above it, by
// the learner's own fault decorators, as in a daemon.
//
// A node's own settings count in both directions of its links. Where the two ends of a link differ
// the worse holds: the longer mean delay with its law, the smaller bandwidth, the clogs that hold
// the link up for the larger part of the time.
// Equation (delay of a frame): size / bandwidth after the frame before it, then the end of the clog
//   that it meets, then min + (mean - min) exp(tail Z - tail^2 / 2), Z normal: a shifted log-normal
//   law whose mean is `mean` for every tail; never before the frame that was sent before it.
// Equation (clogs): a direction is free for exponential times with mean clog_every and then clogged
//   for exponential times with mean clog_for, from the start of the run.
// Cost: memory for open links, and for each pair that ever had one while delays or clogs are drawn.
// Thread: none.  Determinism: a function of the settings, the seed and the calls; ends and pairs
// are walked in key order.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/random.h"
#include "covey/config/fault_settings.h"
#include "covey/simulate/paths.h"
#include "covey/simulate/scheduler.h"
#include "covey/simulate/topology.h"
#include "covey/transport/transport.h"

namespace covey::simulate {

class VirtualNetwork {
 public:
  VirtualNetwork(Scheduler& scheduler, std::uint64_t seed, Paths paths)
      : scheduler_(scheduler), seed_(seed), paths_(std::move(paths)) {}

  // One node's end of the network; lives as long as the network.
  class Port : public transport::Transport {
   public:
    Port(VirtualNetwork& network, std::uint32_t index, PeerKey key,
         const config::LinkFaults& settings, transport::Sink& sink)
        : network_(network), index_(index), key_(key), settings_(settings), sink_(sink) {}
    transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body) override;
    void Close(transport::LinkId link) override;

   private:
    friend class VirtualNetwork;
    VirtualNetwork& network_;
    std::uint32_t index_;
    PeerKey key_;
    config::LinkFaults settings_;
    transport::Sink& sink_;
    bool stopped_ = false;
  };

  // The ports of nodes 0, 1, ... in this order. `settings`: but for its topology.
  Port& AddPort(const PeerKey& key, const config::LinkFaults& settings, transport::Sink& sink);

  // Opens a link; both ends hear of it at the present time. Requires: paths().BothWays.
  void Connect(std::uint32_t dialler, std::uint32_t listener);
  // Ends the newest link that `pair` dialled; both ends hear of it.
  void Drop(const Pair& pair);
  // The node's process is gone: its ends are, and the others hear of it as the paths allow.
  void CloseAll(std::uint32_t node);
  // A node that stands still takes nothing; what arrives waits.
  void Stop(std::uint32_t node);
  void Resume(std::uint32_t node);
  // From now on delays are the mean and nothing clogs.
  void Heal();

  const Paths& paths() const { return paths_; }
  // Brings the paths to the present time; what they held up flows where they are open again.
  // Returns: when they change next.
  Time MovePaths();

  // Called when the dialling end of a link is gone.
  void OnLost(std::function<void(const Pair& pair)> lost) { lost_ = std::move(lost); }

 private:
  struct Arrival {
    enum class Kind : std::uint8_t { kUp, kFrame, kDown };
    Kind kind = Kind::kFrame;
    std::shared_ptr<const AlignedBuffer> frame = {};
  };
  // Two ends make a link; each has an id of its own.
  struct End {
    Port* port = nullptr;
    Port* peer = nullptr;
    transport::LinkId other;
    bool dialled = false;
    Time busy_until{};  // of the direction that leaves this end
    Time arrives{};     // of the frame sent last: order is kept
    std::deque<Arrival> held = {};
  };
  // What is drawn for frames from one node to another, over all their links.
  struct Direction {
    Time AfterClog(const config::LinkFaults& clogs, Time time);
    Duration DrawDelay(const config::LinkFaults& delays);

    Stream delay;
    Stream clog;
    Time clog_begins{};
    Time clog_ends{};
  };

  Pair PairOf(const End& end) const;
  Direction& DirectionOf(const End& end);
  // When what leaves `end` now arrives.
  Time ArrivalTime(End& end, std::size_t bytes);
  void Arrive(transport::LinkId to, Arrival arrival);
  bool HeldUp(const End& end) const;
  void Dispatch(transport::LinkId to, const Arrival& arrival);
  void Release(transport::LinkId id);
  void ReleaseAll();
  void Erase(std::map<transport::LinkId, End>::iterator end);

  Scheduler& scheduler_;
  std::uint64_t seed_;
  Paths paths_;
  bool healed_ = false;
  std::function<void(const Pair&)> lost_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::map<transport::LinkId, End> ends_;
  std::map<Pair, Direction> directions_;
  std::map<Pair, transport::LinkId> dialled_;  // the newest link of each pair
  std::set<transport::LinkId> holding_;        // ends with arrivals that wait
  std::uint64_t next_link_ = 1;
};

}  // namespace covey::simulate
