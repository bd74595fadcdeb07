// What happened on all links of a node together.
#pragma once

#include <array>
#include <cstdint>

#include "covey/wire/reason.h"

namespace covey::session {

struct Counters {
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t bytes_in = 0;  // envelopes and bodies
  std::uint64_t bytes_out = 0;
  std::uint64_t weights_in = 0;  // whole messages that passed every gate
  std::uint64_t deltas_in = 0;
  std::uint64_t weights_out = 0;  // whole messages that the transport took
  std::uint64_t deltas_out = 0;
  std::uint64_t copies_out = 0;      // of weights_out, those that answer a newcomer
  std::uint64_t replaced = 0;        // own WEIGHTS that a newer one overtook before it left
  std::uint64_t deltas_refused = 0;  // own DELTAS for which the queue of their link had no room
  std::uint64_t nacks_lost = 0;      // answers for which the queue had no room
  std::uint64_t resumed_in = 0;      // messages that went on where an earlier link broke
  std::uint64_t resumed_out = 0;
  std::uint64_t full = 0;      // the transport said "later"
  std::uint64_t timeouts = 0;  // links closed for silence or lack of progress
  std::array<std::uint64_t, wire::kReasons> rejected{};  // by us, of what peers sent
  std::array<std::uint64_t, wire::kReasons> nacks{};     // by peers, of what we sent

  std::uint64_t Rejected(wire::Reason reason) const {
    return rejected[static_cast<std::size_t>(reason)];
  }
};

}  // namespace covey::session
