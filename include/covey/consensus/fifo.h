// The FIFO U of Algorithm 1: the only queue of received models, bounded in messages and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/consensus/message.h"

namespace covey::consensus {

struct FifoLimits {
  std::size_t weights = 8;       // WEIGHTS messages, at least 1
  std::size_t deltas = 16;       // DELTAS messages, in slots of their own, at least 1
  ByteCount bytes{64ull << 20};  // payload of both together
};

struct FifoCounters {
  std::uint64_t evicted_weights = 0;  // pushed out by a newer message; their senders get NACK(BUSY)
  std::uint64_t refused_weights = 0;  // larger than the whole queue, or no WEIGHTS left to evict
  std::uint64_t refused_deltas = 0;  // more DELTAS than slots: a peer answers what it was not asked
};

// Order: arrival. Overflow: the oldest WEIGHTS leave first; a DELTAS is never dropped in favour of
// a WEIGHTS. Thread: none of its own; the host locks it.
class Fifo {
 public:
  explicit Fifo(FifoLimits limits);

  // Returns: the WEIGHTS that did not survive (evicted ones, or `message` itself), for the host to
  // answer BUSY.
  std::vector<Message> Push(Message message);
  std::optional<Message> Pop();

  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return queue_.size(); }
  std::uint64_t bytes() const { return bytes_; }
  const FifoCounters& counters() const { return counters_; }

 private:
  bool EvictOldestWeights(std::vector<Message>& evicted);

  FifoLimits limits_;
  FifoCounters counters_;
  std::deque<Message> queue_;
  std::size_t weights_ = 0;
  std::size_t deltas_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace covey::consensus
