// How fast a link takes our chunks, and what follows from it: how long they are and how much may be
// under way.
//
// Equation (a sample, at each report): B bytes were reported in the T before it, where T begins at
//   the report before the newest reported chunk left, or with the first chunk after the link was
//   idle. The link takes at least B / T, and, because a report may be late by `slack`, at most
//   B / (T - slack). The estimate moves to the nearer of the two when it lies outside.
//   slack = Settings::report_every + the shortest round trip known (or kUnknownTrip)
// Equation (what follows): chunk = the largest power of two below rate kChunkTime, 16 to 256 KiB;
//   under way at most rate (kWindowTime + round trip), and always two chunks.
// So a frame crosses within a fraction of the time after which links are taken for dead, pings
// never wait long behind chunks, and a new message is not begun far ahead of its turn.
// Limits: kMostUnderWay chunks.
// Thread: none.  Determinism: a function of the calls.
// Source: the delivery rate is measured as in Cardwell et al. 2016, "BBR: Congestion-Based
//   Congestion Control", 3; there is no probing here, as TCP below us probes already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "covey/base/time.h"

namespace covey::session {

class Pace {
 public:
  static constexpr std::uint32_t kShortest = 16 * 1024;
  static constexpr double kFirstRate = 64 * 1024;  // bytes a second, before anything is known
  static constexpr Duration kChunkTime = std::chrono::milliseconds(500);
  static constexpr Duration kWindowTime = std::chrono::seconds(2);
  static constexpr Duration kUnknownTrip = std::chrono::milliseconds(500);
  static constexpr Duration kLongestTrip = std::chrono::seconds(3);  // more is a queue
  static constexpr std::size_t kMostUnderWay = 256;

  explicit Pace(Duration report_every) : report_every_(report_every) {}

  void Sent(Time now, std::size_t bytes);
  // The oldest `chunks` of those under way have been taken. Requires: as many are under way.
  void Taken(Time now, std::uint32_t chunks);
  void RoundTrip(Duration trip);

  std::uint32_t chunk() const;
  // Whether a chunk of that many bytes may leave now.
  bool MaySend(std::size_t bytes) const;
  // Whether a new message would have its turn soon.
  bool MayBegin() const;

  double rate() const { return rate_; }  // bytes a second
  std::uint64_t under_way() const { return under_way_; }

 private:
  struct Chunk {
    std::size_t bytes;
    std::uint64_t taken;  // bytes reported before it left,
    Time taken_at;        // and when
  };

  double Window() const;

  Duration report_every_;
  Duration trip_ = kUnknownTrip;
  bool trip_known_ = false;
  double rate_ = kFirstRate;
  std::deque<Chunk> chunks_;  // under way
  std::uint64_t under_way_ = 0;
  std::uint64_t taken_ = 0;
  Time taken_at_{};
};

}  // namespace covey::session
