// Messages that wait for one link, and how much of the first has left.
//
// Limits: one WEIGHTS and one copy that have not begun (a newer one takes the place of the older:
// its x is better), a bounded number of DELTAS. The payload is shared with whoever made the
// message, never copied here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "covey/consensus/message.h"

namespace covey::session {

class Outgoing {
 public:
  explicit Outgoing(std::size_t max_deltas) : max_deltas_(max_deltas) {}

  // Returns: the message that will not be sent: an older WEIGHTS, or `message` itself, a DELTAS
  // without room.
  std::optional<consensus::Message> Push(consensus::Message message);

  // Forgets a message that its receiver refused. Returns: whether it was still here.
  bool Cancel(consensus::MessageKind kind, ExchangeId exchange);

  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return queue_.size(); }
  const consensus::Message& front() const { return queue_.front(); }

  // The message under way is the front one. Requires: !empty().
  bool begun() const { return begun_; }
  void Begin(std::uint32_t chunk);  // its BEGIN has left; chunks of that many bytes follow
  std::uint32_t next() const { return next_; }  // index of the next chunk
  std::uint32_t count() const { return count_; }
  ByteView chunk() const;  // its bytes
  // The next chunk has left. Returns: whether it was the last one; the message is dropped then.
  bool Advance();

  // Empties the queue. Returns: what has not left as a whole, in order.
  std::vector<consensus::Message> TakeAll();

 private:
  std::size_t max_deltas_;
  std::deque<consensus::Message> queue_;
  std::size_t deltas_ = 0;
  bool begun_ = false;
  std::uint32_t chunk_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t count_ = 0;
};

// Returns: ceil(total / chunk), or 0 when that does not fit 32 bits. Requires: chunk > 0.
std::uint32_t ChunkCount(std::uint64_t total, std::uint32_t chunk);

}  // namespace covey::session
