// A server with a daemon that answers without a model.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "covey/api/client.h"
#include "covey/api/server.h"

namespace covey::api::test {

using namespace std::chrono_literals;

class FakeDaemon : public Handler {
 public:
  NodeStatus GetStatus() override {
    NodeStatus status;
    status.name = "fake";
    status.paused = paused_;
    status.endpoints.resize(endpoints);
    for (std::string& endpoint : status.endpoints) endpoint.assign(200, 'x');
    return status;
  }
  Result<void> Do(Command command) override {
    if (command == Command::kLeave) return Fail(ErrorCode::kTemporary, "fake", "not now");
    paused_ = command == Command::kPause;
    return {};
  }
  // Answers by the sum of the numbers, as often as there are numbers.
  Result<Predictions> Predict(const Question& question) override {
    if (question.values.empty()) return Fail(ErrorCode::kData, "fake", "nothing to answer");
    Predictions predictions;
    predictions.version = 7;
    const float sum = std::accumulate(question.values.begin(), question.values.end(), 0.0f);
    for (std::size_t i = 0; i < question.values.size() && i < 40'000; ++i) {
      Answer answer;
      answer.classes.assign(question.top, RankedClass{1, "label", sum});
      predictions.answers.push_back(answer);
    }
    return predictions;
  }
  InputForm GetInputForm() override { return {{3, 2}, {"a", "b"}, true}; }
  Result<Pushed> Push(const Samples& samples) override {
    if (samples.table == "wrong") return Fail(ErrorCode::kData, "fake", "no such columns");
    return Pushed{samples.classes.size(), samples.targets.size(), samples.table};
  }
  Result<void> TakeRecord(const std::string& record) override {
    if (record != std::string("\0signed", 7)) return Fail(ErrorCode::kData, "fake", "forged");
    return {};
  }
  std::atomic<std::size_t> endpoints{0};

 private:
  std::atomic<bool> paused_{false};
};

class ApiServer : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/covey-api-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    path_ = folder_ + "/s/api.sock";
  }
  void TearDown() override {
    Stop();
    for (const char* name : {"/s/api.sock", "/s/api.sock.lock"}) ::unlink((folder_ + name).c_str());
    ::rmdir((folder_ + "/s").c_str());
    ::rmdir(folder_.c_str());
  }

  void Serve() {
    auto server = Server::Open(path_);
    ASSERT_TRUE(server.has_value()) << server.error().Format();
    server_.emplace(std::move(*server));
    thread_ = std::thread([this] {
      while (!stop_) server_->Poll(daemon_, 10s);
      server_->Poll(daemon_, 0s);  // what was published before it was told to stop
    });
  }
  void Stop() {
    EndThread();
    server_.reset();
  }
  void EndThread() {
    if (!thread_.joinable()) return;
    stop_ = true;
    server_->Wake();
    thread_.join();
    stop_ = false;
  }
  Client Connected() {
    auto client = Client::Connect(path_, 20s);
    EXPECT_TRUE(client.has_value()) << client.error().Format();
    return std::move(*client);
  }
  static int Mode(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 0777) : -1;
  }

  std::string folder_;
  std::string path_;
  FakeDaemon daemon_;
  std::optional<Server> server_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
};

}  // namespace covey::api::test
