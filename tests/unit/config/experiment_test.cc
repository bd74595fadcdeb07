#include "covey/config/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace covey::config {
namespace {

using testing::HasSubstr;

Experiment Small(const std::string& more = {}) {
  auto loaded = ParseExperiment("experiment:\n  nodes: 3\n  seed: 7\n" + more +
                                    "train: {until: {batches: 100}}\n" + SmallNode(),
                                "e.yaml");
  EXPECT_TRUE(loaded) << loaded.error().Format();
  return loaded ? loaded->value : Experiment{};
}

TEST(ExperimentFiles, Load) {
  const auto demo = LoadExperiment(SourcePath("configs/experiments/fashion-8x25.yaml"));
  ASSERT_TRUE(demo) << demo.error().Format();
  EXPECT_THAT(demo->warnings, testing::IsEmpty());
  EXPECT_EQ(demo->value.nodes, 8u);
  EXPECT_EQ(demo->value.node.faults.weights_drop, 0.25);
  EXPECT_EQ(demo->value.node.faults.deltas_drop, 0.25);
  EXPECT_EQ(demo->value.node.train.until, (Until{Until::Kind::kEpochs, 0, 40, 0}));
  EXPECT_EQ(demo->value.node.train.settle.Rounds(1000), 30u);
  EXPECT_EQ(demo->value.node.data.validation_last, 5000u);
  EXPECT_EQ(demo->value.expect.accuracy, 0.875);
  EXPECT_EQ(demo->value.expect.accuracy_min, 0.872);
  EXPECT_EQ(demo->value.expect.monolithic_accuracy, 0.880);
  EXPECT_EQ(demo->value.expect.gain_over_isolated, 0.02);
  const auto speed = LoadExperiment(SourcePath("configs/experiments/throughput.yaml"));
  ASSERT_TRUE(speed) << speed.error().Format();
  EXPECT_EQ(speed->value.node.train.evaluate.Batches(100), 0u);
  EXPECT_EQ(speed->value.node.security.mode, SecuritySettings::Mode::kNone);
  for (const auto run :
       {config::Run::kConsensus, config::Run::kMonolithic, config::Run::kIsolated}) {
    EXPECT_TRUE(Expand(demo->value, run));
    EXPECT_TRUE(Expand(speed->value, run));
  }
}

TEST(Expand, NodesDifferWhereTheyShould) {
  const auto nodes = Expand(Small("  partition: {kind: mix_rate, rate: 30%}\n")).value();
  ASSERT_EQ(nodes.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const NodeConfig& node = nodes[i];
    EXPECT_EQ(node.node.name, "node" + std::to_string(i));
    EXPECT_EQ(node.node.seed, 7u);
    EXPECT_EQ(node.node.index, i);
    EXPECT_FALSE(node.node.init_index);
    EXPECT_EQ(node.data.partition.kind, data::PartitionSettings::Kind::kMixRate);
    EXPECT_EQ(node.data.partition.rate, 0.3);
    EXPECT_EQ(node.data.partition.part.index, i);
    EXPECT_EQ(node.data.partition.part.count, 3u);
    EXPECT_EQ(node.data.partition.key, i);
    EXPECT_EQ(node.data.partition.seed, 7u);
    EXPECT_EQ(node.faults.seed, 7u);
    EXPECT_TRUE(Check(node));
    // What the launcher writes for a child is a node file.
    EXPECT_TRUE(ParseNode(WriteYaml(node), "child.yaml"));
  }
}

TEST(Expand, SameInitialParametersShareTheirStream) {
  const auto nodes = Expand(Small("  init: same\n"));
  ASSERT_TRUE(nodes);
  for (const NodeConfig& node : *nodes) {
    EXPECT_EQ(node.node.init_index, 0u);
  }
}

TEST(Expand, DataSetsKnowTheirClasses) {
  const NodeConfig node = Expand(Small()).value().front();
  EXPECT_EQ(node.data.train.classes, 2u);
}

TEST(Expand, Overrides) {
  const Experiment experiment =
      Small("  overrides: {1: {start_after: 10s, consensus: {sends: 2}}}\n");
  EXPECT_EQ(experiment.overrides.nodes.at(1).start_after, std::chrono::seconds(10));
  const auto nodes = Expand(experiment).value();
  EXPECT_EQ(nodes[0].consensus.sends, 1u);
  EXPECT_EQ(nodes[1].consensus.sends, 2u);
  EXPECT_EQ(Expand(experiment, config::Run::kIsolated).value()[1].consensus.sends, 0u);
}

TEST(Expand, ControlsMayTrainInAnotherWay) {
  const Experiment experiment = Small(
      "  overrides:\n"
      "    1: {train: {optimizer: {learning_rate: 0.25}}}\n"
      "    controls: {train: {optimizer: {kind: sgd, learning_rate: 0.5}}}\n");
  const auto fleet = Expand(experiment).value();
  EXPECT_EQ(fleet[0].train.optimizer.kind, Small().node.train.optimizer.kind);
  EXPECT_EQ(fleet[1].train.optimizer.learning_rate, 0.25f);
  for (const config::Run run : {config::Run::kMonolithic, config::Run::kIsolated}) {
    const std::vector<NodeConfig> controls = Expand(experiment, run).value();
    for (const NodeConfig& control : controls) {
      EXPECT_EQ(control.train.optimizer.kind, optim::Settings::Kind::kSgd);
      EXPECT_EQ(control.train.optimizer.learning_rate, 0.5f);
    }
  }
}

TEST(Expand, MonolithicSeesAsManyEpochs) {
  Experiment experiment = Small();
  experiment.node.faults.weights_drop = 0.5;
  const auto nodes = Expand(experiment, config::Run::kMonolithic).value();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].data.partition.kind, data::PartitionSettings::Kind::kAll);
  EXPECT_EQ(nodes[0].train.until.batches, 300u);
  EXPECT_EQ(nodes[0].consensus.sends, 0u);
  EXPECT_EQ(nodes[0].train.settle.Rounds(100), 0u);
  EXPECT_FALSE(nodes[0].train.linger.forever);
  EXPECT_FALSE(nodes[0].faults.any());
  experiment.node.train.until = {Until::Kind::kEpochs, 0, 4, 0};
  EXPECT_EQ(Expand(experiment, config::Run::kMonolithic).value()[0].train.until.epochs, 4);
}

TEST(Expand, IsolatedNodesKeepTheirData) {
  const auto nodes = Expand(Small(), config::Run::kIsolated).value();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[2].data.partition.part.index, 2u);
  EXPECT_EQ(nodes[2].train.until.batches, 100u);
  EXPECT_EQ(nodes[2].consensus.sends, 0u);
}

TEST(Expand, RefusesWhatNoFileCouldSay) {
  Experiment experiment = Small();
  experiment.nodes = 0;
  EXPECT_FALSE(Expand(experiment));
  experiment.nodes = 1025;
  EXPECT_FALSE(Expand(experiment));
  experiment.nodes = 1024;
  EXPECT_TRUE(Expand(experiment));
  experiment.overrides.nodes[0].set.emplace_back("consensus.sned", "2");
  EXPECT_EQ(Expand(experiment).error().Format(),
            "experiment.overrides[0].consensus.sned: unknown key");
}

TEST(ExperimentErrors, KeysThatTheLauncherFills) {
  EXPECT_EQ(ExperimentErrors(SmallExperiment("network:\n  listen: 127.0.0.1:0\n")),
            "e.yaml:6:3: error: network.listen: is filled in for each node of an experiment\n"
            "    6 |   listen: 127.0.0.1:0\n"
            "      |   ^~~~~~ leave it out\n");
  EXPECT_THAT(ExperimentErrors("experiment: {nodes: 2}\ntrain: {until: {epochs: 1}}\n"
                               "model: {input: [4], layers: [{dense: {units: 2}}]}\n"
                               "data: {train: {images: i, labels: l}, partition: {kind: iid}}\n"),
              HasSubstr("leave it out; see experiment.partition"));
}

TEST(ExperimentErrors, Overrides) {
  const auto override_errors = [](const std::string& overrides) {
    return ExperimentErrors("experiment:\n  nodes: 4\n  overrides:\n    " + overrides +
                            "\ntrain: {until: {epochs: 1}}\n" + SmallNode());
  };
  EXPECT_EQ(override_errors("3: {start_after: 10s}"), "loaded");
  EXPECT_EQ(override_errors("4: {start_after: 10s}"),
            "e.yaml:4:5: error: experiment.overrides[4]: there is no node 4: nodes are 0 to 3\n"
            "    4 |     4: {start_after: 10s}\n"
            "      |     ^\n");
  EXPECT_EQ(override_errors("3: {consensus: {sned: 1}}"),
            "e.yaml:4:21: error: unknown key 'experiment.overrides[3].consensus.sned'\n"
            "    4 |     3: {consensus: {sned: 1}}\n"
            "      |                     ^~~~ did you mean 'sends' (default 1)?\n");
  EXPECT_THAT(override_errors("3: {start_after: 10}"),
              HasSubstr("experiment.overrides[3].start_after: '10' has no unit"));
  EXPECT_THAT(override_errors("3: {model: {input: [3]}}"),
              HasSubstr("experiment.overrides[3].model.input: a list can't be overridden"));
  EXPECT_THAT(override_errors("controls: {start_after: 10s}"),
              HasSubstr("unknown key 'experiment.overrides.controls.start_after'"));
  EXPECT_THAT(override_errors("controls: {network: {drop_after: 1s}}"),
              HasSubstr("e.yaml:4:5: error: experiment.overrides.controls: network.drop_after"));
  EXPECT_THAT(override_errors("third: {}"), HasSubstr("'third' is not the index of a node"));
  EXPECT_THAT(override_errors("03: {}"), HasSubstr("'03' is not the index of a node"));
  EXPECT_THAT(override_errors("3: 10s"), HasSubstr("want a section of keys"));
  // Legal alone, not together with the template.
  EXPECT_THAT(
      override_errors("3: {network: {drop_after: 1s}}"),
      HasSubstr("e.yaml:4:5: error: experiment.overrides[3]: network.drop_after: 1s is not"));
}

TEST(Amend, ComesBeforeContradictionsAreLookedFor) {
  const std::string file = SmallExperiment("faults: {links: {delay: 5ms}}\n");
  EXPECT_THAT(ExperimentErrors(file), HasSubstr("faults.links"));
  const auto on_a_virtual_clock = [](Experiment& experiment) -> Status {
    experiment.mode = Experiment::Mode::kVirtual;
    return {};
  };
  const auto loaded = ParseExperiment(file, "e.yaml", on_a_virtual_clock);
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_EQ(loaded->value.mode, Experiment::Mode::kVirtual);
}

TEST(Amend, WhatItContradictsStandsAtTheFilesLine) {
  const auto with_real_processes = [](Experiment& experiment) -> Status {
    experiment.mode = Experiment::Mode::kProcess;
    return {};
  };
  const auto loaded = ParseExperiment(
      "experiment: {nodes: 2, mode: virtual}\n"
      "train: {until: {epochs: 1}}\n"
      "faults: {links: {delay: 5ms}}\n" +
          SmallNode(),
      "e.yaml", with_real_processes);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().what, HasSubstr("e.yaml:3:10: error: faults.links: only a simulator"));
}

TEST(Amend, ErrorsOfItsOwnArePassedOnAndThoseOfTheFileComeFirst) {
  const auto refuse = [](Experiment&) { return Fail(ErrorCode::kUsage, "--nodes", "got '0'"); };
  const auto loaded = ParseExperiment(SmallExperiment(), "e.yaml", refuse);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kUsage);
  const auto faulty = ParseExperiment(SmallExperiment("trian: {}\n"), "e.yaml", refuse);
  ASSERT_FALSE(faulty);
  EXPECT_THAT(faulty.error().what, HasSubstr("unknown key 'trian'"));
}

TEST(ExperimentErrors, HasToEnd) {
  EXPECT_THAT(ExperimentErrors("experiment: {nodes: 2}\ntrain: {until: forever}\n" + SmallNode()),
              HasSubstr("e.yaml:2:16: error: train.until: an experiment has to end"));
}

TEST(ExperimentErrors, ExpectationsNeedTheirControls) {
  EXPECT_THAT(ExperimentErrors(SmallExperiment("expect: {monolithic_accuracy: 0.8}\n")),
              HasSubstr("expect.monolithic_accuracy: needs the monolithic control"));
  EXPECT_THAT(ExperimentErrors(SmallExperiment("expect: {gain_over_isolated: 0.02}\n")),
              HasSubstr("expect.gain_over_isolated: needs the isolated control"));
}

TEST(ExperimentErrors, NodesAreRequired) {
  EXPECT_THAT(
      ExperimentErrors("experiment: {name: x}\ntrain: {until: {epochs: 1}}\n" + SmallNode()),
      HasSubstr("missing key 'experiment.nodes'"));
}

TEST(Settings, LengthsInBatchesAndRounds) {
  EXPECT_EQ((Until{Until::Kind::kEpochs, 0, 1.5, 0}.Batches(235)), 353u);  // 352.5 is not enough
  EXPECT_EQ((Until{Until::Kind::kBatches, 9, 0, 0}.Batches(235)), 9u);
  EXPECT_EQ(Until{}.Batches(235), 0u);
  EXPECT_EQ(Settle{}.Rounds(940), 29u);
  EXPECT_EQ(Settle{}.Rounds(0), 0u);
  EvaluateSettings evaluate;
  EXPECT_EQ(evaluate.Batches(235), 235u);
  evaluate.epochs = 0.0001;
  EXPECT_EQ(evaluate.Batches(235), 1u);
}

}  // namespace
}  // namespace covey::config
