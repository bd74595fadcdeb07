// Questions and predictions <-> protobuf.
#pragma once

#include <covey/v1/api.pb.h>

#include "covey/api/types.h"

namespace covey::api {

void Put(const Question& from, v1::ApiPredict* to);
Question ToQuestion(const v1::ApiPredict& from);
void Put(const InputForm& from, v1::ApiInput* to);
InputForm ToInputForm(const v1::ApiInput& from);
void Put(const Predictions& from, v1::ApiPrediction* to);
Predictions ToPredictions(const v1::ApiPrediction& from);

}  // namespace covey::api
