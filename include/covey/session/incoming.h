// Reassembly of the one message that is under way on a link. Gates are the session's; this holds
// the bytes. It outlives its link as a value, so that a later link can go on with it.
#pragma once

#include <cstdint>
#include <optional>

#include "covey/base/bytes.h"
#include "covey/base/time.h"
#include "covey/wire/bodies.h"
#include "covey/wire/envelope.h"

namespace covey::session {

class Incoming {
 public:
  bool active() const { return active_; }
  const wire::Begin& begin() const { return begin_; }
  const wire::Envelope& envelope() const { return envelope_; }  // of BEGIN
  std::uint64_t received() const { return received_; }
  std::uint64_t resumed() const { return resumed_; }  // of these, held before Start or Resume
  Time started() const { return started_; }
  Time progress() const { return progress_; }  // last chunk, or BEGIN

  // Requires: not active; begin.total and chunk have passed their gates. The buffer comes with the
  // first chunk.
  void Start(Time now, const wire::Envelope& envelope, const wire::Begin& begin);

  // Goes on with a message that another link began: the same in kind, encoding and size, perhaps in
  // chunks of another length. What is not a whole chunk of the new length is given up.
  // Returns: how many chunks are held. Requires: as Start, and begin.total as before.
  std::uint32_t Resume(Time now, const wire::Envelope& envelope, const wire::Begin& begin);

  // Copies the next chunk. Returns: kOrder when it is not the next one of this message or has
  // another length than announced; nothing is copied then. Requires: active.
  std::optional<wire::Reason> Take(Time now, const wire::Envelope& envelope, ByteView body);

  bool complete() const { return active_ && next_ == envelope_.count; }
  // Hands out the payload and ends the transfer. Requires: complete.
  AlignedBuffer Finish();
  void Abort();

 private:
  bool active_ = false;
  wire::Envelope envelope_;
  wire::Begin begin_;
  AlignedBuffer buffer_;
  std::uint32_t next_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t resumed_ = 0;
  Time started_{};
  Time progress_{};
};

}  // namespace covey::session
