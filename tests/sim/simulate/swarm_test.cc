// Swarm runs: seeds are green and repeatable, and every planted bug is found.
#include "covey/simulate/swarm.h"

#include <gtest/gtest.h>

namespace covey::simulate {
namespace {

using Verdict = SwarmResult::Verdict;

SwarmResult RunSeed(std::uint64_t seed, const SwarmOptions& options) {
  return RunSwarm(DrawSwarm(seed, options), options);
}

// Small enough for the sanitizers; tests/e2e/harness/swarm_seeds.py runs these seeds in full.
TEST(Swarm, SeedsAreGreen) {
  SwarmOptions options;
  options.exchanges = 60;
  std::uint64_t exchanges = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const SwarmResult result = RunSeed(seed, options);
    EXPECT_EQ(result.verdict, Verdict::kGreen) << "seed " << seed << ": " << result.what;
    EXPECT_GE(result.exchanges, DrawSwarm(seed, options).nodes * options.exchanges);
    exchanges += result.exchanges;
  }
  EXPECT_GT(exchanges, 200u * 16 * 60);
}

// Everything that may be asked for: few nodes, few exchanges, and more than fit into a fixed time.
TEST(Swarm, SeedsAreGreenAtTheEdgesOfTheOptions) {
  struct Edge {
    SwarmOptions options;
    std::uint64_t seeds = 0;
  };
  const Edge edges[] = {{{.nodes = 2, .exchanges = 10, .bugs = {}}, 40},
                        {{.nodes = 2, .exchanges = 500, .bugs = {}}, 40},
                        {{.nodes = 3, .exchanges = 10, .bugs = {}}, 20},
                        {{.nodes = {}, .exchanges = 10, .bugs = {}}, 20},
                        {{.nodes = 2, .exchanges = SwarmOptions::kMostExchanges, .bugs = {}}, 1}};
  for (const Edge& edge : edges) {
    for (std::uint64_t seed = 1; seed <= edge.seeds; ++seed) {
      const SwarmResult result = RunSeed(seed, edge.options);
      EXPECT_EQ(result.verdict, Verdict::kGreen)
          << "seed " << seed << ", " << edge.options.exchanges << " exchanges: " << result.what;
    }
  }
}

TEST(Swarm, ARunThatNeverEndsSaysWhenItStoodStill) {
  SwarmOptions options;
  options.exchanges = 60;
  options.bugs.deadline_lost = true;
  const SwarmResult result = RunSeed(1, options);
  EXPECT_EQ(result.verdict, Verdict::kLiveness) << result.what;
  EXPECT_GT(result.at, DrawSwarm(1, options).settle_at);
  EXPECT_GT(result.exchanges, 0u);
}

TEST(Swarm, SameSeedSameTrace) {
  SwarmOptions options;
  options.exchanges = 60;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const SwarmResult one = RunSeed(seed, options);
    EXPECT_EQ(RunSeed(seed, options).trace_hash, one.trace_hash);
    EXPECT_NE(RunSeed(seed + 100, options).trace_hash, one.trace_hash);
  }
}

TEST(Swarm, ParametersAreDrawnWithinTheirRanges) {
  SwarmOptions options;
  bool partitions = false;
  bool crashes = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SwarmPlan plan = DrawSwarm(seed, options);
    EXPECT_GE(plan.nodes, 16u);
    EXPECT_LE(plan.nodes, 32u);
    EXPECT_LE(plan.faults.weights_drop, 0.3);
    EXPECT_LE(plan.faults.duplicate, 0.5);
    EXPECT_LE(plan.faults.links.delay_min, plan.faults.links.delay);
    for (const config::PartitionFault& fault : plan.faults.partitions) {
      EXPECT_LE(fault.at + fault.lasts, plan.heal_at);
      EXPECT_TRUE(config::ParseGroups(fault.groups, plan.nodes)) << fault.groups;
      partitions = true;
    }
    crashes |= plan.faults.nodes.crash_every > Duration::zero();
    EXPECT_GE(plan.Parameters().size(), 20u);
  }
  EXPECT_TRUE(partitions && crashes);
  options.nodes = 3;
  EXPECT_EQ(DrawSwarm(1, options).nodes, 3u);
}

struct Bug {
  const char* name;
  bool PlantedBugs::*flag;
  Verdict verdict;
};

class PlantedBug : public testing::TestWithParam<Bug> {};

TEST_P(PlantedBug, IsFoundWithin200Seeds) {
  SwarmOptions options;
  options.exchanges = 120;
  options.bugs.*GetParam().flag = true;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const SwarmResult result = RunSeed(seed, options);
    if (result.verdict == Verdict::kGreen) continue;
    EXPECT_EQ(result.verdict, GetParam().verdict) << "seed " << seed << ": " << result.what;
    EXPECT_FALSE(result.what.empty());
    return;
  }
  FAIL() << GetParam().name << " is not found";
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedBug,
    testing::Values(Bug{"deltas_twice", &PlantedBugs::deltas_twice, Verdict::kSafety},
                    Bug{"reply_altered", &PlantedBugs::reply_altered, Verdict::kSafety},
                    Bug{"reply_swallowed", &PlantedBugs::reply_swallowed, Verdict::kSafety},
                    Bug{"not_a_number", &PlantedBugs::not_a_number, Verdict::kSafety},
                    Bug{"fifo_unbounded", &PlantedBugs::fifo_unbounded, Verdict::kSafety},
                    Bug{"eviction_untold", &PlantedBugs::eviction_untold, Verdict::kSafety},
                    Bug{"checksums_off", &PlantedBugs::checksums_off, Verdict::kSafety},
                    Bug{"checkpoint_forgotten", &PlantedBugs::checkpoint_forgotten,
                        Verdict::kSafety},
                    Bug{"session_reused", &PlantedBugs::session_reused, Verdict::kSafety},
                    Bug{"deaf_when_done", &PlantedBugs::deaf_when_done, Verdict::kSafety},
                    Bug{"deadline_lost", &PlantedBugs::deadline_lost, Verdict::kLiveness}),
    [](const testing::TestParamInfo<Bug>& bug) { return std::string(bug.param.name); });

}  // namespace
}  // namespace covey::simulate
