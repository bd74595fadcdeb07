#include "covey/control/daemon_questions.h"

#include "control/convert.h"

namespace covey::control {

Result<api::Predictions> DaemonQuestions::Predict(const api::Question& question) {
  return AnswerFrom(daemon_, question);
}

Result<api::Pushed> DaemonQuestions::Push(const api::Samples& samples) {
  return PushTo(daemon_, samples);
}

api::State DaemonQuestions::GetState() { return ToState(daemon_.GetReport().progress.stage); }

}  // namespace covey::control
