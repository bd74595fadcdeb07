#include "covey/config/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/config/support.h"

namespace covey::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Experiment Base() {
  const auto loaded = ParseExperiment(R"(
experiment: {nodes: 4, seed: 9}
model: {input: [4], layers: [dense: {units: 2}]}
data: {train: {images: a, labels: b}}
train: {until: {epochs: 3}}
)",
                                      "base.yaml");
  EXPECT_TRUE(loaded) << loaded.error().what;
  return loaded ? loaded->value : Experiment{};
}

Sweep Good(const std::string& text) {
  const auto sweep = ParseSweep(text, "s.yaml", Base());
  EXPECT_TRUE(sweep) << sweep.error().what;
  return sweep ? sweep->value : Sweep{};
}

std::string Bad(const std::string& text) {
  const auto sweep = ParseSweep(text, "s.yaml", Base());
  EXPECT_FALSE(sweep) << text;
  return sweep ? "" : sweep.error().what;
}

TEST(Sweep, WhatOnlyASimulatorCanDoIsRefusedWhereDaemonsRun) {
  const std::string text =
      "sweep:\n  experiment: base.yaml\n  list: [{consensus.sends: 2}, {faults.links.delay: "
      "2ms}]\n";
  EXPECT_EQ(Good(text).points.size(), 2u);
  const auto refused = ParseSweep(text, "s.yaml", Base(), Experiment::Mode::kProcess);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("s.yaml:3:"), std::string::npos) << refused.error().what;
  EXPECT_NE(refused.error().what.find("only a simulator"), std::string::npos);
}

TEST(Sweep, TheShippedOnesAreSound) {
  const std::vector<std::pair<std::string, std::size_t>> shipped = {
      {"rates", 6},           {"biased", 6},    {"biased-mnist", 2},
      {"biased-cifar-10", 1}, {"frontier", 14}, {"stability", 25}};
  for (const auto& [name, points] : shipped) {
    const auto sweep = LoadSweep(SourcePath("configs/sweeps/" + name + ".yaml"));
    ASSERT_TRUE(sweep) << sweep.error().Format();
    EXPECT_EQ(sweep->value.points.size(), points) << name;
  }
}

TEST(Sweep, AGridIsEveryCombinationTheLastKeyFastest) {
  const Sweep sweep = Good(R"(sweep:
  seeds: 2
  grid:
    consensus.sends: [1, 2]
    experiment.partition.rate: [10%, 50%, 90%]
)");
  EXPECT_EQ(sweep.name, "s");
  EXPECT_THAT(sweep.seeds, ElementsAre(1, 2));
  EXPECT_THAT(sweep.keys, ElementsAre("consensus.sends", "experiment.partition.rate"));
  ASSERT_EQ(sweep.points.size(), 6u);
  EXPECT_THAT(sweep.points[1].values,
              ElementsAre(Pair("consensus.sends", "1"), Pair("experiment.partition.rate", "50%")));
  EXPECT_EQ(sweep.points[5].experiment.node.consensus.sends, 2u);
  EXPECT_DOUBLE_EQ(sweep.points[5].experiment.partition.rate, 0.9);
  EXPECT_EQ(sweep.points[5].experiment.nodes, 4u);
}

TEST(Sweep, AListIsTakenEntryByEntryWithinTheGrid) {
  const Sweep sweep = Good(R"(sweep:
  name: mine
  seeds: [7, 3]
  grid: {experiment.nodes: [2, 3]}
  list:
    - {consensus.batches: 10}
    - {consensus.batches: 50, consensus.gamma: 0.25}
)");
  EXPECT_EQ(sweep.name, "mine");
  EXPECT_THAT(sweep.seeds, ElementsAre(7, 3));
  EXPECT_THAT(sweep.keys, ElementsAre("experiment.nodes", "consensus.batches", "consensus.gamma"));
  ASSERT_EQ(sweep.points.size(), 4u);
  EXPECT_EQ(sweep.points[3].experiment.nodes, 3u);
  EXPECT_EQ(sweep.points[3].experiment.node.consensus.gamma, 0.25f);
  EXPECT_FALSE(sweep.points[2].experiment.node.consensus.gamma.has_value());
}

TEST(Sweep, WhatIsSetForAllIsNoKeyOfThePoints) {
  const Sweep sweep = Good(R"(sweep:
  set: {train.until: {epochs: 20}, data.batch: 8}
  grid: {train.optimizer.kind: [adam, sgd]}
)");
  EXPECT_THAT(sweep.keys, ElementsAre("train.optimizer.kind"));
  EXPECT_THAT(sweep.seeds, ElementsAre(1));
  for (const SweepPoint& point : sweep.points) {
    EXPECT_EQ(point.experiment.node.train.until.epochs, 20);
    EXPECT_EQ(point.experiment.node.data.batch, 8u);
  }
}

TEST(Sweep, WhatIsExpectedIsOfEachPointAndNoKey) {
  const Sweep sweep = Good(R"(sweep:
  set: {expect.spread: 0.1}
  list:
    - {consensus.sends: 1, expect.accuracy: 0.8, expect.bytes_sent_per_node: 2MB}
    - {consensus.sends: 2}
)");
  EXPECT_THAT(sweep.keys, ElementsAre("consensus.sends"));
  ASSERT_EQ(sweep.points.size(), 2u);
  EXPECT_EQ(sweep.points[0].experiment.expect.accuracy, 0.8);
  EXPECT_EQ(sweep.points[0].experiment.expect.bytes_sent_per_node.value, 2'000'000u);
  EXPECT_FALSE(sweep.points[1].experiment.expect.accuracy.has_value());
  EXPECT_EQ(sweep.points[1].experiment.expect.spread, 0.1);
}

TEST(Sweep, WhatTheExperimentExpectsAndItsControlsAreLeftOut) {
  Experiment base = Base();
  base.controls = Experiment::Controls::kAll;
  base.expect.gain_over_isolated = 0.1;
  const auto sweep = ParseSweep("sweep: {seeds: 1}\n", "s.yaml", base);
  ASSERT_TRUE(sweep);
  EXPECT_FALSE(sweep->value.points[0].experiment.expect.gain_over_isolated.has_value());
  EXPECT_EQ(sweep->value.points[0].experiment.controls, Experiment::Controls::kNone);
}

TEST(Sweep, ASectionAsAValueSetsTheKeysThatItHas) {
  const Sweep sweep = Good(R"(sweep:
  set: {train: {until: {epochs: 7}, settle: 5%}}
  grid:
    train.optimizer: [{kind: sgd, momentum: 0.5}, {learning_rate: 0.25}]
)");
  EXPECT_THAT(sweep.keys, ElementsAre("train.optimizer"));
  ASSERT_EQ(sweep.points.size(), 2u);
  EXPECT_THAT(sweep.points[0].values,
              ElementsAre(Pair("train.optimizer", "kind sgd, momentum 0.5")));
  const auto optimizer = [&sweep](std::size_t i) {
    return sweep.points[i].experiment.node.train.optimizer;
  };
  EXPECT_EQ(optimizer(0).kind, optim::Settings::Kind::kSgd);
  EXPECT_EQ(optimizer(0).momentum, 0.5f);
  EXPECT_EQ(optimizer(1).kind, Base().node.train.optimizer.kind);
  EXPECT_EQ(optimizer(1).learning_rate, 0.25f);
  EXPECT_EQ(sweep.points[1].experiment.node.train.until.epochs, 7);
  EXPECT_THAT(Bad("sweep:\n  grid: {train.optimizer: [adam]}\n"),
              AllOf(HasSubstr("train.optimizer: is a section"), HasSubstr("keys: kind, ")));
  EXPECT_THAT(Bad("sweep:\n  grid: {train.optimizer: [{kynd: adam}]}\n"),
              HasSubstr("did you mean 'train.optimizer.kind'?"));
  EXPECT_THAT(Bad("sweep:\n  set: {train.optimizer.kind: sgd}\n"
                  "  grid: {train.optimizer: [{kind: adam}]}\n"),
              HasSubstr("set twice"));
  EXPECT_THAT(Bad("sweep:\n  set: {experiment: {seed: 3}}\n"), HasSubstr("sweep.seeds: [3]"));
}

TEST(Sweep, KeysOfOneNodeAndOfTheControls) {
  Experiment base = Base();
  base.overrides.nodes[1].set = {{"data.batch", "4"}, {"consensus.sends", "1"}};
  const auto sweep = ParseSweep(R"(sweep:
  set: {experiment.overrides.controls.train.optimizer: {learning_rate: 0.5}}
  grid:
    experiment.overrides.1.consensus.sends: [2, 3]
    experiment.overrides.0: [{start_after: 3s, train.until: {epochs: 5}}]
)",
                                "s.yaml", base);
  ASSERT_TRUE(sweep) << sweep.error().Format();
  ASSERT_EQ(sweep->value.points.size(), 2u);
  const Overrides& own = sweep->value.points[1].experiment.overrides;
  EXPECT_THAT(own.nodes.at(1).set,
              ElementsAre(Pair("data.batch", "4"), Pair("consensus.sends", "3")));
  EXPECT_EQ(own.nodes.at(0).start_after, std::chrono::seconds(3));
  EXPECT_THAT(own.nodes.at(0).set, ElementsAre(Pair("train.until", "epochs 5")));
  EXPECT_THAT(own.controls.set, ElementsAre(Pair("train.optimizer.learning_rate", "0.5")));
  for (const auto& [key, what] : std::vector<std::pair<std::string, std::string>>{
           {"experiment.overrides.1.consensus.send", "did you mean 'consensus.sends'?"},
           {"experiment.overrides.one.consensus.sends", "is no key of a node"},
           {"experiment.overrides.controls.start_after", "unknown key"},
           {"experiment.overrides.9.consensus.sends", "9"},
           {"experiment.overrides.1.consensus", "its keys: "}}) {
    EXPECT_THAT(Bad("sweep:\n  grid: {" + key + ": [1]}\n"), HasSubstr(what)) << key;
  }
}

TEST(Sweep, WithoutGridAndListIsOnePoint) {
  const Sweep sweep = Good("sweep: {seeds: 3}\n");
  EXPECT_EQ(sweep.points.size(), 1u);
  EXPECT_TRUE(sweep.keys.empty());
}

TEST(Sweep, FaultsAreReportedWhereTheyStand) {
  EXPECT_THAT(Bad("grid: {}\n"), HasSubstr("s.yaml:1:1: error: unknown key 'grid'"));
  EXPECT_THAT(Bad("sweep:\n  sedes: 3\n"), HasSubstr("did you mean 'seeds'?"));
  EXPECT_THAT(Bad("sweep:\n  grid:\n    consensus.send: [1]\n"),
              HasSubstr("did you mean 'consensus.sends'?"));
  EXPECT_THAT(Bad("sweep:\n  grid:\n    consensus.batches: [1, 0]\n"), HasSubstr("s.yaml:3:28"));
  EXPECT_THAT(Bad("sweep:\n  grid: {consensus.sends: 1}\n"), HasSubstr("want a list of values"));
  EXPECT_THAT(Bad("sweep:\n  grid: {consensus.sends: []}\n"), HasSubstr("want a list of values"));
  EXPECT_THAT(Bad("sweep:\n  list: []\n"), HasSubstr("sweep.list"));
  EXPECT_THAT(Bad("sweep:\n  list: [{}]\n"), HasSubstr("sweep.list"));
  EXPECT_THAT(Bad("sweep:\n  set: {data.batch: 8}\n  grid: {data.batch: [4]}\n"),
              HasSubstr("set twice"));
}

TEST(Sweep, SeedsAreCountedOrNamed) {
  for (const char* seeds : {"0", "1001", "-1", "[1, 1]", "[]", "[a]", "{a: 1}", "1.5"}) {
    EXPECT_THAT(Bad("sweep: {seeds: " + std::string(seeds) + "}\n"), HasSubstr("sweep.seeds"))
        << seeds;
  }
  EXPECT_EQ(Good("sweep: {seeds: 1000}\n").seeds.size(), 1000u);
}

// It would be shown with one seed and run with another.
TEST(Sweep, ASeedOfAPointIsRefused) {
  for (const char* where : {"set: {experiment.seed: 11}", "grid: {experiment.seed: [11, 12]}",
                            "list:\n    - {experiment.seed: 11}"}) {
    EXPECT_THAT(
        Bad("sweep:\n  " + std::string(where) + "\n"),
        testing::AllOf(HasSubstr("experiment.seed: every point is run with the seeds of the sweep"),
                       HasSubstr("sweep.seeds: [11]")));
  }
}

TEST(Sweep, APointThatContradictsItselfIsRefused) {
  EXPECT_THAT(Bad("sweep:\n  grid: {experiment.nodes: [2, 0]}\n"), HasSubstr("experiment.nodes"));
}

TEST(Sweep, HasALimitOfRuns) {
  const std::string grid = "  grid: {consensus.sends: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n";
  EXPECT_EQ(Good("sweep:\n  seeds: 1000\n" + grid).points.size(), 10u);
  const std::string more = "  grid: {consensus.sends: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}\n";
  EXPECT_THAT(Bad("sweep:\n  seeds: 1000\n" + more), HasSubstr("10000"));
}

TEST(Sweep, AMissingFileOrExperimentIsNamed) {
  const auto sweep = LoadSweep("/no/such/sweep.yaml");
  ASSERT_FALSE(sweep);
  EXPECT_EQ(sweep.error().code, ErrorCode::kNoInput);
}

TEST(SetOfAnExperiment, TakesItsOwnKeysAndThoseOfTheNode) {
  Experiment experiment = Base();
  EXPECT_TRUE(Set(experiment, "experiment.nodes", "12"));
  EXPECT_TRUE(Set(experiment, "faults.deltas_drop", "25%"));
  EXPECT_EQ(experiment.nodes, 12u);
  EXPECT_EQ(experiment.node.faults.deltas_drop, 0.25);
  const Status wrong = Set(experiment, "experiment.node", "3");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().hint, HasSubstr("experiment.nodes"));
  EXPECT_FALSE(Set(experiment, "experiment.overrides", "3"));
}

}  // namespace
}  // namespace covey::config
