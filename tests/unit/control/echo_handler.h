// A handler without a model.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "covey/control/http_routes.h"

namespace covey::test {

// One answer for every two numbers; it names their count, and has the greatest for probability.
class EchoHandler final : public control::HttpHandler {
 public:
  Result<api::Predictions> Predict(const api::Question& question) override {
    ++asked;
    top = question.top;
    asked_last = question;
    if (fails) return Fail(*fails, "echo", "was told to");
    api::Predictions predictions;
    for (std::size_t i = 0; i + 2 <= std::max<std::size_t>(question.values.size(), 2); i += 2) {
      api::Answer answer;
      const float second = question.values.size() > 1 ? question.values[i + 1] : 0;
      answer.classes.push_back(
          api::RankedClass{0, "2 numbers", std::max(question.values[i], second)});
      predictions.answers.push_back(answer);
    }
    return predictions;
  }
  const data::InputForm& GetInputForm() override { return form; }
  // Takes all but samples that begin with 0.
  Result<api::Pushed> Push(const api::Samples& samples) override {
    if (fails) return Fail(*fails, "echo", "was told to");
    pushed = samples;
    if (samples.values[0] == 0) return api::Pushed{0, 1, "is 0"};
    return api::Pushed{1, 0, ""};
  }
  api::State GetState() override { return state; }

  data::InputForm form;
  std::optional<ErrorCode> fails;
  api::State state = api::State::kTraining;
  std::uint32_t top = 0;
  int asked = 0;
  api::Question asked_last;
  api::Samples pushed;
};

}  // namespace covey::test
