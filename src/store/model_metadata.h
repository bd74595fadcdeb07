// What a model file says about its model beside the tensors, as texts by key.
#pragma once

#include <cstddef>
#include <string>

#include "covey/base/result.h"
#include "covey/store/model.h"
#include "covey/store/safetensors.h"

namespace covey::store {

inline constexpr const char* kModelKey = "covey.model";

Metadata MetadataOf(const Model& model);

// Returns: the model without its parameters, of which a file of that size can hold all.
// Errors: as DecodeModel, but for tensors.
Result<Model> FromMetadata(const Metadata& metadata, std::size_t file_bytes,
                           const std::string& where);

}  // namespace covey::store
