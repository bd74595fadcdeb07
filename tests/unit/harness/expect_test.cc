#include "covey/harness/expect.h"

#include <gtest/gtest.h>

#include <cmath>

#include "covey/harness/sweep.h"
#include "unit/harness/made_up.h"

namespace covey::harness {
namespace {

TEST(Expect, NothingWantedHolds) {
  EXPECT_TRUE(Judge({}, MadeUpOutcome()).empty());
  EXPECT_TRUE(AllHold({}));
}

TEST(Expect, HoldsAtTheEdgeAndFailsJustBeyond) {
  const Outcome outcome = MadeUpOutcome();
  config::Expect expect;
  expect.accuracy_min = outcome.runs[0].best->test->accuracy;
  EXPECT_TRUE(AllHold(Judge(expect, outcome)));
  expect.accuracy_min = std::nextafter(*expect.accuracy_min, 1.0);
  EXPECT_FALSE(AllHold(Judge(expect, outcome)));
}

TEST(Expect, SpreadIsAnUpperBound) {
  config::Expect expect;
  expect.spread = 0.0213;
  EXPECT_TRUE(AllHold(Judge(expect, MadeUpOutcome())));
  expect.spread = 0.02;
  EXPECT_FALSE(AllHold(Judge(expect, MadeUpOutcome())));
}

TEST(Expect, EveryKeyIsJudgedOnItsOwn) {
  config::Expect expect;
  expect.accuracy = 0.8;
  expect.accuracy_min = 0.8;
  expect.monolithic_accuracy = 0.99;
  expect.gain_over_isolated = 0.02;
  expect.spread = 0.1;
  expect.samples_per_second = 100000;
  const auto verdicts = Judge(expect, MadeUpOutcome());
  ASSERT_EQ(verdicts.size(), 6u);
  for (const Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.holds, verdict.what != "monolithic_accuracy") << verdict.what;
  }
  EXPECT_FALSE(AllHold(verdicts));
}

TEST(Expect, BytesAreAnUpperBoundOfTheMeanOverTheNodes) {
  const Outcome outcome = MadeUpOutcome();
  const std::uint64_t mean = (TotalTraffic(outcome).bytes_sent + outcome.nodes - 1) / outcome.nodes;
  ASSERT_GT(mean, 1u);
  config::Expect expect;
  expect.bytes_sent_per_node = ByteCount{mean};
  EXPECT_TRUE(AllHold(Judge(expect, outcome)));
  expect.bytes_sent_per_node = ByteCount{mean - 1};
  EXPECT_FALSE(AllHold(Judge(expect, outcome)));
}

TEST(Expect, APointOfASweepIsJudgedByItsMeans) {
  SweepRow row;
  row.accuracy = {.count = 3, .mean = 0.88, .deviation = 0.01};
  row.bytes_a_node = 1000;
  config::Expect expect;
  expect.accuracy = 0.88;
  expect.bytes_sent_per_node = ByteCount{1000};
  EXPECT_TRUE(AllHold(Judge(expect, row)));
  expect.accuracy = 0.8801;
  EXPECT_FALSE(AllHold(Judge(expect, row)));
  expect = {};
  expect.bytes_sent_per_node = ByteCount{999};
  EXPECT_FALSE(AllHold(Judge(expect, row)));
  expect = {};
  expect.spread = 1;
  EXPECT_EQ(Judge(expect, row)[0].got, "not measured");
}

TEST(Expect, WhatWasNotMeasuredDoesNotHold) {
  Outcome outcome = MadeUpOutcome();
  outcome.runs.clear();
  outcome.spread = std::nullopt;
  outcome.samples_per_second = 0;
  config::Expect expect;
  expect.accuracy = 0;
  expect.gain_over_isolated = -1;
  expect.spread = 1e9;
  expect.samples_per_second = 0;
  for (const Verdict& verdict : Judge(expect, outcome)) {
    EXPECT_FALSE(verdict.holds) << verdict.what;
    EXPECT_EQ(verdict.got, "not measured");
  }
}

TEST(Expect, NotANumberDoesNotHold) {
  Outcome outcome = MadeUpOutcome();
  outcome.spread = NAN;
  config::Expect expect;
  expect.spread = 1;
  EXPECT_FALSE(AllHold(Judge(expect, outcome)));
}

TEST(Expect, AnInterruptedRunProvesNothing) {
  Outcome outcome = MadeUpOutcome();
  outcome.interrupted = true;
  config::Expect expect;
  expect.accuracy = 0.1;
  EXPECT_FALSE(AllHold(Judge(expect, outcome)));
}

TEST(Expect, ANearMissIsPrintedWithMoreDigits) {
  Outcome outcome = MadeUpOutcome();
  outcome.spread = 0.020004;
  config::Expect expect;
  expect.spread = 0.02;
  EXPECT_EQ(Judge(expect, outcome)[0].got, "0.020004");
}

}  // namespace
}  // namespace covey::harness
