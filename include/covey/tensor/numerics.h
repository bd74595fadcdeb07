// How kernels round: as fast as the CPU level allows, or to the same bits everywhere.
//
// Determinism:
//   kFast:     same build, same level: same bits. Multiplications and additions are fused where the
//              level can, sums are split over lanes.
//   kPortable: same bits on every level, on arm64 and in WebAssembly. No fused multiply-add; every
//              sum has one order that doesn't depend on the width of a vector; exp and tanh are
//              made of additions, multiplications and divisions only.
#pragma once

#include <cstdint>
#include <string_view>

namespace covey::tensor {

enum class Numerics : std::uint8_t { kFast, kPortable };

// Returns: the word of configuration files, "fast" or "portable".
constexpr std::string_view Name(Numerics numerics) {
  return numerics == Numerics::kPortable ? "portable" : "fast";
}

}  // namespace covey::tensor
