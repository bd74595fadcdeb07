// Arithmetic on the shapes of samples.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "covey/nn/model.h"

namespace covey::nn {

using Shape = std::vector<std::size_t>;

// Returns: a * b, or kMaxParameters + 1 when that is smaller.
inline std::size_t Capped(std::size_t a, std::size_t b) {
  if (a != 0 && b > kMaxParameters / a) return kMaxParameters + 1;
  return a * b;
}

// Returns: the product of the extents, capped like Capped.
inline std::size_t Volume(const Shape& shape) {
  std::size_t volume = 1;
  for (const std::size_t extent : shape) volume = Capped(volume, extent);
  return volume;
}

// Returns: "[28, 28]".
std::string Print(const Shape& shape);

// Returns: "3 3".
std::string Print(const Extent& extent);

// Returns: the shortest text that reads back as the same number.
std::string Print(float value);

// Windows of `size` at `stride` along an extent of n, and the zeros before the first of them.
struct Windows {
  std::size_t count = 0;
  std::size_t before = 0;
};
// Requires: n, size, stride > 0; for kValid size <= n.
Windows WindowsOf(std::size_t n, std::size_t size, std::size_t stride, Padding padding);

// The stride of a pool, where 0 stands for its size.
inline Extent StrideOf(const Pool2d& pool) {
  return {pool.stride.height != 0 ? pool.stride.height : pool.size.height,
          pool.stride.width != 0 ? pool.stride.width : pool.size.width};
}

}  // namespace covey::nn
