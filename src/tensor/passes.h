// Passes over raw floats that the float32 codec is made of; dispatched by level in kernels.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace covey::tensor {

inline constexpr std::int32_t kTwoTo64Bits = 0x5f800000;  // 2^64 as binary32

// d <- gamma (q - x); x <- x + d.
void PullFloats(const float* q, float gamma, std::size_t n, float* x, float* d);
// x <- x - d.
void SubtractFloats(const float* d, std::size_t n, float* x);
// Whether every |x| < 2^64.
bool BoundedFloats(const float* x, std::size_t n);

}  // namespace covey::tensor
