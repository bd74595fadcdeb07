// The questions of HTTP, answered by a daemon.
#pragma once

#include "covey/control/http_routes.h"
#include "covey/node/daemon.h"

namespace covey::control {

class DaemonQuestions final : public HttpHandler {
 public:
  // Requires: the daemon is started, and outlives the object's use.
  explicit DaemonQuestions(node::Daemon& daemon) : daemon_(daemon) {}

  Result<api::Predictions> Predict(const api::Question& question) override;
  const data::InputForm& GetInputForm() override { return daemon_.input_form(); }
  Result<api::Pushed> Push(const api::Samples& samples) override;
  api::State GetState() override;

 private:
  node::Daemon& daemon_;
};

}  // namespace covey::control
