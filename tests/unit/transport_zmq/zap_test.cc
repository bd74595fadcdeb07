#include "transport_zmq/zap.h"

#include "gtest/gtest.h"

namespace covey::transport_zmq {
namespace {

PeerKey Key(int value) {
  PeerKey key;
  key.bytes.fill(static_cast<std::uint8_t>(value));
  return key;
}

TEST(KeySet, HoldsWhatWasSwappedInLast) {
  KeySet keys;
  EXPECT_FALSE(keys.Contains(Key(1)));
  const std::uint64_t before = keys.version();
  keys.Swap({Key(3), Key(1)});
  EXPECT_GT(keys.version(), before);
  EXPECT_TRUE(keys.Contains(Key(1)));
  EXPECT_TRUE(keys.Contains(Key(3)));
  EXPECT_FALSE(keys.Contains(Key(2)));
  keys.Swap({Key(2)});
  EXPECT_FALSE(keys.Contains(Key(1)));
  EXPECT_TRUE(keys.Contains(Key(2)));
}

TEST(RateLimit, RefillsUpToItsBurst) {
  RateLimit limit(2, 3);
  const Time start = std::chrono::hours(5);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.Take("a", start));
  EXPECT_FALSE(limit.Take("a", start));
  EXPECT_TRUE(limit.Take("b", start)) << "each address has its own";
  EXPECT_FALSE(limit.Take("a", start + std::chrono::milliseconds(499)));
  EXPECT_TRUE(limit.Take("a", start + std::chrono::milliseconds(500)));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.Take("a", start + std::chrono::hours(1)));
  EXPECT_FALSE(limit.Take("a", start + std::chrono::hours(1)));
}

TEST(RateLimit, RemembersABoundedNumberOfAddresses) {
  RateLimit limit(1, 1);
  for (std::size_t i = 0; i < RateLimit::kMaxAddresses; ++i) {
    EXPECT_TRUE(limit.Take(std::to_string(i), Time{}));
  }
  EXPECT_FALSE(limit.Take("one more", Time{}));
  EXPECT_EQ(limit.size(), RateLimit::kMaxAddresses);
  EXPECT_TRUE(limit.Take("one more", std::chrono::seconds(1))) << "full buckets are forgotten";
  EXPECT_EQ(limit.size(), 1u);
}

TEST(Zap, AllowsTheSetButNotTheNodeItself) {
  KeySet keys;
  keys.Swap({Key(1), Key(9)});
  Zap zap(keys, Key(9), RateLimit(1, 2));
  const Time now = std::chrono::hours(1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(zap.Judge(Key(1), "a", now), Verdict::kAllow);
  EXPECT_EQ(zap.Judge(Key(9), "a", now), Verdict::kRefuse);
  EXPECT_EQ(zap.Judge(Key(2), "a", now), Verdict::kRefuse);
  EXPECT_EQ(zap.Judge(Key(2), "a", now), Verdict::kLater);
  EXPECT_EQ(zap.Judge(Key(1), "a", now), Verdict::kAllow) << "members don't pay for strangers";
  EXPECT_EQ(zap.refused_unknown(), 2u);
  EXPECT_EQ(zap.refused_rate(), 1u);
}

TEST(Zap, LetsAnyKeyKnockButNotTheNodeItselfAndNotTooOften) {
  KeySet keys;
  Zap zap(keys, Key(9), RateLimit(0, 0), RateLimit(1, 2));
  const Time now = std::chrono::hours(1);
  EXPECT_EQ(zap.JudgeKnock(Key(9), "a", now), Verdict::kRefuse);
  for (int i = 1; i <= 2; ++i) EXPECT_EQ(zap.JudgeKnock(Key(i), "a", now), Verdict::kAllow);
  EXPECT_EQ(zap.JudgeKnock(Key(3), "a", now), Verdict::kLater);
  EXPECT_EQ(zap.JudgeKnock(Key(3), "b", now), Verdict::kAllow);
  EXPECT_EQ(zap.knocks_refused(), 1u);
  EXPECT_EQ(zap.refused_unknown(), 0u);
}

}  // namespace
}  // namespace covey::transport_zmq
