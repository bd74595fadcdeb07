// Conversions between float32 and the narrower formats of the codec; dispatched by level in
// narrow.cc. All round to nearest even and give the same bits at every level; none depends on
// whether denormals are flushed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace covey::tensor {

inline constexpr std::size_t kInt8Block = 128;  // elements of one scale

void ToFloat16(const float* x, std::size_t n, std::uint16_t* out);
void FromFloat16(const std::uint16_t* in, std::size_t n, float* x);

void ToBfloat16(const float* x, std::size_t n, std::uint16_t* out);
void FromBfloat16(const std::uint16_t* in, std::size_t n, float* x);

// One block. Returns: its scale, max |x| / 127; NaN or infinite if an element is.
// Requires: n <= kInt8Block.
float ToInt8(const float* x, std::size_t n, std::int8_t* out);
void FromInt8(const std::int8_t* in, float scale, std::size_t n, float* x);

// d <- gamma (q - x). x <- x + d.
void Difference(const float* q, float gamma, const float* x, std::size_t n, float* d);
void Add(const float* d, std::size_t n, float* x);

// Returns: the greatest of the n values without their upper bit.
std::uint16_t GreatestMagnitude(const std::uint16_t* in, std::size_t n);

}  // namespace covey::tensor
