// Serves the local API from a daemon: status, commands, events.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "covey/api/server.h"
#include "covey/base/result.h"
#include "covey/node/daemon.h"
#include "covey/node/report.h"

namespace covey::control {

// What a daemon does not know about itself.
struct Identity {
  std::string name;
  std::string key;  // 64 hex digits
  std::string fleet;
};

// Thread: one of its own, from Serve to Stop; the Observer's methods come from the daemon's
// threads.
class LocalApi final : public node::Observer, private api::Handler {
 public:
  // Binds `path`. Errors: as api::Server::Open.
  static Result<std::unique_ptr<LocalApi>> Open(const std::string& path, Identity identity);
  ~LocalApi() override;

  // Requires: once; `daemon` is started and outlives Stop. Requests that came before are answered
  // now.
  void Serve(node::Daemon& daemon);
  // Sends the events that wait, then ends.
  void Stop();

  const std::string& endpoint() const { return server_.endpoint(); }

  void OnEvaluated(const learner::Score& score, const node::Progress& progress, Time now) override;
  void OnStage(const node::Progress& progress) override;
  void OnFinished(const learner::FinalScores& scores, const node::Progress& progress) override;

 private:
  LocalApi(api::Server server, Identity identity);

  api::NodeStatus GetStatus() override;
  Result<void> Do(api::Command command) override;
  Result<void> Ping(const std::string& peer) override;
  Result<void> TakeRecord(const std::string& record) override;
  Result<api::Predictions> Predict(const api::Question& question) override;
  api::InputForm GetInputForm() override;
  Result<api::Pushed> Push(const api::Samples& samples) override;

  api::Server server_;
  const Identity identity_;
  std::atomic<node::Daemon*> daemon_{nullptr};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace covey::control
