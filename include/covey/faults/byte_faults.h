// A transport that damages what passes through it: flips bits, cuts links, limits the rate.
//
// Throttle (token bucket): a frame leaves when the bucket is not empty and takes its size from it,
// also into debt; the bucket fills with `throttle` bytes a second up to one second's worth.
// Otherwise Send says kFull.
// Thread: as transport::Transport.  Determinism: a function of the stream, the calls and SetTime.
#pragma once

#include <cstdint>
#include <vector>

#include "covey/base/random.h"
#include "covey/base/time.h"
#include "covey/faults/settings.h"
#include "covey/transport/transport.h"

namespace covey::faults {

struct ByteCounters {
  std::uint64_t corrupted = 0;
  std::uint64_t cut = 0;
  std::uint64_t throttled = 0;  // sends put off
};

class ByteFaults final : public transport::Transport {
 public:
  // Requires: Validate(settings); `inner` outlives this object.
  ByteFaults(const Settings& settings, std::uint64_t node_seed, std::uint32_t node,
             transport::Transport& inner);

  // Requires: never goes back.
  void SetTime(Time now);

  // kGone also for a link that was cut just now; no OnLinkDown follows then.
  transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body) override;
  void Close(transport::LinkId link) override { inner_.Close(link); }

  // From now on nothing is injected.
  void Stop() { settings_ = Settings{}; }
  const ByteCounters& counters() const { return counters_; }

 private:
  transport::SendResult SendCorrupted(transport::LinkId link, ByteView header, ByteView body);

  Settings settings_;
  Stream stream_;
  transport::Transport& inner_;
  Time now_{};
  double bucket_;  // bytes that may leave now
  std::vector<std::byte> copy_;
  ByteCounters counters_;
};

}  // namespace covey::faults
