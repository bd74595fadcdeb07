#include "covey/harness/options.h"

#include <gtest/gtest.h>

#include <cmath>

#include "covey/config/load.h"

namespace covey::harness {
namespace {

constexpr const char* kFile = R"(
experiment: {name: small, nodes: 4, seed: 3}
model:
  input: [4]
  layers:
    - dense: {units: 3, activation: linear}
data:
  train: {images: a.idx, labels: b.idx}
train:
  until: {epochs: 2}
)";

config::Experiment Small() {
  auto loaded = config::ParseExperiment(kFile, "small.yaml");
  EXPECT_TRUE(loaded) << loaded.error().Format();
  return loaded ? loaded->value : config::Experiment{};
}

TEST(Options, UnsetOnesChangeNothing) {
  config::Experiment experiment = Small();
  const std::string before = config::WriteYaml(experiment);
  ASSERT_TRUE(Apply({}, experiment));
  EXPECT_EQ(config::WriteYaml(experiment), before);
}

TEST(Options, EachReachesItsSetting) {
  config::Experiment experiment = Small();
  Options options;
  options.nodes = "7";
  options.epochs = "2.5";
  options.weights_drop = "0.25";
  options.deltas_drop = "1";
  options.gamma = "0.5";
  options.batches = "5";
  options.sends = "2";
  options.mix_rate = "0.3";
  options.seed = 11;
  options.mode = "virtual";
  options.controls = "all";
  const auto applied = Apply(options, experiment);
  ASSERT_TRUE(applied) << applied.error().Format();
  EXPECT_TRUE(applied->empty());
  EXPECT_EQ(experiment.nodes, 7u);
  EXPECT_EQ(experiment.node.train.until.kind, config::Until::Kind::kEpochs);
  EXPECT_EQ(experiment.node.train.until.epochs, 2.5);
  EXPECT_EQ(experiment.node.faults.weights_drop, 0.25);
  EXPECT_EQ(experiment.node.faults.deltas_drop, 1);
  EXPECT_EQ(experiment.node.consensus.gamma, 0.5f);
  EXPECT_EQ(experiment.node.consensus.batches, 5u);
  EXPECT_EQ(experiment.node.consensus.sends, 2u);
  EXPECT_EQ(experiment.partition.kind, data::PartitionSettings::Kind::kMixRate);
  EXPECT_EQ(experiment.partition.rate, 0.3);
  EXPECT_EQ(experiment.seed, 11u);
  EXPECT_EQ(experiment.mode, config::Experiment::Mode::kVirtual);
  EXPECT_EQ(experiment.controls, config::Experiment::Controls::kAll);
}

struct Refused {
  Options options;
  std::string name;
};

Refused Make(std::optional<std::string> Options::*member, std::string value, std::string name) {
  Refused refused{{}, std::move(name)};
  refused.options.*member = value;
  return refused;
}

TEST(Options, ValuesOutOfRangeAreRefusedByName) {
  const Refused cases[] = {
      Make(&Options::nodes, "0", "--nodes"),
      Make(&Options::nodes, "1025", "--nodes"),
      Make(&Options::epochs, "0", "--epochs"),
      Make(&Options::epochs, "nan", "--epochs"),
      Make(&Options::weights_drop, "25", "--weights-drop"),
      Make(&Options::deltas_drop, "-0.1", "--deltas-drop"),
      Make(&Options::gamma, "0", "--gamma"),
      Make(&Options::gamma, "1.01", "--gamma"),
      Make(&Options::batches, "0", "--batches"),
      Make(&Options::batches, "1000001", "--batches"),
      Make(&Options::sends, "1001", "--sends"),
      Make(&Options::mix_rate, "1.5", "--mix-rate"),
      Make(&Options::mode, "real", "--mode"),
      Make(&Options::controls, "both", "--controls"),
  };
  for (const Refused& refused : cases) {
    config::Experiment experiment = Small();
    const std::string before = config::WriteYaml(experiment);
    const auto status = Apply(refused.options, experiment);
    ASSERT_FALSE(status) << refused.name;
    EXPECT_EQ(status.error().code, ErrorCode::kUsage);
    EXPECT_EQ(status.error().where, refused.name);
    EXPECT_EQ(config::WriteYaml(experiment), before);
  }
}

// The ranges are those of a file, and so are the words.
TEST(Options, AreRefusedAsAFileWouldBe) {
  config::Experiment experiment = Small();
  Options options;
  options.sends = "70000";
  EXPECT_EQ(Apply(options, experiment).error().Format(),
            "--sends: '70000' is out of range; want an integer, 0 to 1000");
  options = {};
  options.mode = "virtua";
  EXPECT_EQ(Apply(options, experiment).error().Format(),
            "--mode: 'virtua' is not one of process, virtual; did you mean 'virtual'?");
}

TEST(Options, PerCentAndAutoAreReadAsInAFile) {
  config::Experiment experiment = Small();
  Options options;
  options.deltas_drop = "25%";
  options.gamma = "auto";
  ASSERT_TRUE(Apply(options, experiment));
  EXPECT_EQ(experiment.node.faults.deltas_drop, 0.25);
  EXPECT_FALSE(experiment.node.consensus.gamma);
}

TEST(Options, EpochsReplaceAnotherEnd) {
  auto loaded = config::ParseExperiment(
      std::string(kFile).replace(std::string(kFile).find("epochs: 2"), 9, "batches: 7"), "b.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  Options options;
  options.epochs = "0.5";
  ASSERT_TRUE(Apply(options, loaded->value));
  const std::string file = config::WriteYaml(loaded->value);
  EXPECT_NE(file.find("epochs: 0.5"), std::string::npos) << file;
  EXPECT_EQ(file.find("batches: 7"), std::string::npos) << file;
}

TEST(Options, ControlsThatDoNotRunAreNotExpectedToGiveFigures) {
  config::Experiment experiment = Small();
  experiment.controls = config::Experiment::Controls::kAll;
  experiment.expect.accuracy = 0.5;
  experiment.expect.monolithic_accuracy = 0.5;
  experiment.expect.gain_over_isolated = 0.1;
  Options options;
  options.controls = "isolated";
  auto dropped = Apply(options, experiment);
  ASSERT_TRUE(dropped);
  EXPECT_EQ(*dropped, std::vector<std::string>{"monolithic_accuracy"});
  EXPECT_TRUE(experiment.expect.gain_over_isolated);
  options.controls = "none";
  dropped = Apply(options, experiment);
  ASSERT_TRUE(dropped);
  EXPECT_EQ(*dropped, std::vector<std::string>{"gain_over_isolated"});
  EXPECT_TRUE(experiment.expect.accuracy);
}

TEST(RepeatCommand, NamesWhatWasGivenAndTheSeed) {
  Options options;
  options.weights_drop = "0.25";
  options.mode = "virtual";
  EXPECT_EQ(RepeatCommand("my file.yaml", options, 9),
            "covey-sim run 'my file.yaml' --weights-drop 0.25 --mode virtual --seed 9");
}

}  // namespace
}  // namespace covey::harness
