#include "covey/session/incoming.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "covey/base/check.h"

namespace covey::session {

void Incoming::Start(Time now, const wire::Envelope& envelope, const wire::Begin& begin) {
  COVEY_CHECK(!active_ && begin.total > 0 && begin.chunk > 0 && envelope.count > 0);
  active_ = true;
  envelope_ = envelope;
  begin_ = begin;
  next_ = 0;
  received_ = 0;
  resumed_ = 0;
  started_ = now;
  progress_ = now;
}

std::uint32_t Incoming::Resume(Time now, const wire::Envelope& envelope, const wire::Begin& begin) {
  COVEY_CHECK(active_ && begin.total == begin_.total && begin.chunk > 0, begin.total, begin_.total);
  next_ = static_cast<std::uint32_t>(received_ / begin.chunk);
  received_ = std::uint64_t{next_} * begin.chunk;
  resumed_ = received_;
  envelope_ = envelope;
  begin_ = begin;
  started_ = now;
  progress_ = now;
  return next_;
}

std::optional<wire::Reason> Incoming::Take(Time now, const wire::Envelope& envelope,
                                           ByteView body) {
  COVEY_CHECK(active_);
  const std::uint64_t expected = std::min<std::uint64_t>(begin_.chunk, begin_.total - received_);
  if (envelope.exchange != envelope_.exchange || envelope.count != envelope_.count ||
      envelope.flags != envelope_.flags || envelope.index != next_ || body.size() != expected) {
    return wire::Reason::kOrder;
  }
  if (buffer_.size() == 0) buffer_ = AlignedBuffer(static_cast<std::size_t>(begin_.total));
  std::memcpy(buffer_.data() + received_, body.data(), body.size());
  received_ += body.size();
  ++next_;
  progress_ = now;
  return std::nullopt;
}

AlignedBuffer Incoming::Finish() {
  COVEY_CHECK(complete());
  active_ = false;
  return std::exchange(buffer_, AlignedBuffer());
}

void Incoming::Abort() {
  active_ = false;
  buffer_ = AlignedBuffer();
}

}  // namespace covey::session
