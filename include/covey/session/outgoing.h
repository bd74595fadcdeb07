// Messages that wait for one link, and how much of the first has left.
//
// Limits: one WEIGHTS and one copy that have not begun (a newer one takes the place of the older:
// its x is better), a bounded number of DELTAS. The payload is shared with whoever made the
// message, never copied here.
// A message of several chunks stays here until its receiver has reported the last one, so that it
// can go on over another link wherever this one breaks.
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

  // Puts a message that an earlier link broke off ahead of all that have not begun; nothing
  // replaces it.
  void PushInterrupted(consensus::Message message);

  // Forgets a message that its receiver refused. Returns: whether it was still here.
  bool Cancel(consensus::MessageKind kind, ExchangeId exchange);

  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return queue_.size(); }
  const consensus::Message& front() const { return queue_.front().message; }
  bool front_interrupted() const { return queue_.front().interrupted; }

  // The message under way is the front one. Requires: !empty().
  bool begun() const { return begun_; }
  bool all_left() const { return begun_ && next_ == count_; }  // but not all reported
  void Begin(std::uint32_t chunk);  // its BEGIN has left; chunks of that many bytes follow
  std::uint32_t next() const { return next_; }  // index of the next chunk
  std::uint32_t count() const { return count_; }
  ByteView chunk() const;  // its bytes
  // The receiver holds that many chunks already. Requires: begun, at most count().
  void SkipTo(std::uint32_t chunks);
  // The next chunk has left. Returns: whether it was the last one; a message of one chunk is then
  // dropped.
  bool Advance();
  // The receiver has all of the front message. Requires: all_left().
  void Confirm();

  // What is taken when a link ends: what has not left, or not surely, in order. `begun`: the first
  // of them has begun, in several chunks.
  struct Unsent {
    std::vector<consensus::Message> messages;
    bool begun = false;
  };
  Unsent TakeAll();

 private:
  struct Entry {
    consensus::Message message;
    bool interrupted = false;
  };

  void DropFront();

  std::size_t max_deltas_;
  std::deque<Entry> queue_;
  std::size_t deltas_ = 0;
  bool begun_ = false;
  std::uint32_t chunk_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t count_ = 0;
};

// Returns: ceil(total / chunk), or 0 when that does not fit 32 bits. Requires: chunk > 0.
std::uint32_t ChunkCount(std::uint64_t total, std::uint32_t chunk);

}  // namespace covey::session
