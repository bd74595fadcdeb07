#include "control/convert.h"

#include <gtest/gtest.h>

namespace covey::control {
namespace {

using namespace std::chrono_literals;

std::uint64_t Monotonic(Time time) { return static_cast<std::uint64_t>(time.count()) + 1000; }

TEST(Convert, EveryStageHasItsState) {
  using node::Stage;
  EXPECT_EQ(ToState(Stage::kStarting), api::State::kStarting);
  EXPECT_EQ(ToState(Stage::kJoining), api::State::kJoining);
  EXPECT_EQ(ToState(Stage::kTraining), api::State::kTraining);
  EXPECT_EQ(ToState(Stage::kSettling), api::State::kSettling);
  EXPECT_EQ(ToState(Stage::kDone), api::State::kDone);
  EXPECT_EQ(ToState(Stage::kLeaving), api::State::kLeaving);
  // The two lists of names are one.
  for (const Stage stage : {Stage::kStarting, Stage::kJoining, Stage::kTraining, Stage::kSettling,
                            Stage::kDone, Stage::kLeaving}) {
    EXPECT_EQ(node::Name(stage), api::Name(ToState(stage)));
  }
}

TEST(Convert, SpeedIsOverTheTimeOfTraining) {
  node::Report report;
  report.progress.samples = 3000;
  report.progress.first_batch = 2s;
  report.progress.last_batch = 5s;
  report.now = 100s;
  api::NodeStatus status;
  Fill(report, {}, Monotonic, status);
  EXPECT_DOUBLE_EQ(status.samples_per_second, 1000);
  EXPECT_EQ(status.first_batch_ns, 2'000'001'000u);
  EXPECT_EQ(status.last_batch_ns, 5'000'001'000u);
  EXPECT_DOUBLE_EQ(status.uptime_seconds, 100);
}

TEST(Convert, BeforeTheFirstBatchThereIsNoSpeed) {
  api::NodeStatus status;
  Fill({}, {}, Monotonic, status);
  EXPECT_EQ(status.first_batch_ns, 0u);
  EXPECT_EQ(status.samples_per_second, 0);
  EXPECT_FALSE(status.last_evaluation || status.best_evaluation || status.final_results);
  EXPECT_EQ(status.checkpoint.path, "");
  EXPECT_EQ(status.checkpoint.age_seconds, 0);
  EXPECT_TRUE(status.rejects.empty());
}

TEST(Convert, TrafficAndRejectsComeFromTheirCounters) {
  node::Report report;
  learner::LinkCounters& links = report.network.links;
  links.session.weights_out = 1;
  links.session.deltas_out = 2;
  links.faults.weights_dropped = 3;
  links.faults.deltas_dropped = 4;
  links.session.weights_in = 5;
  links.session.deltas_in = 6;
  links.session.bytes_out = 7;
  links.session.bytes_in = 8;
  links.session.resumed_in = 13;
  links.session.rejected[static_cast<std::size_t>(wire::Reason::kNotFinite)] = 9;
  report.progress.core.dropped[static_cast<std::size_t>(consensus::DropReason::kDuplicate)] = 10;
  report.fifo.counters.refused_deltas = 11;
  report.fifo.counters.evicted_weights = 12;
  api::NodeStatus status;
  Fill(report, {}, Monotonic, status);
  const api::Traffic& traffic = status.traffic;
  EXPECT_EQ(traffic.weights_sent, 1u);
  EXPECT_EQ(traffic.deltas_sent, 2u);
  EXPECT_EQ(traffic.weights_dropped, 3u);
  EXPECT_EQ(traffic.deltas_dropped, 4u);
  EXPECT_EQ(traffic.weights_received, 5u);
  EXPECT_EQ(traffic.deltas_received, 6u);
  EXPECT_EQ(traffic.bytes_sent, 7u);
  EXPECT_EQ(traffic.bytes_received, 8u);
  EXPECT_EQ(traffic.resumed, 13u);
  using Rejects = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(status.rejects,
            (Rejects{{"not_finite", 9}, {"core_duplicate", 10}, {"fifo_refused_deltas", 11}}));
  EXPECT_EQ(status.fifo_evicted, 12u);
}

TEST(Convert, ScoresWithoutAValidationSetAreAbsent) {
  node::Report report;
  report.evaluation.last.emplace();
  report.evaluation.final_scores.emplace();
  report.evaluation.final_scores->last_test = gradient::Evaluation{0.5, 0.75, 10};
  api::NodeStatus status;
  Fill(report, {}, Monotonic, status);
  EXPECT_FALSE(status.last_evaluation.has_value());
  ASSERT_TRUE(status.final_results.has_value());
  EXPECT_EQ(status.final_results->last.validation_accuracy, std::nullopt);
  EXPECT_EQ(status.final_results->last.test_accuracy, 0.75);
  EXPECT_EQ(status.final_results->best.test_accuracy, std::nullopt);
}

TEST(Convert, PeersAreListedWithTheirAges) {
  node::Report report;
  report.now = 10s;
  learner::PeerInfo peer;
  peer.key.emplace();
  peer.key->bytes[0] = 0xab;
  peer.address = "tcp://10.0.0.1:7420";
  peer.state = session::State::kReady;
  peer.since = 4s;
  peer.rtt = 2ms;
  report.network.peers.push_back(peer);
  report.network.peers.push_back({});
  api::NodeStatus status;
  Fill(report, {}, Monotonic, status);
  ASSERT_EQ(status.peers.size(), 2u);
  EXPECT_EQ(status.peers[0].key.substr(0, 4), "ab00");
  EXPECT_EQ(status.peers[0].state, "up");
  EXPECT_DOUBLE_EQ(status.peers[0].since_seconds, 6);
  EXPECT_DOUBLE_EQ(*status.peers[0].rtt_seconds, 0.002);
  EXPECT_EQ(status.peers[1].key, "");
  EXPECT_EQ(status.peers[1].state, "connecting");
  EXPECT_EQ(status.peers[1].rtt_seconds, std::nullopt);
}

}  // namespace
}  // namespace covey::control
