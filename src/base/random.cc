#include "covey/base/random.h"

#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "covey/base/check.h"

namespace covey {

Stream::Stream(std::uint64_t seed, std::uint32_t node, Purpose purpose)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      stream_{node, static_cast<std::uint32_t>(purpose)} {}

std::uint32_t Stream::Next32() {
  const std::size_t lane = position_ % 4;
  if (lane == 0) {
    const std::uint64_t counter = position_ / 4;
    block_ = internal::Philox({static_cast<std::uint32_t>(counter),
                               static_cast<std::uint32_t>(counter >> 32), stream_[0], stream_[1]},
                              key_);
  }
  ++position_;
  return block_[lane];
}

void Stream::Seek(std::uint64_t position) {
  position_ = position - position % 4;
  while (position_ < position) Next32();
}

std::uint64_t Stream::Next64() {
  const std::uint64_t low = Next32();
  return low | (std::uint64_t{Next32()} << 32);
}

double Stream::Uniform() { return static_cast<double>(Next64() >> 11) * 0x1.0p-53; }

float Stream::Uniform(float low, float high) {
  const float unit = static_cast<float>(Next32() >> 8) * 0x1.0p-24f;
  return low + (high - low) * unit;
}

std::uint64_t Stream::Below(std::uint64_t n) {
  COVEY_CHECK(n > 0, n);
  // 2^64 mod n: below it a residue would be drawn once too often.
  const std::uint64_t limit = (0 - n) % n;
  for (;;) {
    const std::uint64_t draw = Next64();
    if (draw >= limit) return draw % n;
  }
}

double Stream::Normal() {
  const double u = 1.0 - Uniform();  // (0, 1]
  const double v = Uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

double Stream::Gamma(double shape) {
  COVEY_CHECK(shape > 0, shape);
  if (shape < 1) return Gamma(shape + 1) * std::pow(1.0 - Uniform(), 1.0 / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = Normal();
    const double t = 1.0 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    if (std::log(1.0 - Uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace covey
