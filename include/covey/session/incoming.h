// Reassembly of the one message that is under way on a link. Gates are the session's; this holds
// the bytes.
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
  Time started() const { return started_; }
  Time progress() const { return progress_; }  // last chunk, or BEGIN

  // Requires: not active; begin.total and chunk have passed their gates. The buffer comes with the
  // first chunk.
  void Start(Time now, const wire::Envelope& envelope, const wire::Begin& begin);

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
  Time started_{};
  Time progress_{};
};

}  // namespace covey::session
