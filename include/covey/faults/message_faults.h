// Decides the fate of outgoing messages: lost, doubled, late.
//
// Determinism: a function of the stream and of the sequence of kinds. Three numbers are taken
// for every message whatever the rates are, so runs with the same seed and different rates lose
// comparable messages.
#pragma once

#include <cstdint>

#include "covey/base/random.h"
#include "covey/base/time.h"
#include "covey/consensus/message.h"
#include "covey/faults/settings.h"

namespace covey::faults {

struct Fate {
  bool drop = false;
  bool duplicate = false;  // never together with drop
  Duration delay{};
};

struct MessageCounters {
  std::uint64_t weights_dropped = 0;
  std::uint64_t deltas_dropped = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t delayed = 0;
};

class MessageFaults {
 public:
  // `node_seed` counts where the settings have none. Requires: Validate(settings).
  MessageFaults(const Settings& settings, std::uint64_t node_seed, std::uint32_t node);

  Fate Decide(consensus::MessageKind kind);
  // From now on nothing is injected.
  void Stop() { settings_ = Settings{}; }
  const MessageCounters& counters() const { return counters_; }

 private:
  Settings settings_;
  Stream stream_;
  MessageCounters counters_;
};

}  // namespace covey::faults
