// Reads the ONNX files that Covey writes.
#pragma once

#include <string>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/store/model.h"

namespace covey::store {

// The architecture comes from the metadata, the parameters from the initialisers; nodes are not
// looked at.
// Errors: as DecodeModel.
Result<Model> DecodeModelOnnx(ByteView bytes, const std::string& where);

}  // namespace covey::store
