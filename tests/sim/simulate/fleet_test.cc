// Whole fleets on the virtual clock: the daemons' own code from configuration to settled models.
#include "covey/simulate/fleet.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "covey/base/sha256.h"
#include "covey/config/experiment.h"
#include "support/idx_files.h"

namespace covey::simulate {
namespace {

class FleetTest : public testing::Test {
 protected:
  FleetTest() {
    test::WriteSyntheticSet(folder_ / "train", {.samples = 900, .noise = 35, .seed = 1});
    test::WriteSyntheticSet(folder_ / "test", {.samples = 400, .noise = 35, .seed = 2});
    config::NodeConfig& node = experiment_.node;
    experiment_.nodes = 5;
    experiment_.seed = 7;
    node.model.input = {12};
    node.model.layers = {nn::Dense{16, nn::Activation::kRelu},
                         nn::Dense{4, nn::Activation::kLinear}};
    node.data.train = {folder_ / "train-images", folder_ / "train-labels"};
    node.data.test = data::Source{folder_ / "test-images", folder_ / "test-labels"};
    node.data.validation_last = 300;
    node.data.batch = 8;
    node.data.cache = folder_ / "cache";
    node.train.optimizer.learning_rate = 0.01f;
    node.train.until.kind = config::Until::Kind::kEpochs;
    node.train.until.epochs = 6;
    node.train.settle.rounds = 20;
    node.consensus.batches = 3;
  }

  // A round of these nodes takes 0.24 ms: the network is fast against it, as a local one against
  // real models.
  static FleetOptions FastNetwork() {
    FleetOptions options;
    options.link.delay = std::chrono::microseconds(20);
    return options;
  }

  FleetResult Run(const FleetOptions& options = FastNetwork(), const FleetObserver& observer = {}) {
    const auto nodes = config::Expand(experiment_);
    EXPECT_TRUE(nodes) << nodes.error().Format();
    auto result = RunFleet(*nodes, options, observer);
    EXPECT_TRUE(result) << result.error().Format();
    return result ? std::move(*result) : FleetResult{};
  }
  static std::string HashOf(const FleetResult& result) {
    Sha256 hash;
    for (const NodeResult& node : result.nodes) {
      hash.Update(std::as_bytes(node.x.view()));
      for (const std::uint64_t count : {node.counters.deltas_applied, node.counters.weights_applied,
                                        node.links.session.bytes_out, node.counters.rounds}) {
        hash.Update(std::as_bytes(std::span(&count, 1)));
      }
    }
    return hash.Finish().Hex();
  }
  static double MeanAccuracy(const FleetResult& result) {
    double sum = 0;
    for (const NodeResult& node : result.nodes) sum += *node.scores.last_test->accuracy;
    return sum / static_cast<double>(result.nodes.size());
  }

  test::TemporaryFolder folder_;
  config::Experiment experiment_;
};

TEST_F(FleetTest, LearnsTogetherAndSettles) {
  const FleetResult result = Run();
  ASSERT_EQ(result.nodes.size(), 5u);
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_LT(result.spread, 0.01);
  for (const NodeResult& node : result.nodes) {
    EXPECT_EQ(node.shard, 120u);
    EXPECT_DOUBLE_EQ(node.epochs, 6.0);
    EXPECT_EQ(node.samples, 720u);
    EXPECT_GT(node.counters.deltas_applied, 0u);
    EXPECT_EQ(node.counters.dropped[0], 0u) << "without faults every DELTAS finds its exchange";
    for (const std::uint64_t rejected : node.links.session.rejected) EXPECT_EQ(rejected, 0u);
  }
}

TEST_F(FleetTest, SameSeedSameBitsOtherSeedOtherBits) {
  experiment_.node.faults.weights_drop = 0.25;
  experiment_.node.faults.deltas_drop = 0.25;
  const std::string first = HashOf(Run());
  EXPECT_EQ(HashOf(Run()), first);
  experiment_.seed = 8;
  EXPECT_NE(HashOf(Run()), first);
}

TEST_F(FleetTest, SurvivesLossDuplicationAndDelay) {
  experiment_.node.faults.weights_drop = 0.25;
  experiment_.node.faults.deltas_drop = 0.25;
  experiment_.node.faults.duplicate = 0.3;
  experiment_.node.faults.delay = std::chrono::microseconds(100);
  const FleetResult result = Run();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_LT(result.spread, 0.05);
  EXPECT_LT(result.virtual_time, std::chrono::seconds(5))
      << "the tail ends by counting, not by patience";
  std::uint64_t dropped = 0;
  std::uint64_t duplicated = 0;
  for (const NodeResult& node : result.nodes) {
    dropped += node.links.faults.weights_dropped + node.links.faults.deltas_dropped;
    duplicated += node.links.faults.duplicated;
    // Nothing is applied twice: every DELTAS applied belongs to one exchange begun.
    EXPECT_LE(node.counters.deltas_applied + node.counters.nacked + node.counters.expired,
              node.counters.weights_started);
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(duplicated, 0u);
}

// A reply takes twenty rounds: with two exchanges in flight for that long the fleet ended at 0.78.
TEST_F(FleetTest, LearnsOverDelaysOfManyRounds) {
  FleetOptions slow;
  slow.link.delay = std::chrono::microseconds(2400);
  experiment_.node.train.until.epochs = 20;
  const FleetResult result = Run(slow);
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_LT(result.spread, 0.05);
}

TEST_F(FleetTest, IsolatedNodesNeverExchange) {
  const auto nodes = config::Expand(experiment_, config::Run::kIsolated);
  ASSERT_TRUE(nodes) << nodes.error().Format();
  const auto result = RunFleet(*nodes, {}, {});
  ASSERT_TRUE(result) << result.error().Format();
  for (const NodeResult& node : result->nodes) {
    EXPECT_EQ(node.links.session.frames_out, 0u);
    EXPECT_EQ(node.counters.weights_applied, 0u);
  }
  EXPECT_GT(result->spread, 0.1);
}

// One node without peers is plain training: the same bits as a loop around the trainer.
TEST_F(FleetTest, OneNodeIsPlainTraining) {
  const auto nodes = config::Expand(experiment_, config::Run::kMonolithic);
  ASSERT_TRUE(nodes) << nodes.error().Format();
  ASSERT_EQ(nodes->size(), 1u);
  const auto result = RunFleet(*nodes, {}, {});
  ASSERT_TRUE(result) << result.error().Format();

  const config::NodeConfig& config = nodes->front();
  const auto train = data::OpenIdx(config.data.train, config.data.cache);
  ASSERT_TRUE(train);
  data::Sampler sampler(data::Range(0, 600), {8, config.node.seed, config.node.index});
  gradient::Trainer trainer(config.model, config.train.optimizer, 8);
  tensor::FlatVector x(nn::LayoutOf(config.model).size());
  Stream init(config.node.seed, config.node.init_index.value_or(config.node.index), Purpose::kInit);
  nn::Initialise(config.model, init, x.view());
  for (int step = 0; step < 6 * 75; ++step) trainer.Step(x.view(), *train, sampler.Next());
  EXPECT_EQ(std::memcmp(x.data(), result->nodes[0].x.data(), x.size() * sizeof(float)), 0);
}

TEST_F(FleetTest, ALateNodeIsTakenIn) {
  FleetOptions options = FastNetwork();
  options.start_after = {Duration{}, Duration{}, Duration{}, Duration{},
                         std::chrono::milliseconds(30)};
  experiment_.node.train.until.epochs = 12;
  experiment_.node.train.settle.rounds = 40;
  const FleetResult result = Run(options);
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_LT(result.spread, 0.05);
  EXPECT_GT(result.nodes[4].counters.deltas_applied, 0u);
}

TEST_F(FleetTest, ANewcomerCopiesThenAverages) {
  FleetOptions options = FastNetwork();
  options.start_after = {Duration{}, Duration{}, Duration{}, Duration{},
                         std::chrono::milliseconds(30)};
  experiment_.node.train.until.epochs = 12;
  experiment_.overrides.nodes[4].set = {{"consensus.join", "true"}};
  std::vector<double> first_accuracy(5, -1);
  FleetObserver observer;
  observer.on_score = [&](std::uint32_t node, const learner::Score& score, Time) {
    if (first_accuracy[node] < 0) first_accuracy[node] = *score.validation.accuracy;
  };
  const FleetResult result = Run(options, observer);
  EXPECT_GT(MeanAccuracy(result), 0.9);
  std::uint64_t copies = 0;
  for (const NodeResult& node : result.nodes) copies += node.links.session.copies_out;
  EXPECT_GE(copies, 1u);
  EXPECT_GT(first_accuracy[4], first_accuracy[0]) << "it starts from what the others know";
}

TEST_F(FleetTest, EndsAtTheWantedAccuracy) {
  experiment_.node.train.until = {};
  experiment_.node.train.until.kind = config::Until::Kind::kAccuracy;
  experiment_.node.train.until.accuracy = 0.8;
  const FleetResult result = Run();
  for (const NodeResult& node : result.nodes) EXPECT_GE(node.scores.best.validation.accuracy, 0.8);
}

TEST_F(FleetTest, ANonFiniteLossIsAnErrorThatNamesTheNode) {
  experiment_.node.train.optimizer.kind = optim::Settings::Kind::kSgd;
  experiment_.node.train.optimizer.learning_rate = 1e30f;
  const auto nodes = config::Expand(experiment_);
  ASSERT_TRUE(nodes);
  const auto result = RunFleet(*nodes, {}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kSoftware);
  EXPECT_EQ(result.error().where.find("node "), 0u);
  EXPECT_NE(result.error().what.find("the loss of step "), std::string::npos);
  EXPECT_NE(result.error().hint.find("learning_rate"), std::string::npos);
}

}  // namespace
}  // namespace covey::simulate
