// The safetensors reader: what it takes, it can write, and reads the same.
#include <cstdint>
#include <cstring>

#include "covey/base/check.h"
#include "covey/store/safetensors.h"

namespace {}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const covey::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto tensors = covey::store::DecodeSafetensors(bytes, "fuzz");
  if (!tensors) {
    COVEY_CHECK(tensors.error().code == covey::ErrorCode::kData);
    return 0;
  }
  COVEY_CHECK(tensors->values.size() * sizeof(float) <= size);
  const covey::AlignedBuffer again =
      covey::store::EncodeSafetensors(tensors->layout, tensors->values.view(), tensors->metadata);
  const auto second = covey::store::DecodeSafetensors(again.view(), "fuzz");
  COVEY_CHECK(second.has_value() && second->layout.Describe() == tensors->layout.Describe() &&
              second->metadata == tensors->metadata);
  return 0;
}
