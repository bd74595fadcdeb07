#include "covey/faults/message_faults.h"

#include <gtest/gtest.h>

#include <vector>

namespace covey::faults {
namespace {

using consensus::MessageKind;

TEST(MessageFaults, NothingHappensByDefault) {
  MessageFaults faults(Settings{}, 7, 0);
  for (int i = 0; i < 1000; ++i) {
    const Fate fate = faults.Decide(i % 2 == 0 ? MessageKind::kWeights : MessageKind::kDeltas);
    EXPECT_FALSE(fate.drop || fate.duplicate);
    EXPECT_EQ(fate.delay, Duration::zero());
  }
  EXPECT_EQ(faults.counters().weights_dropped + faults.counters().deltas_dropped, 0u);
}

TEST(MessageFaults, OneDropsAll) {
  Settings settings;
  settings.weights_drop = 1;
  settings.duplicate = 1;
  MessageFaults faults(settings, 7, 0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(faults.Decide(MessageKind::kWeights).drop);
    EXPECT_FALSE(faults.Decide(MessageKind::kDeltas).drop);
  }
  EXPECT_EQ(faults.counters().weights_dropped, 100u);
  EXPECT_EQ(faults.counters().deltas_dropped, 0u);
  EXPECT_EQ(faults.counters().duplicated, 100u);
}

// 40,000 draws of rate 1/4: standard deviation 0.0022; five of them.
TEST(MessageFaults, RatesHold) {
  Settings settings;
  settings.weights_drop = 0.25;
  settings.deltas_drop = 0.5;
  MessageFaults faults(settings, 11, 3);
  for (int i = 0; i < 40000; ++i) {
    faults.Decide(MessageKind::kWeights);
    faults.Decide(MessageKind::kDeltas);
  }
  EXPECT_NEAR(static_cast<double>(faults.counters().weights_dropped) / 40000, 0.25, 0.011);
  EXPECT_NEAR(static_cast<double>(faults.counters().deltas_dropped) / 40000, 0.5, 0.0125);
}

std::vector<bool> Drops(const Settings& settings, std::uint64_t seed, std::uint32_t node) {
  MessageFaults faults(settings, seed, node);
  std::vector<bool> drops;
  for (int i = 0; i < 200; ++i) drops.push_back(faults.Decide(MessageKind::kWeights).drop);
  return drops;
}

TEST(MessageFaults, SeedAndNodeDetermineTheFate) {
  Settings settings;
  settings.weights_drop = 0.5;
  EXPECT_EQ(Drops(settings, 1, 0), Drops(settings, 1, 0));
  EXPECT_NE(Drops(settings, 1, 0), Drops(settings, 2, 0));
  EXPECT_NE(Drops(settings, 1, 0), Drops(settings, 1, 1));
  const std::vector<bool> of_node = Drops(settings, 9, 0);
  settings.seed = 9;
  EXPECT_EQ(Drops(settings, 1, 0), of_node);
}

TEST(MessageFaults, AHigherRateLosesTheSameMessagesAndMore) {
  Settings low;
  low.weights_drop = 0.25;
  Settings high = low;
  high.weights_drop = 0.5;
  high.duplicate = 0.5;
  const std::vector<bool> few = Drops(low, 5, 0);
  const std::vector<bool> many = Drops(high, 5, 0);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_LE(few[i], many[i]) << i;
}

TEST(MessageFaults, DelayIsThatOfTheSettings) {
  Settings settings;
  settings.delay = std::chrono::milliseconds(30);
  MessageFaults faults(settings, 7, 0);
  EXPECT_EQ(faults.Decide(MessageKind::kDeltas).delay, std::chrono::milliseconds(30));
  EXPECT_EQ(faults.counters().delayed, 1u);
}

}  // namespace
}  // namespace covey::faults
