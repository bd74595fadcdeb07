// Each fault of the simulated world: it does what it says, the fleet survives it, and the same seed
// gives the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/virtual_fleet.h"

namespace covey::simulate {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class FaultsTest : public test::VirtualFleet {
 protected:
  FaultsTest() { undisturbed_ = HashOf(Run()); }

  // Runs twice. Returns: the result, which differs from that of an undisturbed run.
  FleetResult RunTwice(const FleetOptions& options = {}) {
    FleetResult result = Run(options);
    EXPECT_EQ(HashOf(Run(options)), HashOf(result)) << "the same seed, other bits";
    EXPECT_NE(HashOf(result), undisturbed_) << "the fault changes nothing";
    return result;
  }
  template <class T>
  static std::uint64_t Sum(const FleetResult& result, T&& of) {
    std::uint64_t sum = 0;
    for (const NodeResult& node : result.nodes) sum += of(node);
    return sum;
  }
  config::FaultSettings& faults() { return experiment_.node.faults; }

  std::string undisturbed_;
};

// A round takes about the time of a frame: the fleet learns with several threads as with one.
TEST_F(FaultsTest, ThreadsChangeNoBit) {
  for (const std::size_t threads : {2u, 4u}) {
    EXPECT_EQ(HashOf(Run({.threads = threads})), undisturbed_);
  }
}

TEST_F(FaultsTest, LongTailedDelays) {
  faults().links.delay = microseconds(200);
  faults().links.delay_tail = 1.5;
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  faults().links.delay_tail = 0;
  EXPECT_NE(HashOf(Run()), HashOf(result));
}

TEST_F(FaultsTest, NarrowLinks) {
  faults().links.bandwidth = ByteCount{1'000'000};  // a model takes a millisecond
  experiment_.node.train.until.epochs = 12;
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
}

TEST_F(FaultsTest, MessagesThatOvertakeEachOther) {
  faults().reorder = microseconds(400);
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_GT(Sum(result, [](const NodeResult& n) { return n.links.faults.delayed; }), 0u);
}

TEST_F(FaultsTest, DamagedFramesAreRefused) {
  faults().corrupt = 0.05;
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.85);
  const std::uint64_t damaged =
      Sum(result, [](const NodeResult& n) { return n.links.bytes.corrupted; });
  const std::uint64_t refused = Sum(result, [](const NodeResult& n) {
    const auto& rejected = n.links.session.rejected;
    return std::accumulate(rejected.begin(), rejected.end(), std::uint64_t{0});
  });
  EXPECT_GT(damaged, 10u);
  EXPECT_GT(refused, damaged / 2) << "none passes for a model";
}

TEST_F(FaultsTest, LinksThatAreCutComeBack) {
  faults().cut = 0.02;
  experiment_.node.network.reconnect_first = milliseconds(1);
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  const auto ups = Sum(result, [](const NodeResult& n) { return n.links.links_up; });
  EXPECT_GT(Sum(result, [](const NodeResult& n) { return n.links.bytes.cut; }), 0u);
  EXPECT_GT(ups, 5u * 4) << "dialled anew";
}

TEST_F(FaultsTest, ClogsDelayTheirFrames) {
  faults().links.clog_every = milliseconds(5);
  faults().links.clog_for = milliseconds(2);
  experiment_.node.train.until.epochs = 12;
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
}

TEST_F(FaultsTest, ThinTopologiesCarryTheFleet) {
  using Kind = config::TopologySettings::Kind;
  experiment_.nodes = 6;
  for (const Kind kind : {Kind::kRing, Kind::kGrid, Kind::kRandomRegular}) {
    faults().links.topology.kind = kind;
    faults().links.topology.degree = 3;
    const FleetResult result = RunTwice();
    EXPECT_GT(MeanAccuracy(result), 0.9);
    EXPECT_LT(result.spread, 0.1);
    const auto ups = Sum(result, [](const NodeResult& n) { return n.links.links_up; });
    EXPECT_EQ(ups, kind == Kind::kRing ? 12u : kind == Kind::kGrid ? 14u : 18u);
  }
}

// Seventy nodes with eight samples each: nobody links to everybody, and refreshed views change.
TEST_F(FaultsTest, APartialViewIsEnough) {
  experiment_.nodes = 70;
  experiment_.init = config::Experiment::Init::kSame;
  experiment_.node.train.until.epochs = 30;
  experiment_.node.train.settle.rounds = 40;
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.75);
  EXPECT_LT(result.spread, 0.1);
  const auto ups = [](const FleetResult& of) {
    return Sum(of, [](const NodeResult& n) { return n.links.links_up; });
  };
  EXPECT_EQ(ups(result), 2u * 8 * 70);
  faults().links.topology.refresh = milliseconds(3);
  EXPECT_GT(ups(RunTwice()), ups(result) + 100);
}

TEST_F(FaultsTest, RadiosThatMoveMeetEachOther) {
  config::TopologySettings& topology = faults().links.topology;
  topology.kind = config::TopologySettings::Kind::kDistance;
  topology.range = 40;
  topology.area = 100;
  topology.velocity = 2000;
  experiment_.node.network.reconnect_first = milliseconds(1);
  experiment_.node.train.until.epochs = 40;
  experiment_.node.train.settle.rounds = 60;
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_GT(Sum(result, [](const NodeResult& n) { return n.links.links_up; }), 4u);
}

TEST_F(FaultsTest, OneNodeTenTimesSlowerTakesTenTimesAsLong) {
  experiment_.overrides.nodes[2].set = {{"faults.nodes.speed", "0.1"}};
  std::vector<Time> trained(5);
  FleetObserver observer;
  observer.on_score = [&](std::uint32_t node, const learner::Score& score, Time now) {
    if (score.epoch < 6.0 || trained[node] > Time{}) return;
    trained[node] = now;
  };
  const FleetResult result = Run({}, observer);
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_NEAR(Seconds(trained[2]) / Seconds(trained[0]), 10, 0.5);
  EXPECT_NEAR(Seconds(trained[2]), 720 / 10000.0, 0.005);
  RunTwice();
}

TEST_F(FaultsTest, OneNodesNarrowRadioHoldsUpItsAnswersAlone) {
  const auto answered = [](const simulate::FleetResult& result, std::size_t node) {
    const consensus::Counters& counters = result.nodes[node].counters;
    return static_cast<double>(counters.deltas_applied) / static_cast<double>(counters.rounds);
  };
  experiment_.node.train.settle.rounds = 0;
  const simulate::FleetResult before = Run();
  experiment_.overrides.nodes[3].set.emplace_back("faults.links.bandwidth", "200kB");
  const simulate::FleetResult after = Run();
  EXPECT_GT(answered(before, 3), 0.9);
  EXPECT_LT(answered(after, 3), 0.1);
  EXPECT_GT(answered(after, 0), 0.7);  // three of its four peers are as before
}

TEST_F(FaultsTest, SpeedsAreDrawn) {
  faults().nodes.speed_spread = 0.5;
  std::vector<Time> last(5);
  FleetObserver observer;
  observer.on_score = [&](std::uint32_t node, const learner::Score& score, Time now) {
    if (score.epoch < 6.0 || last[node] > Time{}) return;
    last[node] = now;
  };
  Run({}, observer);
  std::sort(last.begin(), last.end());
  EXPECT_GT(Seconds(last[4]) / Seconds(last[0]), 1.5);
  RunTwice();
}

TEST_F(FaultsTest, PausesHoldANodeUp) {
  const Duration quick = Run().virtual_time;
  faults().nodes.pause_every = milliseconds(3);
  faults().nodes.pause_for = milliseconds(3);
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_GT(Sum(result, [](const NodeResult& n) { return n.pauses; }), 5u);
  EXPECT_GT(result.virtual_time, quick + milliseconds(3));
}

TEST_F(FaultsTest, ACrashGoesOnFromTheCheckpoint) {
  faults().nodes.down_for = milliseconds(5);
  experiment_.node.train.checkpoint_every = microseconds(500);
  experiment_.node.network.reconnect_first = milliseconds(1);
  experiment_.overrides.nodes[1].set = {{"faults.nodes.crash_at", "4ms"}};
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_EQ(result.nodes[1].crashes, 1u);
  EXPECT_GT(result.nodes[0].finished, Duration::zero());
  EXPECT_GT(result.nodes[1].finished, result.nodes[0].finished);
  EXPECT_GE(result.virtual_time, result.nodes[1].finished);
  EXPECT_EQ(result.nodes[0].crashes, 0u);
  EXPECT_EQ(result.nodes[1].epochs, 6.0);
  // 400 samples before the crash, of which at most a checkpoint interval and a round are lost.
  EXPECT_GT(result.nodes[1].samples, 720u);
  EXPECT_LE(result.nodes[1].samples, 720u + 50 + 24 + 8);
  EXPECT_EQ(result.nodes[1].counters.batches, 90u) << "counted over both lives";

  experiment_.node.train.checkpoint_every = std::chrono::hours(1);
  const FleetResult lost = Run();
  EXPECT_GE(lost.nodes[1].samples, 720u + 380) << "without a checkpoint it starts anew";
}

TEST_F(FaultsTest, CrashesAgainAndAgain) {
  faults().nodes.crash_every = milliseconds(10);
  faults().nodes.down_for = milliseconds(2);
  experiment_.node.train.checkpoint_every = microseconds(500);
  experiment_.node.network.reconnect_first = milliseconds(1);
  const FleetResult result = RunTwice();
  EXPECT_GT(MeanAccuracy(result), 0.9);
  EXPECT_GT(Sum(result, [](const NodeResult& n) { return n.crashes; }), 2u);
}

TEST_F(FaultsTest, ANodeLeavesAndIsNotWaitedFor) {
  experiment_.overrides.nodes[3].set = {{"faults.nodes.leave_at", "3ms"}};
  const FleetResult result = RunTwice();
  EXPECT_TRUE(result.nodes[3].left);
  EXPECT_FALSE(result.nodes[2].left);
  EXPECT_LT(result.nodes[3].samples, 400u);
  EXPECT_EQ(result.nodes[2].samples, 720u);
  EXPECT_LT(result.spread, 0.05) << "of those that stayed";
}

// Sixty virtual seconds in two halves. Before, between and after, the spread follows the exchanges:
// 20 of each node after the halves found each other again bring it back.
class PartitionTest : public FaultsTest {
 protected:
  PartitionTest() {
    experiment_.nodes = 8;
    faults().nodes.samples_per_second = 100;  // a round takes 0.24 s
    faults().links.delay = milliseconds(5);
    experiment_.node.train.until.epochs = 220;
    experiment_.node.train.evaluate.every = config::EvaluateSettings::Every::kBatches;
    experiment_.node.train.evaluate.batches = 3;
    experiment_.node.train.optimizer.learning_rate = 0.002f;
    experiment_.node.consensus.batches = 3;
    experiment_.node.network.reconnect_most = seconds(5);
    faults().partitions.push_back({.at = seconds(60), .lasts = seconds(60), .groups = "halves"});
  }
};

TEST_F(PartitionTest, HalvesGoOnAndFindEachOtherAgain) {
  std::vector<std::pair<Time, double>> spreads;
  FleetObserver observer;
  observer.on_spread = [&spreads](double spread, Time now) { spreads.emplace_back(now, spread); };
  const FleetResult result = Run({.spread_every = seconds(1)}, observer);
  const auto mean = [&spreads](Time from, Time to) {
    double sum = 0;
    int count = 0;
    for (const auto& [time, spread] : spreads) {
      if (time < from || time >= to) continue;
      sum += spread;
      ++count;
    }
    return sum / count;
  };
  const double before = mean(seconds(40), seconds(60));
  const double apart = mean(seconds(100), seconds(120));
  // Twenty exchanges of 0.24 s each after the last link is back.
  const Time back = seconds(120 + 5 + 5);
  const double after = mean(back, back + seconds(20));
  EXPECT_GT(apart, 1.5 * before) << "the partition parts the models";
  EXPECT_LT(after, 1.1 * before);
  EXPECT_GT(MeanAccuracy(result), 0.9);
}

}  // namespace
}  // namespace covey::simulate
