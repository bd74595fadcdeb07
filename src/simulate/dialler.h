// Keeps the links of a fleet up: dials who is to be linked and dials again after a loss, as the
// daemons' transports do.
//
// A node dials its pairs when it starts; a pair whose listener has not started yet is dialled when
// it does. A link that is lost, or could not be made, is tried again after a pause that doubles
// from network.reconnect_first to network.reconnect_most of who dials, times an even draw from
// [0.5, 1].
// Thread: none.  Determinism: pairs in order; a function of the seed and the calls.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "covey/config/fault_settings.h"
#include "covey/simulate/network.h"
#include "covey/simulate/scheduler.h"
#include "covey/simulate/topology.h"

namespace covey::simulate {

class Dialler {
 public:
  struct Pauses {
    Duration first{};
    Duration most{};
  };
  struct Settings {
    config::TopologySettings topology;
    std::vector<Pauses> pauses = {};  // of each node
    std::uint64_t seed = 0;
  };

  Dialler(Scheduler& scheduler, VirtualNetwork& network, const Settings& settings,
          const std::vector<Pair>& pairs);

  void NodeUp(std::uint32_t node);
  void NodeDown(std::uint32_t node);
  // The paths are others than before.
  void PathsChanged();

 private:
  struct State {
    bool linked = false;
    bool waiting = false;        // for the next attempt
    std::uint32_t failures = 0;  // in a row
    std::uint64_t attempts = 0;  // that had to wait
  };
  using Entry = std::map<Pair, State>::iterator;

  void Add(const Pair& pair);
  void Attempt(const Pair& pair);
  void Retry(Entry entry);
  void Lost(const Pair& pair);
  void ScheduleRefresh(std::uint32_t node);
  void Refresh(std::uint32_t node);

  Scheduler& scheduler_;
  VirtualNetwork& network_;
  Settings settings_;
  std::uint32_t nodes_;
  bool partial_view_;
  bool distance_;
  std::map<Pair, State> pairs_;
  std::vector<std::vector<std::uint32_t>> listens_to_;  // by listener: who dials it
  std::vector<bool> up_;
  std::vector<bool> started_;      // ever
  std::vector<Stream> refreshes_;  // by node
};

}  // namespace covey::simulate
