// Live samples as protobuf messages.
#pragma once

#include "covey/api/types.h"
#include "covey/v1/api.pb.h"

namespace covey::api {

void Put(const LiveStatus& from, v1::ApiLive* to);
LiveStatus ToLive(const v1::ApiLive& from);
void Put(const Samples& from, v1::ApiPush* to);
Samples ToSamples(const v1::ApiPush& from);
void Put(const Pushed& from, v1::ApiPushed* to);
Pushed ToPushed(const v1::ApiPushed& from);

}  // namespace covey::api
