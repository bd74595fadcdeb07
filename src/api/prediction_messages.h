// Predictions <-> protobuf.
#pragma once

#include <covey/v1/api.pb.h>

#include "covey/api/types.h"

namespace covey::api {

void Put(const Predictions& from, v1::ApiPrediction* to);
Predictions ToPredictions(const v1::ApiPrediction& from);

}  // namespace covey::api
