// Members <-> protobuf.
#pragma once

#include <covey/v1/api.pb.h>

#include "covey/api/types.h"

namespace covey::api {

// The members, and the operator's word on them.
void PutMembers(const NodeStatus& from, v1::ApiStatus* to);
void TakeMembers(const v1::ApiStatus& from, NodeStatus& to);

}  // namespace covey::api
