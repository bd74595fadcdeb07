// A node's parts for tests of its host: a small data set, a configuration, a network that goes
// nowhere.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/node/daemon.h"
#include "support/idx_files.h"

namespace covey::node {

// Nobody is reachable; Poll waits for Wake.
class LonelyNetwork final : public NetworkDriver, private transport::Transport {
 public:
  transport::Transport& transport() override { return *this; }
  void Poll(transport::Sink&, Duration at_most) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, at_most, [this] { return woken_; });
    woken_ = false;
  }
  void Dial(const PeerKey& peer, const std::string& address) override {
    const std::lock_guard lock(mutex_);
    dialled_[peer] = address;
    changed_.notify_all();
  }
  void HangUp(const PeerKey& peer) override {
    const std::lock_guard lock(mutex_);
    dialled_.erase(peer);
  }
  std::map<PeerKey, std::string> Problems() const override { return {}; }
  void Wake() override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  void Close() override { closed = true; }
  std::string endpoint() const override { return "tcp://127.0.0.1:1"; }

  // Waits for it.
  bool IsDialled(const PeerKey& peer, const std::string& address) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      const auto found = dialled_.find(peer);
      return found != dialled_.end() && found->second == address;
    });
  }

  std::atomic<bool> closed{false};

 private:
  transport::SendResult Send(transport::LinkId, ByteView, ByteView) override {
    return transport::SendResult::kGone;
  }
  void Close(transport::LinkId) override {}

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::map<PeerKey, std::string> dialled_;
};

class Watcher final : public Observer {
 public:
  void OnEvaluated(const learner::Score& score, const Progress&, Time) override {
    const std::lock_guard lock(mutex_);
    scores_.push_back(score);
  }
  void OnStage(const Progress& progress) override {
    const std::lock_guard lock(mutex_);
    stages_.push_back(progress.stage);
    changed_.notify_all();
  }
  void OnFinished(const learner::FinalScores& scores, const Progress&) override {
    const std::lock_guard lock(mutex_);
    final_ = scores;
  }

  bool WaitFor(Stage stage) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return !stages_.empty() && stages_.back() == stage; });
  }
  std::vector<learner::Score> scores() {
    const std::lock_guard lock(mutex_);
    return scores_;
  }
  std::optional<learner::FinalScores> final_scores() {
    const std::lock_guard lock(mutex_);
    return final_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<learner::Score> scores_;
  std::vector<Stage> stages_;
  std::optional<learner::FinalScores> final_;
};

inline config::NodeConfig SmallConfig(const test::TemporaryFolder& folder) {
  test::WriteSyntheticSet(folder / "train", {});
  test::WriteSyntheticSet(folder / "test", {.samples = 100, .seed = 2});
  config::NodeConfig config;
  config.node.state_dir = folder / "state";
  config.model.input = {12};
  nn::Dense hidden;
  hidden.units = 8;
  hidden.activation = nn::Activation::kRelu;
  nn::Dense output;
  output.units = 4;
  output.activation = nn::Activation::kLinear;
  config.model.layers = {hidden, output};
  config.data.train.images = folder / "train-images";
  config.data.train.labels = folder / "train-labels";
  config.data.test.emplace();
  config.data.test->images = folder / "test-images";
  config.data.test->labels = folder / "test-labels";
  config.data.cache = folder / "cache";
  config.data.validation_last = 100;
  config.data.batch = 10;
  config.train.settle.rounds = 0;
  return config;
}

inline config::Until Epochs(double epochs) {
  config::Until until;
  until.kind = config::Until::Kind::kEpochs;
  until.epochs = epochs;
  return until;
}

inline DaemonSettings SettingsOf(const config::NodeConfig& config) {
  DaemonSettings settings;
  settings.config = config;
  settings.identity.key.bytes[0] = 1;
  settings.identity.session = SessionId{7};
  settings.software = "covey test";
  return settings;
}

}  // namespace covey::node
