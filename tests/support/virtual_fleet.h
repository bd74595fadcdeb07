// A small fleet on the virtual clock, from configuration to result.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "covey/base/sha256.h"
#include "covey/config/experiment.h"
#include "covey/simulate/fleet.h"
#include "support/idx_files.h"

namespace covey::test {

// Five nodes with 120 samples each of four easy classes: 12-16-4, batch 8, N = 3, six epochs and 20
// rounds of tail.
class VirtualFleet : public testing::Test {
 protected:
  VirtualFleet() {
    WriteSyntheticSet(folder_ / "train", {.samples = 900, .noise = 35, .seed = 1});
    WriteSyntheticSet(folder_ / "test", {.samples = 400, .noise = 35, .seed = 2});
    config::NodeConfig& node = experiment_.node;
    experiment_.nodes = 5;
    experiment_.seed = 7;
    experiment_.mode = config::Experiment::Mode::kVirtual;
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
    // A round of these nodes takes 0.24 ms: the network is fast against it, as a local one against
    // real models.
    node.faults.links.delay = std::chrono::microseconds(20);
  }

  simulate::FleetResult Run(const simulate::FleetOptions& options = {},
                            const simulate::FleetObserver& observer = {}) {
    const auto nodes = config::Expand(experiment_);
    EXPECT_TRUE(nodes) << nodes.error().Format();
    if (!nodes) return {};
    auto result = simulate::RunFleet(*nodes, options, observer);
    EXPECT_TRUE(result) << result.error().Format();
    return result ? std::move(*result) : simulate::FleetResult{};
  }
  static std::string HashOf(const simulate::FleetResult& result) {
    Sha256 hash;
    for (const simulate::NodeResult& node : result.nodes) {
      hash.Update(std::as_bytes(node.x.view()));
      for (const std::uint64_t count : {node.counters.deltas_applied, node.counters.weights_applied,
                                        node.links.session.bytes_out, node.counters.rounds}) {
        hash.Update(std::as_bytes(std::span(&count, 1)));
      }
    }
    return hash.Finish().Hex();
  }
  static double MeanAccuracy(const simulate::FleetResult& result) {
    double sum = 0;
    for (const simulate::NodeResult& node : result.nodes) sum += *node.scores.last_test->accuracy;
    return sum / static_cast<double>(result.nodes.size());
  }

  TemporaryFolder folder_;
  config::Experiment experiment_;
};

}  // namespace covey::test
