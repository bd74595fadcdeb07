#include "covey/session/pace.h"

#include <gtest/gtest.h>

namespace covey::session {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kKiB = 1024;

// A link that takes `rate` bytes a second and reports each chunk when it has it.
struct Link {
  double rate;
  Duration trip;
  Pace pace{250ms};
  Time now{};
  Time busy_until{};

  // Sends `total` bytes; returns the most that was under way.
  std::uint64_t Send(std::uint64_t total) {
    std::uint64_t most = 0;
    std::deque<Time> reports;
    while (total > 0 || !reports.empty()) {
      const std::uint64_t size = std::min<std::uint64_t>(total, pace.chunk());
      if (size > 0 && pace.MaySend(size)) {
        total -= size;
        pace.Sent(now, size);
        busy_until = std::max(busy_until, now) + FromSeconds(static_cast<double>(size) / rate);
        reports.push_back(busy_until + trip);
        most = std::max(most, pace.under_way());
        continue;
      }
      now = reports.front();
      reports.pop_front();
      pace.Taken(now, 1);
    }
    return most;
  }
};

TEST(Pace, BeginsWithShortChunksAndLittleUnderWay) {
  Pace pace(250ms);
  EXPECT_EQ(pace.chunk(), 32 * kKiB);
  EXPECT_TRUE(pace.MayBegin());
  std::uint64_t sent = 0;
  while (pace.MaySend(pace.chunk())) {
    pace.Sent(0s, pace.chunk());
    sent += pace.chunk();
  }
  EXPECT_EQ(sent, 160u * kKiB);  // 64 KiB/s, 2.5 s
  EXPECT_FALSE(pace.MayBegin());
}

TEST(Pace, FindsTheRateOfALink) {
  for (const double rate : {8e3, 2e4, 1e5, 1e6, 1e7, 5e7}) {
    for (const Duration trip : {Duration(1us), Duration(20ms), Duration(600ms)}) {
      Link link{rate, trip};
      link.pace.RoundTrip(trip);
      const std::uint64_t total = static_cast<std::uint64_t>(rate * 40) + 1;
      link.Send(std::min<std::uint64_t>(total, 1u << 30));
      EXPECT_GE(link.pace.rate(), 0.85 * rate) << rate << " B/s " << Seconds(trip) << " s";
      EXPECT_LE(link.pace.rate(), 1.8 * rate) << rate << " B/s " << Seconds(trip) << " s";
    }
  }
}

TEST(Pace, ChunksAreFrom16To256KiBAndAFractionOfASecond) {
  const std::pair<double, std::uint32_t> cases[] = {
      {4e3, 16 * kKiB}, {2e4, 16 * kKiB}, {1e6, 256 * kKiB}, {1e9, 256 * kKiB}};
  for (const auto& [rate, chunk] : cases) {
    Link link{rate, 10ms};
    link.pace.RoundTrip(10ms);
    link.Send(static_cast<std::uint64_t>(rate * 30));
    EXPECT_EQ(link.pace.chunk(), chunk) << rate;
  }
  Link link{1e5, 10ms};
  link.pace.RoundTrip(10ms);
  link.Send(3'000'000);
  EXPECT_GE(link.pace.chunk(), 32 * kKiB);
  EXPECT_LE(link.pace.chunk(), 64 * kKiB);
}

TEST(Pace, KeepsASlowLinkBusyButNotClogged) {
  Link link{1e5, 10ms};
  link.Send(4'000'000);
  EXPECT_LT(Seconds(link.now), 41.0);
  Link later{1e5, 10ms};
  later.pace.RoundTrip(10ms);
  later.Send(1'000'000);
  EXPECT_LT(later.Send(4'000'000), 450'000u);  // four seconds, whatever the credit
}

TEST(Pace, FollowsALinkThatBecomesSlow) {
  Link link{1e7, 10ms};
  link.pace.RoundTrip(10ms);
  link.Send(20'000'000);
  EXPECT_EQ(link.pace.chunk(), 256 * kKiB);
  link.rate = 1e4;
  link.Send(700'000);
  EXPECT_EQ(link.pace.chunk(), 16 * kKiB);
}

TEST(Pace, AnIdleTimeIsNotTheLinksFault) {
  Link link{1e7, 10ms};
  link.pace.RoundTrip(10ms);
  link.Send(20'000'000);
  const double before = link.pace.rate();
  for (int i = 0; i < 10; ++i) {
    link.now += 30s;
    link.Send(200'000);
  }
  EXPECT_GE(link.pace.rate(), before);
}

TEST(Pace, ALateReportIsNotTheLinksFaultEither) {
  Pace pace(250ms);
  pace.RoundTrip(1ms);
  pace.Sent(0s, 1000);
  pace.Taken(1ms, 1);  // a megabyte a second
  const double before = pace.rate();
  for (int i = 1; i < 20; ++i) {
    pace.Sent(i * 1s, 1000);
    pace.Taken(i * 1s + 251ms, 1);
  }
  EXPECT_EQ(pace.rate(), before);
}

constexpr std::uint32_t UnitsOf(Duration time) {
  return static_cast<std::uint32_t>(time / Pace::kUnit);
}

// The link takes a chunk a second. Reports wait behind something, the last four come at once: the
// moments in them tell that it was no faster.
TEST(Pace, ReportsThatComeTogetherAreNoFasterLink) {
  for (const bool told : {true, false}) {
    Pace pace(250ms);
    pace.RoundTrip(1ms);
    for (int i = 0; i < 4; ++i) pace.Sent(0s, 100'000);
    pace.Taken(4s, 1, told ? UnitsOf(1s) : 0);
    pace.Sent(4s, 100'000);
    pace.Taken(5001ms, 4, told ? UnitsOf(5s) : 0);
    EXPECT_EQ(pace.rate() < 110'000, told) << pace.rate();
  }
}

TEST(Pace, WhatThePeerTookBetweenTwoMomentsIsTheLeastRate) {
  Pace pace(250ms);
  pace.RoundTrip(3s);
  std::uint32_t at = UINT32_MAX - 3000;  // the clock of the peer goes round
  for (int i = 0; i < 20; ++i) {
    pace.Sent(i * 10s, 30'000);
    pace.Sent(i * 10s, 30'000);  // so that it is never idle
    if (i > 0) pace.Taken(i * 10s + 9s, 2, at += 3000);
  }
  EXPECT_NEAR(pace.rate(), 200'000, 1000);  // 60 kB in 0.3 s, whenever the reports came
}

TEST(Pace, MomentsThatFollowTooSoonSayNothing) {
  Pace pace(250ms);
  for (int i = 0; i < 6; ++i) pace.Sent(0s, 10'000);
  for (std::uint32_t i = 0; i < 4; ++i) pace.Taken(10s, 1, 1000 + i * 600);
  EXPECT_LT(pace.rate(), 10'000 / 0.06);
}

TEST(Pace, TwoChunksAreAlwaysUnderWayAndNeverMoreThanTheLimit) {
  Pace slow(250ms);
  slow.Sent(0s, 16 * kKiB);
  slow.Taken(100s, 1);
  EXPECT_EQ(slow.chunk(), Pace::kShortest);
  slow.Sent(100s, 256 * kKiB);
  EXPECT_TRUE(slow.MaySend(256 * kKiB));
  slow.Sent(100s, 256 * kKiB);
  EXPECT_FALSE(slow.MaySend(1));
  Pace fast(250ms);
  fast.Sent(0s, 1000);
  fast.Taken(0s, 1);
  for (std::size_t i = 0; i < Pace::kMostUnderWay; ++i) {
    ASSERT_TRUE(fast.MaySend(1));
    fast.Sent(0s, 1);
  }
  EXPECT_FALSE(fast.MaySend(1));
}

}  // namespace
}  // namespace covey::session
