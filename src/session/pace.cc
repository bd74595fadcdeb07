#include "covey/session/pace.h"

#include <algorithm>
#include <bit>

#include "covey/base/check.h"
#include "covey/wire/limits.h"

namespace covey::session {
namespace {

// Beyond this nothing changes any more, and sums stay far from infinity.
constexpr double kFastest = 1e12;
constexpr Duration kInstant = std::chrono::microseconds(1);

double RateOf(std::uint64_t bytes, Duration time) {
  return std::min(kFastest, static_cast<double>(bytes) / Seconds(std::max(time, kInstant)));
}

}  // namespace

void Pace::Sent(Time now, std::size_t bytes) {
  if (chunks_.empty()) {
    taken_at_ = now;
    from_idle_ = true;
  }
  chunks_.push_back(Chunk{bytes, taken_, taken_at_, from_idle_});
  under_way_ += bytes;
}

// By what the peer has taken between two moments of its own clock.
void Pace::Tell(std::uint32_t at) {
  const Duration time = (at - told_at_) * kUnit;
  if (told_at_ != 0 && time < report_every_) return;
  // The clock of a moment may be off by a unit at both ends.
  if (told_at_ != 0) rate_ = std::max(rate_, RateOf(taken_ - told_taken_, time + kUnit));
  told_at_ = at;
  told_taken_ = taken_;
}

void Pace::Taken(Time now, std::uint32_t chunks, std::uint32_t at) {
  COVEY_CHECK(chunks <= chunks_.size(), chunks, chunks_.size());
  if (chunks == 0) return;
  const Chunk newest = chunks_[chunks - 1];
  for (std::uint32_t i = 0; i < chunks; ++i) {
    under_way_ -= chunks_.front().bytes;
    taken_ += chunks_.front().bytes;
    chunks_.pop_front();
  }
  taken_at_ = now;
  from_idle_ = false;
  const Duration time = now - newest.taken_at;
  const std::uint64_t bytes = taken_ - newest.taken;
  const Duration slack = report_every_ + newest_;
  if (time > slack) rate_ = std::min(rate_, RateOf(bytes, time - slack));
  if (at == 0 || newest.from_idle) rate_ = std::max(rate_, RateOf(bytes, time));
  if (at != 0) Tell(at);
}

void Pace::RoundTrip(Duration trip) {
  trip = std::min(trip, kLongestTrip);
  newest_ = trip;
  trip_ = trip_known_ ? std::min(trip_, trip) : trip;
  trip_known_ = true;
}

std::uint32_t Pace::chunk() const {
  const double wanted = rate_ * Seconds(kChunkTime);
  if (wanted >= wire::kMaxBody) return wire::kMaxBody;
  return std::max(kShortest, std::bit_floor(static_cast<std::uint32_t>(wanted)));
}

double Pace::Window() const { return rate_ * Seconds(kWindowTime + trip_); }

bool Pace::MaySend(std::size_t bytes) const {
  if (chunks_.size() < 2) return true;
  return chunks_.size() < kMostUnderWay && static_cast<double>(under_way_ + bytes) <= Window();
}

bool Pace::MayBegin() const {
  return chunks_.empty() || static_cast<double>(under_way_) <= rate_ * Seconds(kChunkTime);
}

}  // namespace covey::session
