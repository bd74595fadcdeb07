// How much a node may send: what keeps a metered or shared uplink usable.
//
//   max_rate     bytes a second. Chunks are paced, so that it holds over any minute up to one
//                chunk.
//   daily_quota  bytes a day, as a bucket that fills evenly and holds an hour's share: no message
//                begins while it is empty. It starts full, so that a restart costs an hour at most.
//   duty_cycle   share of every minute in which messages may begin, at its start.
//
// All frames count; only WEIGHTS and DELTAS wait. What waits is overtaken by newer WEIGHTS as on
// any slow link, so a node that may send little sends fresh models seldom.
// Thread: none; the caller serialises.  Determinism: a function of the settings and the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/base/time.h"

namespace covey::session {

struct BudgetSettings {
  std::optional<ByteCount> max_rate{};     // a second; at least kLowestRate
  std::optional<ByteCount> daily_quota{};  // at least 1
  double duty_cycle = 1;                   // (0, 1]
};

// Receivers give up transfers that are slower than 2 KiB/s (Settings::slowest).
inline constexpr ByteCount kLowestRate{4 << 10};

// Errors: kConfig naming the setting, what was got and the range.
Status Validate(const BudgetSettings& settings);

class Budget {
 public:
  // Requires: Validate(settings).
  explicit Budget(const BudgetSettings& settings);

  // Returns: when the next message may begin: `now`, or later.
  Time MessageFrom(Time now) const;
  // Returns: when the next chunk of a message that has begun may leave.
  Time ChunkFrom(Time now) const;
  // Returns: the longest chunk that keeps the pace smooth: what max_rate sends in two seconds.
  std::uint32_t longest_chunk() const { return longest_chunk_; }

  void Spend(Time now, std::size_t bytes);

  // Over the last whole minute, or what has passed of the first.
  double BytesPerSecond(Time now) const;
  // Of the daily quota, the part that may be sent at once; unset without a quota.
  std::optional<std::uint64_t> QuotaLeft(Time now) const;

 private:
  double QuotaAt(Time now) const;

  BudgetSettings settings_;
  std::uint32_t longest_chunk_;
  Time paced_until_{};  // max_rate: when what was sent is paid for
  double quota_;        // bytes in the bucket at quota_time_; below zero after a long message
  Time quota_time_{};
  Time minute_{};  // start of the present minute
  std::uint64_t this_minute_ = 0;
  std::optional<std::uint64_t> last_minute_;
};

}  // namespace covey::session
