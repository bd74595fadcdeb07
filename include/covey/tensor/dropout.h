// Inverted dropout, its mask computed where it is used, forward and backward alike.
//
// Equation: out[i] = in[i] / (1 - rate) where u(i) >= rate, else 0; u(i) uniform on [0, 1) in steps
// of 2^-24, a hash of the element's number under two keys that (seed, layer, step) give.
// Thread: free functions, safe at once on disjoint outputs.  Cost: no allocation, no memory.
// Determinism: the same bits at every level and for any partition of the elements: u depends on the
// keys and the element's number alone.
// Source: Srivastava et al. 2014; the hash is the 32-bit finaliser "lowbias32" of C. Wellons'
// hash-prospector, twice.
#pragma once

#include <cstddef>
#include <cstdint>

namespace covey::tensor {

struct DropoutMask {
  float rate = 0;  // 0 <= rate < 1
  std::uint32_t keys[2] = {};
};

// Returns: the mask of one dropout layer for one mini-batch.
// layer: tells layers of one network apart.
DropoutMask MaskOf(float rate, std::uint64_t seed, std::uint32_t layer, std::uint64_t step);

// Elements that lie in memory as rows; the element in row r and column c has the number
// first + r * row_step + c * column_step (modulo 2^32).
struct DropoutGrid {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;  // floats between rows
  std::uint32_t first = 0;
  std::uint32_t row_step = 0;
  std::uint32_t column_step = 1;
};

// in may be out.
void ApplyDropout(const DropoutMask& mask, const DropoutGrid& grid, const float* in, float* out);

}  // namespace covey::tensor
