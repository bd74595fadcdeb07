#include "covey/node/daemon.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "covey/store/safetensors.h"
#include "fixture.h"

namespace covey::node {
namespace {

using namespace std::chrono_literals;

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() : config_(SmallConfig(folder_)) {}

  std::unique_ptr<Daemon> Open(bool paused = false) {
    DaemonSettings settings = SettingsOf(config_);
    settings.start_paused = paused;
    auto daemon = Daemon::Open(std::move(settings));
    EXPECT_TRUE(daemon.has_value()) << daemon.error().Format();
    return std::move(*daemon);
  }
  std::size_t Checkpoints() const {
    const auto folder = folder_.path() / "state/checkpoints";
    if (!std::filesystem::exists(folder)) return 0;
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
  }
  static bool WaitForBatches(Daemon& daemon, std::uint64_t batches) {
    for (int i = 0; i < 100'000; ++i) {
      if (daemon.GetReport().progress.core.batches >= batches) return true;
      std::this_thread::yield();
    }
    return false;
  }

  test::TemporaryFolder folder_;
  config::NodeConfig config_;
  Signals signals_;
  LonelyNetwork network_;
  Watcher watcher_;
};

TEST_F(DaemonTest, TrainsEvaluatesLeavesAndTellsItsFinalScores) {
  config_.train.until = Epochs(20);
  config_.train.linger = {.forever = false, .time = {}};
  auto daemon = Open();
  EXPECT_EQ(daemon->restored_from(), "");
  daemon->Start(network_, watcher_);
  EXPECT_TRUE(daemon->Run(signals_).has_value());
  ASSERT_TRUE(watcher_.final_scores().has_value());
  const learner::FinalScores scores = *watcher_.final_scores();
  EXPECT_NEAR(scores.last.epoch, 20, 1e-9);
  EXPECT_GE(scores.best.validation.accuracy, scores.last.validation.accuracy);
  EXPECT_GT(scores.last_test->accuracy, 0.5);
  EXPECT_EQ(scores.last_test->samples, 100u);
  EXPECT_EQ(Checkpoints(), 1u);
  EXPECT_TRUE(network_.closed);
  // Nothing is lost silently: each epoch was evaluated, or is counted as skipped.
  const Report report = daemon->GetReport();
  EXPECT_GE(watcher_.scores().size() + report.evaluation.skipped, 20u);
  EXPECT_EQ(report.progress.stage, Stage::kLeaving);
  EXPECT_EQ(report.progress.core.batches, 1000u);
  EXPECT_EQ(report.progress.samples, 10'000u);
}

TEST_F(DaemonTest, SignalEndsItWithACheckpointAndARestartGoesOn) {
  auto first = Open();
  first->Start(network_, watcher_);
  ASSERT_TRUE(WaitForBatches(*first, 100));
  ::raise(SIGTERM);
  ASSERT_TRUE(first->Run(signals_).has_value());
  const Report before = first->GetReport();
  EXPECT_EQ(before.checkpoint.batches, before.progress.core.batches);
  EXPECT_EQ(watcher_.final_scores(), std::nullopt);  // a signal measures nothing
  first.reset();

  auto second = Open(true);
  EXPECT_EQ(second->restored_from(), before.checkpoint.path);
  LonelyNetwork network;
  Watcher watcher;
  second->Start(network, watcher);
  ASSERT_TRUE(watcher.WaitFor(Stage::kTraining));
  const Report after = second->GetReport();
  EXPECT_TRUE(after.progress.paused);
  EXPECT_EQ(after.progress.core.batches, before.progress.core.batches);
  EXPECT_EQ(after.progress.core.rounds, before.progress.core.rounds);
  EXPECT_DOUBLE_EQ(after.progress.epochs, before.progress.epochs);
  EXPECT_EQ(after.progress.samples, 0u);
  if (before.evaluation.best) {
    ASSERT_TRUE(after.evaluation.best.has_value());
    EXPECT_EQ(after.evaluation.best->validation.accuracy,
              before.evaluation.best->validation.accuracy);
    EXPECT_EQ(after.evaluation.best->batches, before.evaluation.best->batches);
  }
  ASSERT_TRUE(second->Leave().has_value());
  EXPECT_TRUE(second->Run(signals_).has_value());
}

TEST_F(DaemonTest, CommandsShowTheirEffectAtOnce) {
  auto daemon = Open(true);
  daemon->Start(network_, watcher_);
  ASSERT_TRUE(watcher_.WaitFor(Stage::kTraining));
  EXPECT_EQ(daemon->GetReport().progress.core.batches, 0u);
  ASSERT_TRUE(daemon->Resume().has_value());
  EXPECT_FALSE(daemon->GetReport().progress.paused);
  ASSERT_TRUE(WaitForBatches(*daemon, 10));
  ASSERT_TRUE(daemon->Pause().has_value());
  const Report paused = daemon->GetReport();
  EXPECT_TRUE(paused.progress.paused);
  EXPECT_EQ(daemon->GetReport().progress.core.batches, paused.progress.core.batches);
  ASSERT_TRUE(daemon->Resume().has_value());
  ASSERT_TRUE(daemon->Settle().has_value());
  ASSERT_TRUE(watcher_.WaitFor(Stage::kDone));
  ASSERT_TRUE(daemon->Leave().has_value());
  EXPECT_TRUE(daemon->Run(signals_).has_value());
  EXPECT_EQ(daemon->Pause().error().code, ErrorCode::kTemporary);
  EXPECT_EQ(daemon->Leave().error().code, ErrorCode::kTemporary);
}

TEST_F(DaemonTest, TrainingEndsAtAnAccuracy) {
  config_.train.until.kind = config::Until::Kind::kAccuracy;
  config_.train.until.accuracy = 0.6;
  auto daemon = Open();
  daemon->Start(network_, watcher_);
  ASSERT_TRUE(watcher_.WaitFor(Stage::kDone));
  EXPECT_GE(daemon->GetReport().evaluation.best->validation.accuracy, 0.6);
  ASSERT_TRUE(daemon->Leave().has_value());
  EXPECT_TRUE(daemon->Run(signals_).has_value());
}

TEST_F(DaemonTest, NonFiniteLossEndsItWithoutACheckpoint) {
  config_.train.optimizer.kind = optim::Settings::Kind::kSgd;
  config_.train.optimizer.learning_rate = 1000;
  std::get<nn::Dense>(config_.model.layers[0]).activation =
      nn::Activation::kLinear;  // ReLUs go silent, these grow
  auto daemon = Open();
  daemon->Start(network_, watcher_);
  const Status ended = daemon->Run(signals_);
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::kSoftware);
  EXPECT_NE(ended.error().Format().find("learning_rate"), std::string::npos);
  EXPECT_NE(ended.error().Format().find("outputs of layer dense"), std::string::npos)
      << ended.error().Format();
  EXPECT_EQ(Checkpoints(), 0u);
}

// The newest published parameters outlive a run that goes wrong.
TEST_F(DaemonTest, NonFiniteLossKeepsTheLastGoodParameters) {
  config_.train.evaluate.every = config::EvaluateSettings::Every::kBatches;
  config_.train.evaluate.batches = 1;
  config_.consensus.batches = 1;
  config_.train.optimizer.kind = optim::Settings::Kind::kSgd;
  config_.train.optimizer.learning_rate = 20;
  std::get<nn::Dense>(config_.model.layers[0]).activation = nn::Activation::kLinear;
  auto daemon = Open();
  daemon->Start(network_, watcher_);
  const Status ended = daemon->Run(signals_);
  ASSERT_FALSE(ended.has_value());
  const std::string path = folder_ / "state/last-good.safetensors";
  EXPECT_NE(ended.error().hint.find("are kept in " + path), std::string::npos)
      << ended.error().Format();
  const auto kept = store::ReadSafetensors(path);  // refuses values that are not finite
  ASSERT_TRUE(kept) << kept.error().Format();
  EXPECT_EQ(kept->values.size(), nn::LayoutOf(config_.model).size());
  EXPECT_GE(std::stoul(kept->metadata.at("batches")), 1u);
}

TEST_F(DaemonTest, PeriodicCheckpointsAreWrittenWhileItTrains) {
  config_.train.checkpoint_every = 1ms;
  auto daemon = Open();
  daemon->Start(network_, watcher_);
  while (daemon->GetReport().checkpoint.written < 5) std::this_thread::yield();
  const Report report = daemon->GetReport();
  EXPECT_EQ(report.progress.stage, Stage::kTraining);
  EXPECT_EQ(report.checkpoint.failures, 0u);
  EXPECT_TRUE(std::filesystem::exists(report.checkpoint.path) || report.checkpoint.written > 5);
  ASSERT_TRUE(daemon->Leave().has_value());
  EXPECT_TRUE(daemon->Run(signals_).has_value());
  EXPECT_LE(Checkpoints(), 3u);
}

// The last rounds of a node that is done are saved as well, and then it rests.
TEST_F(DaemonTest, DoneNodeIsSavedOnceAndRests) {
  config_.train.checkpoint_every = 20ms;
  config_.train.until = Epochs(1);
  auto daemon = Open();
  daemon->Start(network_, watcher_);
  ASSERT_TRUE(watcher_.WaitFor(Stage::kDone));
  const std::uint64_t batches = daemon->GetReport().progress.core.batches;
  while (daemon->GetReport().checkpoint.batches < batches) std::this_thread::yield();
  const std::uint64_t written = daemon->GetReport().checkpoint.written;
  ::raise(SIGTERM);
  ASSERT_TRUE(daemon->Run(signals_).has_value());
  EXPECT_EQ(daemon->GetReport().checkpoint.written, written + 1);  // the last one
}

TEST_F(DaemonTest, FailedCheckpointsAreCountedAndTrainingGoesOn) {
  config_.train.checkpoint_every = 1ms;
  auto daemon = Open();
  std::filesystem::remove_all(folder_.path() / "state");
  test::WriteIdx(folder_ / "state", {1}, {0});  // a file where the folder should be
  daemon->Start(network_, watcher_);
  while (daemon->GetReport().checkpoint.failures < 2) std::this_thread::yield();
  EXPECT_EQ(daemon->GetReport().progress.stage, Stage::kTraining);
  ::raise(SIGTERM);
  EXPECT_FALSE(daemon->Run(signals_).has_value());
}

TEST_F(DaemonTest, CheckpointOfAnotherModelOrOptimizerIsRefused) {
  auto daemon = Open();
  daemon->Start(network_, watcher_);
  ::raise(SIGTERM);
  ASSERT_TRUE(daemon->Run(signals_).has_value());
  daemon.reset();
  config::NodeConfig other = config_;
  other.train.optimizer.kind = optim::Settings::Kind::kQuasiGlobal;
  EXPECT_EQ(Daemon::Open(SettingsOf(other)).error().code, ErrorCode::kData);
  other = config_;
  std::get<nn::Dense>(other.model.layers[0]).units = 9;
  EXPECT_EQ(Daemon::Open(SettingsOf(other)).error().code, ErrorCode::kProtocol);
}

TEST_F(DaemonTest, MissingDataIsAnError) {
  config_.data.train.images = folder_ / "none";
  EXPECT_EQ(Daemon::Open(SettingsOf(config_)).error().code, ErrorCode::kNoInput);
}

// Destroyed without Run: threads end, nothing hangs.
TEST_F(DaemonTest, CanBeThrownAwayWhileItTrains) {
  auto daemon = Open();
  daemon->Start(network_, watcher_);
  ASSERT_TRUE(WaitForBatches(*daemon, 10));
}

TEST_F(DaemonTest, PeersOfAnEarlierLifeAreDialled) {
  const PeerKey peer = SettingsOf(config_).identity.key;
  PeerKey other = peer;
  other.bytes[0] ^= 1;
  const std::string file = config_.node.state_dir + "/peers";
  std::filesystem::create_directories(config_.node.state_dir);
  std::ofstream(file) << "covey-peers 1\n"
                      << peer.Hex() << " 127.0.0.1:7 1\n"
                      << other.Hex() << " 127.0.0.1:8 3\n";
  auto daemon = Open(true);
  daemon->Start(network_, watcher_);
  EXPECT_TRUE(network_.IsDialled(other, "127.0.0.1:8"));
  ASSERT_TRUE(daemon->Leave().has_value());
  EXPECT_TRUE(daemon->Run(signals_).has_value());
  std::ifstream kept(file);
  const std::string text((std::istreambuf_iterator<char>(kept)), {});
  EXPECT_NE(text.find(other.Hex() + " 127.0.0.1:8"), std::string::npos) << text;
}

}  // namespace
}  // namespace covey::node
