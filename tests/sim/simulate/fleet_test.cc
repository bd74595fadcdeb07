// Whole fleets on the virtual clock: the daemons' own code from configuration to settled models.
#include "covey/simulate/fleet.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/virtual_fleet.h"

namespace covey::simulate {
namespace {

class FleetTest : public test::VirtualFleet {};

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
  experiment_.node.faults.duplicate = 0.5;
  experiment_.node.faults.delay = std::chrono::microseconds(100);
  const FleetResult result = Run();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_LT(result.spread, 0.05);
  EXPECT_LT(result.virtual_time, std::chrono::seconds(5))
      << "the tail ends by counting, not by patience";
  std::uint64_t dropped = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t made = 0;
  std::uint64_t applied = 0;
  for (const NodeResult& node : result.nodes) {
    dropped += node.links.faults.weights_dropped + node.links.faults.deltas_dropped;
    duplicated += node.links.faults.duplicated;
    made += node.counters.deltas_made;
    applied += node.counters.deltas_applied;
    // Nothing is applied twice: every DELTAS applied belongs to one exchange begun.
    EXPECT_LE(node.counters.deltas_applied + node.counters.nacked + node.counters.expired,
              node.counters.weights_started);
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(duplicated, 0u);
  EXPECT_LT(applied, made) << "three quarters arrive, half of them twice";
}

// A reply takes ten rounds, or twenty. Where it takes ten, and nothing limits the exchanges in
// flight, the fleet ends at 0.30.
TEST_F(FleetTest, LearnsOverDelaysOfManyRounds) {
  for (const int delay : {1200, 2400}) {
    experiment_.node.faults.links.delay = std::chrono::microseconds(delay);
    experiment_.node.train.until.epochs = 20;
    const FleetResult result = Run();
    EXPECT_GT(MeanAccuracy(result), 0.9) << delay;
    EXPECT_LT(result.spread, 0.05) << delay;
  }
}

TEST_F(FleetTest, EncodingsShortenMessagesAndStillAgree) {
  using tensor::Encoding;
  const auto bytes = [](const FleetResult& result) {
    double sum = 0;
    double messages = 0;
    for (const NodeResult& node : result.nodes) {
      sum += static_cast<double>(node.links.session.bytes_out);
      messages += static_cast<double>(node.links.session.weights_in + node.links.session.deltas_in);
    }
    return sum / messages;
  };
  experiment_.node.model.layers = {nn::Dense{160, nn::Activation::kRelu},
                                   nn::Dense{4, nn::Activation::kLinear}};
  const double exact = bytes(Run());
  const struct {
    consensus::Encodings encoding;
    double share;  // of the exact messages, frames and BEGIN included
  } cases[] = {{{Encoding::kFloat16, Encoding::kFloat16}, 0.53},
               {{Encoding::kBfloat16, Encoding::kBfloat16}, 0.53},
               {{Encoding::kInt8, Encoding::kInt8}, 0.30},
               {{Encoding::kFloat32, Encoding::kTopK}, 0.57}};
  for (const auto& [encoding, share] : cases) {
    experiment_.node.consensus.encoding = encoding;
    const FleetResult result = Run();
    EXPECT_GT(MeanAccuracy(result), 0.9) << tensor::Name(encoding.deltas);
    EXPECT_LT(result.spread, 0.02) << tensor::Name(encoding.deltas);
    EXPECT_LT(bytes(result) / exact, share) << tensor::Name(encoding.deltas);
    for (const NodeResult& node : result.nodes) {
      for (const std::uint64_t rejected : node.links.session.rejected) EXPECT_EQ(rejected, 0u);
    }
  }
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
  FleetOptions options;
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
  FleetOptions options;
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
