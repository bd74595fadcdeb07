// The encoding top_k: a mask of one bit an element (little-endian words of 64; bits beyond n are
// zero), then the values of the marked elements in order, as binary16.
//
// Which elements: the k of greatest magnitude; of equal ones those that come first.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "covey/base/bytes.h"
#include "tensor/narrow.h"

namespace covey::tensor::top_k {

inline constexpr std::size_t kShare = 10;  // one element of so many

constexpr std::size_t Kept(std::size_t n) { return (n + kShare - 1) / kShare; }
constexpr std::size_t Words(std::size_t n) { return (n + 63) / 64; }
constexpr std::size_t Size(std::size_t n) {
  return Words(n) * sizeof(std::uint64_t) + Kept(n) * sizeof(std::uint16_t);
}

// Writes elements begin .. begin + n of the vector to `out`. Called several times for each run, and
// must give the same values each time.
using Source = std::function<void(std::size_t begin, std::size_t n, float* out)>;

// Requires: out.size() == Size(n), aligned for words; run is a multiple of 64 and at most 1024.
// Cost: four passes over the source; no memory beyond a few KiB of stack.
void Write(std::size_t n, std::size_t run, const Source& source, MutableByteView out);

// Returns: whether exactly Kept(n) bits are set, none beyond n, and every value is finite.
// Requires: bytes.size() == Size(n).
bool IsWhole(std::size_t n, ByteView bytes);

// Calls function(index, value) for every marked element in order.
// Requires: IsWhole(n, bytes), or bytes written by Write.
template <typename Function>
void ForEach(std::size_t n, ByteView bytes, const Function& function) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
  const auto* values = reinterpret_cast<const std::uint16_t*>(words + Words(n));
  std::array<float, 64> decoded;
  for (std::size_t w = 0; w < Words(n); ++w) {
    std::uint64_t word = words[w];
    const auto marked = static_cast<std::size_t>(std::popcount(word));
    if (marked == 0) continue;
    FromFloat16(values, marked, decoded.data());
    values += marked;
    for (std::size_t k = 0; k < marked; ++k, word &= word - 1) {
      function(64 * w + static_cast<std::size_t>(std::countr_zero(word)), decoded[k]);
    }
  }
}

}  // namespace covey::tensor::top_k
