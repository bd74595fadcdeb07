#include "covey/simulate/memory.h"

#include <gtest/gtest.h>

namespace covey::simulate {
namespace {

config::NodeConfig Mlp() {
  config::NodeConfig config;
  config.model.input = {28, 28};
  config.model.layers = {nn::Dense{72, nn::Activation::kRelu},
                         nn::Dense{10, nn::Activation::kLinear}};
  return config;
}

TEST(Memory, GrowsWithNodesSlotsAndCheckpoints) {
  std::vector<config::NodeConfig> nodes(1000, Mlp());
  const std::uint64_t adam = EstimateMemory(nodes);
  EXPECT_GT(adam, 2'000'000'000u);
  EXPECT_LT(adam, 3'500'000'000u);
  EXPECT_EQ(EstimateMemory({Mlp()}) * 1000, adam);

  const std::uint64_t model = 4 * (784 * 72 + 72 + 720 + 10);
  for (config::NodeConfig& node : nodes) {
    node.train.optimizer.kind = optim::Settings::Kind::kSgd;
  }
  EXPECT_EQ(EstimateMemory(nodes), adam - 2000 * model) << "two slots fewer";
  for (config::NodeConfig& node : nodes) node.consensus.sends = 0;
  EXPECT_EQ(EstimateMemory(nodes), adam - 6000 * model) << "no messages";
  nodes[7].faults.nodes.crash_at = std::chrono::seconds(1);
  EXPECT_EQ(EstimateMemory(nodes), adam - 6000 * model + 5 * model) << "one checkpoint";
}

}  // namespace
}  // namespace covey::simulate
