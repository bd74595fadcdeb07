#include "covey/learner/exchanges.h"

#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace covey::learner {
namespace {

using namespace std::chrono_literals;
using session::Expected;
using test::KeyOf;

TEST(Exchanges, OnlyThePeerThatWasAskedMayAnswerAndOnce) {
  Exchanges exchanges(10, 60s);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kNo);
  exchanges.Add(0s, KeyOf(1), ExchangeId{1});
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kYes);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(2), ExchangeId{1}), Expected::kNo);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{2}), Expected::kNo);
  exchanges.MarkAnswered(KeyOf(2), ExchangeId{1});
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kYes);
  exchanges.MarkAnswered(KeyOf(1), ExchangeId{1});
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kAnswered);
}

TEST(Exchanges, AgeEndsThem) {
  Exchanges exchanges(10, 60s);
  exchanges.Add(1s, KeyOf(1), ExchangeId{1});
  EXPECT_EQ(exchanges.Find(61s, KeyOf(1), ExchangeId{1}), Expected::kYes);
  EXPECT_EQ(exchanges.Find(61s + 1ns, KeyOf(1), ExchangeId{1}), Expected::kNo);
  exchanges.Expire(61s);
  EXPECT_EQ(exchanges.size(), 1u);
  exchanges.Expire(61s + 1ns);
  EXPECT_EQ(exchanges.size(), 0u);
}

TEST(Exchanges, TheOldestGiveWayAtTheLimit) {
  Exchanges exchanges(2, 60s);
  for (std::uint64_t i = 1; i <= 3; ++i) exchanges.Add(0s, KeyOf(1), ExchangeId{10 - i});
  EXPECT_EQ(exchanges.size(), 2u);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{9}), Expected::kNo);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{8}), Expected::kYes);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{7}), Expected::kYes);
}

TEST(Exchanges, TheAnsweredGiveWayFirst) {
  Exchanges exchanges(3, 60s);
  for (std::uint64_t i = 1; i <= 3; ++i) exchanges.Add(0s, KeyOf(1), ExchangeId{i});
  exchanges.MarkAnswered(KeyOf(1), ExchangeId{3});
  exchanges.MarkAnswered(KeyOf(1), ExchangeId{2});
  for (std::uint64_t i = 4; i <= 5; ++i) exchanges.Add(0s, KeyOf(1), ExchangeId{i});
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kYes);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{2}), Expected::kNo);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{3}), Expected::kNo);
  exchanges.Add(0s, KeyOf(1), ExchangeId{6});
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kNo);
}

// A node on a narrow link gives up a thousand exchanges while it waits for one answer.
TEST(Exchanges, WhatIsGivenUpTakesNoPlace) {
  Exchanges exchanges(3, 60s);
  exchanges.Add(0s, KeyOf(1), ExchangeId{1});
  for (std::uint64_t i = 2; i <= 1000; ++i) {
    exchanges.Add(0s, KeyOf(1), ExchangeId{i});
    EXPECT_TRUE(exchanges.GiveUp(KeyOf(1), ExchangeId{i}));
  }
  EXPECT_EQ(exchanges.size(), 1u);
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kYes);
}

TEST(Exchanges, GivingUpHappensOnceAndIsFinal) {
  Exchanges exchanges(2, 60s);
  EXPECT_FALSE(exchanges.GiveUp(KeyOf(1), ExchangeId{1}));
  exchanges.Add(0s, KeyOf(1), ExchangeId{1});
  EXPECT_FALSE(exchanges.GiveUp(KeyOf(2), ExchangeId{1}));
  EXPECT_TRUE(exchanges.GiveUp(KeyOf(1), ExchangeId{1}));
  EXPECT_FALSE(exchanges.GiveUp(KeyOf(1), ExchangeId{1}));
  EXPECT_EQ(exchanges.Find(0s, KeyOf(1), ExchangeId{1}), Expected::kNo);
}

TEST(Exchanges, AnAnsweredOneCantBeGivenUp) {
  Exchanges exchanges(2, 60s);
  exchanges.Add(0s, KeyOf(1), ExchangeId{1});
  exchanges.MarkAnswered(KeyOf(1), ExchangeId{1});
  EXPECT_FALSE(exchanges.GiveUp(KeyOf(1), ExchangeId{1}));
}

TEST(Exchanges, AddingTwiceChangesNothing) {
  Exchanges exchanges(2, 60s);
  exchanges.Add(0s, KeyOf(1), ExchangeId{1});
  exchanges.MarkAnswered(KeyOf(1), ExchangeId{1});
  exchanges.Add(1s, KeyOf(1), ExchangeId{1});
  EXPECT_EQ(exchanges.size(), 1u);
  EXPECT_EQ(exchanges.Find(1s, KeyOf(1), ExchangeId{1}), Expected::kAnswered);
}

}  // namespace
}  // namespace covey::learner
