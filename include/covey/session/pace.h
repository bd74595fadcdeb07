// How fast a link takes our chunks, and what follows from it: how long they are and how much may be
// under way.
//
// Equation (at least): the peer's clock says when it took a reported chunk. Between two of these
//   moments, report_every or more apart, it took B' bytes in T': the link takes at least B' / T'.
//   Reports say nothing of that kind by when they arrive: they wait behind the chunks of the other
//   direction, and then come together.
// Equation (at most): B bytes were reported in the T before a report, where T begins at the report
//   before the newest reported chunk left, or with the first chunk after the link was idle. Because
//   a report may be late by `slack`, the link takes at most B / (T - slack).
//   slack = Settings::report_every + the newest round trip (or kUnknownTrip)
// The estimate moves to the nearer of the two when it lies outside. Where T begins with a chunk, or
// the peer tells no moments, B / T is a least rate too.
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
  static constexpr Duration kUnit = std::chrono::microseconds(100);  // of moments that are told
  static constexpr std::size_t kMostUnderWay = 256;

  explicit Pace(Duration report_every) : report_every_(report_every) {}

  void Sent(Time now, std::size_t bytes);
  // The oldest `chunks` of those under way have been taken, the last of them when the peer's clock
  // stood at `at`, in Units, mod 2^32; 0: it doesn't say. Requires: as many are under way.
  void Taken(Time now, std::uint32_t chunks, std::uint32_t at = 0);
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
    bool from_idle;       // it was when the first chunk left
  };

  double Window() const;
  void Tell(std::uint32_t at);

  Duration report_every_;
  Duration trip_ = kUnknownTrip;    // the shortest
  Duration newest_ = kUnknownTrip;  // trip
  bool trip_known_ = false;
  double rate_ = kFirstRate;
  std::deque<Chunk> chunks_;  // under way
  std::uint64_t under_way_ = 0;
  std::uint64_t taken_ = 0;
  Time taken_at_{};
  bool from_idle_ = false;
  std::uint32_t told_at_ = 0;     // a moment of the peer's clock, 0: none yet,
  std::uint64_t told_taken_ = 0;  // and what it had taken by then
};

}  // namespace covey::session
