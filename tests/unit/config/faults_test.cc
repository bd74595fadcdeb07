// The section `faults`: what each program honours, and what contradicts itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace covey::config {
namespace {

using testing::HasSubstr;

std::string Virtual(const std::string& more, int nodes = 6) {
  return "experiment: {mode: virtual, nodes: " + std::to_string(nodes) + "}\n" +
         "train: {until: {epochs: 1}}\n" + SmallNode(more);
}

TEST(Faults, ADaemonRefusesWhatOnlyASimulatorCanDo) {
  EXPECT_EQ(Errors(SmallNode("faults: {corrupt: 1%, cut: 1%, reorder: 1s, throttle: 1MB}\n")),
            "loaded");
  EXPECT_EQ(Errors(SmallNode("faults:\n  nodes: {speed: 0.5}\n")),
            "n.yaml:4:3: error: faults.nodes: only a simulator can do this, not a daemon\n"
            "    4 |   nodes: {speed: 0.5}\n"
            "      |   ^~~~~ 'covey-sim run --mode virtual' honours it; leave it out here\n");
  for (const char* more : {"links: {delay: 1ms}", "links: {topology: {kind: ring}}",
                           "partitions: [{at: 0s, for: 1s}]", "nodes: {crash_every: 1h}"}) {
    const std::string text = "faults: {" + std::string(more) + "}\n";
    EXPECT_THAT(Errors(SmallNode(text)), HasSubstr("only a simulator can do this")) << more;
    EXPECT_THAT(ExperimentErrors(SmallExperiment(text)), HasSubstr("experiment.mode: virtual"))
        << more;
    EXPECT_EQ(ExperimentErrors(Virtual(text)), "loaded") << more;
  }
  EXPECT_EQ(Errors(SmallNode("faults: {nodes: {speed: 1}, partitions: []}\n")), "loaded")
      << "defaults change nothing";
}

TEST(Faults, SoDoesAnOverrideOfAProcess) {
  const std::string head =
      "experiment:\n  nodes: 2\n  overrides:\n    1: {faults: {nodes: "
      "{speed: 0.1}}}\n";
  const std::string rest = "train: {until: {epochs: 1}}\n" + SmallNode();
  EXPECT_THAT(ExperimentErrors(head + rest),
              HasSubstr("experiment.overrides[1]: only a simulator"));
  const auto loaded = ParseExperiment(head + "  mode: virtual\n" + rest, "e");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  const auto nodes = Expand(loaded->value);
  ASSERT_TRUE(nodes);
  EXPECT_EQ((*nodes)[0].faults.nodes.speed, 1);
  EXPECT_EQ((*nodes)[1].faults.nodes.speed, 0.1);
}

TEST(Faults, ATopologyIsNotOneNodesOwn) {
  const std::string rest = "train: {until: {epochs: 1}}\n" + SmallNode();
  const auto errors = [&rest](const std::string& links) {
    return ExperimentErrors(
        "experiment:\n  nodes: 2\n  mode: virtual\n  overrides:\n    1: "
        "{faults: {links: " +
        links + "}}\n" + rest);
  };
  EXPECT_THAT(errors("{topology: {kind: ring}}"),
              HasSubstr("experiment.overrides[1]: faults.links.topology.kind is of the whole"));
  EXPECT_EQ(errors("{delay: 50ms, bandwidth: 10kB, clog_every: 1s}"), "loaded");
}

TEST(Faults, ContradictionsAreNamed) {
  const struct {
    const char* faults;
    const char* message;
  } cases[] = {
      {"links: {delay: 1ms, delay_min: 2ms}", "faults.links.delay_min: 2ms is more than the mean"},
      {"links: {topology: {kind: file}}", "faults.links.topology.file: is empty"},
      {"links: {topology: {kind: random_regular, degree: 6}}", "6 neighbours among 6 nodes"},
      {"links: {topology: {kind: random_regular, degree: 2}}", "is out of range"},
      {"links: {topology: {kind: star}}", "'star'"},
      {"links: {delay_tail: -1}", "is out of range"},
      {"links: {bandwidth: 0B}", "is out of range"},
      {"nodes: {speed: 0}", "is out of range"},
      {"partitions: [{at: 1s}]", "faults.partitions[0].for"},
      {"partitions: [{at: 1s, for: 1s, groups: 0-2}]", "at least two groups"},
      {"partitions: [{at: 1s, for: 1s, groups: 0 | 6}]", "there is no node 6"},
      {"partitions: [{at: 1s, for: 1s, groups: 0-3 | 3}]", "node 3 is named twice"},
      {"partitions: [{at: 1s, for: 1s, groups: first}]", "is no list of groups"},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(ExperimentErrors(Virtual("faults: {" + std::string(one.faults) + "}\n")),
                HasSubstr(one.message))
        << one.faults;
  }
  const std::string odd = "faults: {links: {topology: {kind: random_regular, degree: 3}}}\n";
  EXPECT_THAT(ExperimentErrors(Virtual(odd, 7)), HasSubstr("both odd"));
  EXPECT_EQ(ExperimentErrors(Virtual(odd, 8)), "loaded");
}

TEST(Faults, ControlsHaveNone) {
  const auto loaded = ParseExperiment(
      Virtual("faults: {links: {delay: 1s}, partitions: [{at: 0s, for: 1s}]}\n"), "e");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  const auto nodes = Expand(loaded->value, Run::kIsolated);
  ASSERT_TRUE(nodes);
  EXPECT_EQ((*nodes)[0].faults.SimulatedKey(), "");
}

}  // namespace
}  // namespace covey::config
