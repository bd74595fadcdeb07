#include "covey/session/budget.h"

#include <algorithm>
#include <string>

#include "covey/base/check.h"
#include "covey/wire/limits.h"

namespace covey::session {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);
constexpr double kSecondsADay = 24 * 60 * 60;
constexpr double kShareOfQuota = 1.0 / 24;  // what the bucket holds
constexpr std::uint64_t kPaceSeconds = 2;

std::uint32_t LongestChunk(const BudgetSettings& settings) {
  if (!settings.max_rate) return wire::kMaxBody;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      settings.max_rate->value * kPaceSeconds, wire::kMinChunk, wire::kMaxBody));
}

double Capacity(const BudgetSettings& settings) {
  return settings.daily_quota ? static_cast<double>(settings.daily_quota->value) * kShareOfQuota
                              : 0;
}

Duration Lasting(double seconds) {
  return std::chrono::ceil<Duration>(std::chrono::duration<double>(seconds));
}

Time MinuteOf(Time now) { return now - now % kMinute; }

}  // namespace

Status Validate(const BudgetSettings& settings) {
  if (settings.max_rate && settings.max_rate->value < kLowestRate.value) {
    return Fail(ErrorCode::kConfig, "network.max_rate",
                "got " + std::to_string(settings.max_rate->value) +
                    " B a second, wanted at least " + std::to_string(kLowestRate.value),
                "peers give up transfers that are slower; daily_quota and duty_cycle send less");
  }
  if (settings.daily_quota && settings.daily_quota->value == 0) {
    return Fail(ErrorCode::kConfig, "network.daily_quota", "got 0, wanted at least 1 B",
                "consensus.sends: 0 and consensus.reply: false send no models at all");
  }
  if (!(settings.duty_cycle > 0 && settings.duty_cycle <= 1)) {
    return Fail(ErrorCode::kConfig, "network.duty_cycle", "wanted a share above 0, up to 100 %");
  }
  return {};
}

Budget::Budget(const BudgetSettings& settings)
    : settings_(settings), longest_chunk_(LongestChunk(settings)), quota_(Capacity(settings)) {
  COVEY_CHECK(Validate(settings).has_value());
}

double Budget::QuotaAt(Time now) const {
  const double filled =
      static_cast<double>(settings_.daily_quota->value) / kSecondsADay * Seconds(now - quota_time_);
  return std::min(quota_ + filled, Capacity(settings_));
}

Time Budget::MessageFrom(Time now) const {
  Time from = ChunkFrom(now);
  if (settings_.daily_quota) {
    const double missing = -QuotaAt(now);
    if (missing >= 0) {
      const double a_second = static_cast<double>(settings_.daily_quota->value) / kSecondsADay;
      // A byte more than nothing, so that the wait ends.
      from = std::max(from, now + Lasting((missing + 1) / a_second));
    }
  }
  if (settings_.duty_cycle < 1) {
    const Time minute = MinuteOf(from);
    if (from - minute >= Lasting(settings_.duty_cycle * Seconds(kMinute))) from = minute + kMinute;
  }
  return from;
}

Time Budget::ChunkFrom(Time now) const { return std::max(now, paced_until_); }

void Budget::Spend(Time now, std::size_t bytes) {
  if (MinuteOf(now) != minute_) {
    const bool next = MinuteOf(now) == minute_ + kMinute;
    last_minute_ = next ? this_minute_ : 0;
    this_minute_ = 0;
    minute_ = MinuteOf(now);
  }
  this_minute_ += bytes;
  if (settings_.max_rate) {
    const double seconds =
        static_cast<double>(bytes) / static_cast<double>(settings_.max_rate->value);
    paced_until_ = std::max(now, paced_until_) + Lasting(seconds);
  }
  if (settings_.daily_quota) {
    quota_ = QuotaAt(now) - static_cast<double>(bytes);
    quota_time_ = now;
  }
}

double Budget::BytesPerSecond(Time now) const {
  const Time minute = MinuteOf(now);
  if (minute == minute_ + kMinute) return static_cast<double>(this_minute_) / Seconds(kMinute);
  if (minute != minute_) return 0;
  if (last_minute_) return static_cast<double>(*last_minute_) / Seconds(kMinute);
  const double passed = std::max(Seconds(now - minute_), 1.0);
  return static_cast<double>(this_minute_) / passed;
}

std::optional<std::uint64_t> Budget::QuotaLeft(Time now) const {
  if (!settings_.daily_quota) return std::nullopt;
  return static_cast<std::uint64_t>(std::max(QuotaAt(now), 0.0));
}

}  // namespace covey::session
