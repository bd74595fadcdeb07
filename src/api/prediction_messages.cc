#include "api/prediction_messages.h"

#include <utility>

namespace covey::api {

void Put(const Question& from, v1::ApiPredict* to) {
  to->mutable_values()->Add(from.values.begin(), from.values.end());
  to->set_top(from.top);
}

Question ToQuestion(const v1::ApiPredict& from) {
  return {{from.values().begin(), from.values().end()}, from.top()};
}

void Put(const InputForm& from, v1::ApiInput* to) {
  to->mutable_shape()->Add(from.shape.begin(), from.shape.end());
  to->mutable_features()->Add(from.features.begin(), from.features.end());
  to->set_resize_images(from.resize_images);
}

InputForm ToInputForm(const v1::ApiInput& from) {
  return {{from.shape().begin(), from.shape().end()},
          {from.features().begin(), from.features().end()},
          from.resize_images()};
}

void Put(const Predictions& from, v1::ApiPrediction* to) {
  to->set_version(from.version);
  to->set_batches(from.batches);
  for (const Answer& answer : from.answers) {
    v1::ApiAnswer* one = to->add_answers();
    for (const RankedClass& ranked : answer.classes) {
      v1::ApiClass* put = one->add_classes();
      put->set_index(ranked.index);
      put->set_label(ranked.label);
      put->set_probability(ranked.probability);
    }
    one->mutable_values()->Add(answer.values.begin(), answer.values.end());
  }
}

Predictions ToPredictions(const v1::ApiPrediction& from) {
  Predictions to;
  to.version = from.version();
  to.batches = from.batches();
  for (const v1::ApiAnswer& one : from.answers()) {
    Answer answer;
    for (const v1::ApiClass& ranked : one.classes()) {
      answer.classes.push_back(RankedClass{ranked.index(), ranked.label(), ranked.probability()});
    }
    answer.values.assign(one.values().begin(), one.values().end());
    to.answers.push_back(std::move(answer));
  }
  return to;
}

}  // namespace covey::api
