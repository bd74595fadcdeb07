// Faults that a node inflicts on itself, to show that learning survives them.
#pragma once

#include <cstdint>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/base/time.h"

namespace covey::faults {

struct Settings {
  // Whole messages, above the session (MessageFaults).
  double weights_drop = 0;  // probability that an outgoing WEIGHTS is lost, [0, 1]
  double deltas_drop = 0;   // the same for DELTAS
  double duplicate = 0;     // probability that a message that is not lost goes out twice
  Duration delay{};         // every message waits this long before it goes out, at most an hour
  // and up to so much more, drawn evenly for each: they overtake each other; at most an hour
  Duration reorder{};
  // Frames, below the session (ByteFaults).
  double corrupt = 0;      // probability that one bit of an outgoing frame is flipped
  double cut = 0;          // probability that the link is cut instead of sending a frame
  ByteCount throttle{};    // bytes a second that the node may send, all links together; 0: no limit
  std::uint64_t seed = 0;  // 0: the node's own seed

  bool any_bytes() const { return corrupt > 0 || cut > 0 || throttle.value > 0; }
};

// Errors: kConfig naming the key, what was got and the range.
Status Validate(const Settings& settings);

}  // namespace covey::faults
