#include "covey/session/budget.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/session_fixture.h"

namespace covey::session {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kModel = 229'000;

// Returns: bytes sent until `end` by a node that always has a message of `size` bytes to send.
std::uint64_t SentUntil(Time end, Budget& budget, std::size_t size, Time begin = {}) {
  std::uint64_t sent = 0;
  for (Time now = begin; now < end;) {
    const Time from = budget.MessageFrom(now);
    if (from > now) {
      now = from;
      continue;
    }
    budget.Spend(now, size);
    sent += size;
    now += milliseconds(1);
  }
  return sent;
}

TEST(Budget, WithoutLimitsNothingWaits) {
  Budget budget{BudgetSettings{}};
  for (int i = 0; i < 1000; ++i) budget.Spend(seconds(1), kModel);
  EXPECT_EQ(budget.MessageFrom(seconds(1)), seconds(1));
  EXPECT_EQ(budget.ChunkFrom(seconds(1)), seconds(1));
  EXPECT_EQ(budget.longest_chunk(), wire::kMaxBody);
  EXPECT_FALSE(budget.QuotaLeft(seconds(1)));
}

TEST(Budget, RateHoldsOverAMinuteUpToOneChunk) {
  for (const std::uint64_t rate : {4096u, 100'000u, 5'000'000u}) {
    Budget budget({.max_rate = ByteCount{rate}});
    const std::size_t chunk = budget.longest_chunk();
    const std::uint64_t sent = SentUntil(minutes(1), budget, chunk);
    EXPECT_LE(sent, 60 * rate + chunk);
    EXPECT_GE(sent, 60 * rate - chunk);
    EXPECT_NEAR(budget.BytesPerSecond(minutes(1)), static_cast<double>(sent) / 60, 1);
  }
}

TEST(Budget, APauseSavesNothingUp) {
  Budget budget({.max_rate = ByteCount{100'000}});
  const std::uint64_t sent = SentUntil(minutes(61), budget, 10'000, minutes(60));
  EXPECT_LE(sent, 60u * 100'000 + 10'000);
}

TEST(Budget, ChunksOfASlowLinkAreShort) {
  EXPECT_EQ(Budget({.max_rate = ByteCount{4096}}).longest_chunk(), 8192u);
  EXPECT_EQ(Budget({.max_rate = ByteCount{10'000'000}}).longest_chunk(), wire::kMaxBody);
}

TEST(Budget, QuotaHoldsOverADayWhateverTheSizeOfAMessage) {
  constexpr std::uint64_t kQuota = 100'000'000;
  for (const std::size_t size : {std::size_t{1000}, kModel, std::size_t{30'000'000}}) {
    Budget budget({.daily_quota = ByteCount{kQuota}});
    const std::uint64_t first = SentUntil(hours(24), budget, size);
    EXPECT_LE(first, kQuota + kQuota / 24 + size);
    EXPECT_GE(first, kQuota - size);
    const std::uint64_t second = SentUntil(hours(48), budget, size, hours(24));
    EXPECT_LE(second, kQuota + size);
    // Nor may a node that slept spend yesterday's quota today.
    const std::uint64_t later = SentUntil(hours(240 + 24), budget, size, hours(240));
    EXPECT_LE(later, kQuota + kQuota / 24 + size);
  }
}

TEST(Budget, TellsWhatIsLeft) {
  Budget budget({.daily_quota = ByteCount{24'000}});
  EXPECT_EQ(budget.QuotaLeft({}), 1000u);
  budget.Spend({}, 400);
  EXPECT_EQ(budget.QuotaLeft({}), 600u);
  budget.Spend({}, 700);
  EXPECT_EQ(budget.QuotaLeft({}), 0u);
  EXPECT_GT(budget.MessageFrom({}), Time{});
  EXPECT_EQ(budget.ChunkFrom({}), Time{}) << "what has begun is sent whole";
  EXPECT_EQ(budget.QuotaLeft(hours(1)), 900u);
}

TEST(Budget, MessagesBeginInTheFirstPartOfAMinute) {
  const Budget budget({.duty_cycle = 0.1});
  EXPECT_EQ(budget.MessageFrom(seconds(0)), seconds(0));
  EXPECT_EQ(budget.MessageFrom(milliseconds(5999)), milliseconds(5999));
  EXPECT_EQ(budget.MessageFrom(seconds(6)), minutes(1));
  EXPECT_EQ(budget.MessageFrom(seconds(119)), minutes(2));
}

TEST(Budget, RefusesWhatCanNotWork) {
  EXPECT_FALSE(Validate(BudgetSettings{.max_rate = ByteCount{4095}}));
  EXPECT_TRUE(Validate(BudgetSettings{.max_rate = kLowestRate}));
  EXPECT_FALSE(Validate(BudgetSettings{.daily_quota = ByteCount{0}}));
  EXPECT_FALSE(Validate(BudgetSettings{.duty_cycle = 0}));
  EXPECT_FALSE(Validate(BudgetSettings{.duty_cycle = 1.1}));
}

// --- In a session ---

// Moves both sides to `end`, from one deadline to the next.
void RunUntil(Time end, test::Pair& pair) {
  Time now{};
  for (int turns = 0; now < end; ++turns) {
    ASSERT_LT(turns, 100'000) << "a deadline that never passes";
    now = std::min({pair.a.session->NextDeadline(), pair.b.session->NextDeadline(), end});
    pair.a.now = now;
    pair.b.now = now;
    pair.a.session->Tick(now);
    pair.b.session->Tick(now);
    test::CarryAll(pair.a, pair.b);
  }
}

constexpr std::size_t kFloats = 250'000;  // 1 MB: 244 s at the lowest rate

TEST(BudgetOfASession, PacesTheChunksOfAModelAndKeepsTheLink) {
  test::Pair pair(kFloats);
  pair.a.budget = Budget({.max_rate = kLowestRate});
  pair.a.session->Enqueue(
      {}, test::MessageOf(consensus::MessageKind::kWeights, 1, test::PayloadOf(kFloats)));
  RunUntil(seconds(235), pair);
  EXPECT_TRUE(pair.b.host.delivered.empty()) << "faster than the budget";
  RunUntil(seconds(255), pair);
  EXPECT_EQ(pair.b.host.delivered.size(), 1u);
  EXPECT_EQ(pair.a.session->state(), State::kReady) << pair.a.session->reason();
  EXPECT_EQ(pair.b.session->state(), State::kReady) << pair.b.session->reason();
  EXPECT_EQ(pair.a.counters.timeouts + pair.b.counters.timeouts, 0u);
}

TEST(BudgetOfASession, AnEmptyQuotaHoldsMessagesButNotTheLink) {
  test::Pair pair(kFloats);
  pair.a.budget = Budget({.daily_quota = ByteCount{10'000'000}});
  for (std::uint64_t exchange = 1; exchange <= 3; ++exchange) {
    pair.a.session->Enqueue(
        {}, test::MessageOf(consensus::MessageKind::kWeights, exchange, test::PayloadOf(kFloats)));
  }
  RunUntil(hours(1), pair);
  // The first one emptied the bucket of 417 kB; the second gave way to the third, which waits.
  EXPECT_EQ(pair.b.host.delivered.size(), 1u);
  EXPECT_EQ(pair.a.counters.replaced, 1u);
  EXPECT_EQ(pair.a.session->state(), State::kReady) << pair.a.session->reason();
  RunUntil(hours(2), pair);
  EXPECT_EQ(pair.b.host.delivered.size(), 2u);
  EXPECT_EQ(pair.b.host.delivered.back().exchange, ExchangeId{3});
}

}  // namespace
}  // namespace covey::session
