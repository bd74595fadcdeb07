#include "tensor/top_k.h"

#include <algorithm>

#include "covey/base/check.h"

namespace covey::tensor::top_k {
namespace {

constexpr std::size_t kMostRun = 1024;
constexpr std::uint32_t kMagnitudeBits = 0x7fffffff;

std::uint32_t Magnitude(float value) {
  return std::bit_cast<std::uint32_t>(value) & kMagnitudeBits;
}

// The bits of a magnitude are ordered like the magnitude: the k-th largest is found by counting,
// eleven and then twice ten bits at a time.
struct Digit {
  std::uint32_t shift;
  std::uint32_t bits;
};
constexpr std::array<Digit, 3> kDigits = {Digit{20, 11}, Digit{10, 10}, Digit{0, 10}};

struct Threshold {
  std::uint32_t magnitude = 0;  // of the k-th largest element
  std::size_t of_equal = 0;     // how many of exactly that magnitude are among the k
};

Threshold FindThreshold(std::size_t n, std::size_t run, const Source& source) {
  std::array<float, kMostRun> values;
  Threshold threshold;
  std::size_t wanted = Kept(n);
  for (const Digit& digit : kDigits) {
    std::array<std::uint32_t, 2048> counts{};
    const std::uint32_t above = digit.shift + digit.bits;
    for (std::size_t begin = 0; begin < n; begin += run) {
      const std::size_t length = std::min(run, n - begin);
      source(begin, length, values.data());
      for (std::size_t i = 0; i < length; ++i) {
        const std::uint32_t magnitude = Magnitude(values[i]);
        if (magnitude >> above != threshold.magnitude >> above) continue;
        ++counts[magnitude >> digit.shift & ((1U << digit.bits) - 1)];
      }
    }
    std::uint32_t value = (1U << digit.bits) - 1;
    while (counts[value] < wanted) wanted -= counts[value--];
    threshold.magnitude |= value << digit.shift;
  }
  threshold.of_equal = wanted;
  return threshold;
}

}  // namespace

void Write(std::size_t n, std::size_t run, const Source& source, MutableByteView out) {
  COVEY_CHECK(out.size() == Size(n), out.size(), n);
  COVEY_CHECK(run % 64 == 0 && run <= kMostRun, run);
  if (n == 0) return;
  Threshold threshold = FindThreshold(n, run, source);
  auto* words = reinterpret_cast<std::uint64_t*>(out.data());
  auto* to = reinterpret_cast<std::uint16_t*>(words + Words(n));
  std::array<float, kMostRun> values;
  std::array<float, kMostRun> kept;
  for (std::size_t begin = 0; begin < n; begin += run) {
    const std::size_t length = std::min(run, n - begin);
    source(begin, length, values.data());
    std::size_t count = 0;
    for (std::size_t first = 0; first < length; first += 64) {
      std::uint64_t word = 0;
      for (std::size_t i = first; i < std::min(first + 64, length); ++i) {
        const std::uint32_t magnitude = Magnitude(values[i]);
        if (magnitude < threshold.magnitude) continue;
        if (magnitude == threshold.magnitude) {
          if (threshold.of_equal == 0) continue;
          --threshold.of_equal;
        }
        word |= std::uint64_t{1} << (i - first);
        kept[count++] = values[i];
      }
      words[(begin + first) / 64] = word;
    }
    ToFloat16(kept.data(), count, to);
    to += count;
  }
}

bool IsWhole(std::size_t n, ByteView bytes) {
  COVEY_CHECK(bytes.size() == Size(n), bytes.size(), n);
  if (n == 0) return true;
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
  std::size_t marked = 0;
  for (std::size_t w = 0; w < Words(n); ++w) {
    marked += static_cast<std::size_t>(std::popcount(words[w]));
  }
  if (marked != Kept(n)) return false;
  if (n % 64 != 0 && words[Words(n) - 1] >> (n % 64) != 0) return false;
  constexpr std::uint16_t kInfinity16 = 0x7c00;
  const auto* values = reinterpret_cast<const std::uint16_t*>(words + Words(n));
  return GreatestMagnitude(values, Kept(n)) < kInfinity16;
}

}  // namespace covey::tensor::top_k
