// float32 values as little-endian bytes, on any machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "covey/base/bytes.h"
#include "covey/tensor/flat_vector.h"

namespace covey::store {

static_assert(sizeof(float) == 4 && std::numeric_limits<float>::is_iec559,
              "files hold IEEE 754 binary32");

// Requires: `to` has room for 4 * values.size() bytes.
inline void StoreFloats(tensor::ConstVectorView values, std::byte* to) {
  if constexpr (std::endian::native == std::endian::little) {
    if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      StoreLittle(to + 4 * i, std::bit_cast<std::uint32_t>(values[i]));
    }
  }
}

// Requires: `from` has 4 * values.size() bytes.
inline void LoadFloats(const std::byte* from, tensor::VectorView values) {
  if constexpr (std::endian::native == std::endian::little) {
    if (!values.empty()) std::memcpy(values.data(), from, values.size_bytes());
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::bit_cast<float>(LoadLittle<std::uint32_t>(from + 4 * i));
    }
  }
}

// Returns: the index of the first value that is infinite or not a number, or values.size().
// Tests bits, so no compiler flag can remove it.
inline std::size_t FirstNotFinite(tensor::ConstVectorView values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((std::bit_cast<std::uint32_t>(values[i]) & kExponent) == kExponent) return i;
  }
  return values.size();
}

}  // namespace covey::store
