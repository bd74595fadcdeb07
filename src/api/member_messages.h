// Members <-> protobuf.
#pragma once

#include <covey/v1/api.pb.h>

#include "covey/api/types.h"

namespace covey::api {

void Put(const Member& from, v1::ApiMember* to);
Member ToMember(const v1::ApiMember& from);

}  // namespace covey::api
