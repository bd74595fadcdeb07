#include "covey/harness/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "unit/harness/made_up.h"

namespace covey::harness {
namespace {

using nlohmann::json;

TEST(Summary, HasTheMembersOfTheDesign) {
  const json summary = json::parse(SummaryJson(MadeUpOutcome(), {}));
  for (const char* name :
       {"experiment", "seed", "nodes", "mode", "wall_seconds", "monolithic", "consensus",
        "isolated", "traffic", "samples_per_second", "pss_bytes_per_node"}) {
    EXPECT_TRUE(summary.contains(name)) << name;
  }
  const json& consensus = summary["consensus"];
  for (const char* name :
       {"loss", "accuracy", "accuracy_min", "accuracy_max", "spread", "best_epoch", "last"}) {
    EXPECT_TRUE(consensus.contains(name)) << name;
  }
  EXPECT_NEAR(consensus["accuracy"].get<double>(), 0.87775, 1e-12);
  EXPECT_NEAR(consensus["last"]["accuracy"].get<double>(), 0.87675, 1e-12);
  EXPECT_EQ(summary["traffic"]["weights_sent"], 6880);
  EXPECT_EQ(summary["traffic"]["bytes_sent"], 2064000000);
  EXPECT_EQ(summary["runs"].size(), 17u);
  EXPECT_NEAR(summary["runs"][0]["best"]["test"]["accuracy"].get<double>(), 0.876, 1e-12);
  EXPECT_NEAR(summary["runs"][0]["last"]["validation"]["accuracy"].get<double>(), 0.878, 1e-12);
}

TEST(Summary, LeavesOutControlsThatDidNotRun) {
  Outcome outcome = MadeUpOutcome();
  std::erase_if(outcome.runs, [](const NodeOutcome& n) { return n.group != Group::kConsensus; });
  outcome.spread = std::nullopt;
  const json summary = json::parse(SummaryJson(outcome, {}));
  EXPECT_FALSE(summary.contains("monolithic"));
  EXPECT_FALSE(summary.contains("isolated"));
  EXPECT_FALSE(summary["consensus"].contains("spread"));
  EXPECT_FALSE(summary.contains("expect"));
}

TEST(Summary, OfOneNodeStillHasItsWorstAndBest) {
  Outcome outcome = MadeUpOutcome();
  outcome.runs.resize(1);
  const json summary = json::parse(SummaryJson(outcome, {}));
  EXPECT_EQ(summary["consensus"]["accuracy_min"], summary["consensus"]["accuracy"]);
}

TEST(Summary, OnlyTheTimedMembersChangeWithTheClock) {
  Outcome fast = MadeUpOutcome();
  Outcome slow = MadeUpOutcome();
  slow.wall_seconds *= 3;
  slow.samples_per_second /= 3;
  for (NodeOutcome& node : slow.runs) {
    node.pss_bytes += 4096;
    for (Point& point : node.curve) point.seconds *= 3;
  }
  json one = json::parse(SummaryJson(fast, {}));
  json two = json::parse(SummaryJson(slow, {}));
  EXPECT_NE(one, two);
  for (const std::string_view name : kTimedMembers) {
    one.erase(std::string(name));
    two.erase(std::string(name));
  }
  EXPECT_EQ(one, two);
}

TEST(Summary, TellsVerdictsAndSurvivesBrokenText) {
  Outcome outcome = MadeUpOutcome();
  outcome.experiment = "bad \xff name";
  const json summary = json::parse(SummaryJson(
      outcome, {{.what = "accuracy", .wanted = ">= 0.9", .got = "0.8", .holds = false}}));
  EXPECT_EQ(summary["expect"]["holds"], false);
  EXPECT_EQ(summary["expect"]["checks"][0]["what"], "accuracy");
}

TEST(Csv, HasOneRowForEachNodeAndAsManyFieldsInEach) {
  Outcome outcome = MadeUpOutcome();
  outcome.runs[1].best = std::nullopt;
  outcome.runs[2].last->test = std::nullopt;
  outcome.runs[3].end = End::kDied;
  outcome.runs[3].reason = "signal 9 (Killed)";
  const std::string csv = ResultsCsv(outcome);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 18);
  std::ptrdiff_t commas = -1;
  for (std::size_t begin = 0; begin < csv.size();) {
    const std::size_t end = csv.find('\n', begin);
    const std::ptrdiff_t here = std::count(csv.begin() + static_cast<std::ptrdiff_t>(begin),
                                           csv.begin() + static_cast<std::ptrdiff_t>(end), ',');
    if (commas >= 0) {
      EXPECT_EQ(here, commas) << csv.substr(begin, end - begin);
    }
    commas = here;
    begin = end + 1;
  }
  EXPECT_THAT(csv, testing::HasSubstr("consensus,3,died,"));
  EXPECT_THAT(csv, testing::HasSubstr("signal 9 (Killed)\n"));
}

TEST(Records, TellTheLivesOfSimulatedNodes) {
  Outcome outcome = MadeUpOutcome();
  EXPECT_FALSE(json::parse(SummaryJson(outcome, {})).contains("virtual_seconds"));
  outcome.virtual_seconds = 12.5;
  NodeOutcome& node = outcome.runs.front();
  node.life = NodeLife{.crashes = 2, .speed = 0.5, .finished = 11.25};
  const json summary = json::parse(SummaryJson(outcome, {}));
  EXPECT_EQ(summary["virtual_seconds"], 12.5);
  EXPECT_EQ(summary["runs"][0]["crashes"], 2);
  EXPECT_EQ(summary["runs"][0]["speed"], 0.5);
  EXPECT_EQ(summary["runs"][0]["finished_virtual_seconds"], 11.25);
  EXPECT_FALSE(summary["runs"][1].contains("crashes"));
  EXPECT_THAT(ResultsCsv(outcome), testing::HasSubstr(",2,0.500000,11.250,"));
}

TEST(Metrics, IsOneJsonObjectALine) {
  const std::string line = MetricsLine(Group::kIsolated, 3, {2.5, 1.25, {0.5, 0.875}});
  EXPECT_TRUE(line.ends_with('\n'));
  const json parsed = json::parse(line);
  EXPECT_EQ(parsed["group"], "isolated");
  EXPECT_EQ(parsed["node"], 3);
  EXPECT_EQ(parsed["epoch"], 2.5);
  EXPECT_EQ(parsed["accuracy"], 0.875);
}

}  // namespace
}  // namespace covey::harness
