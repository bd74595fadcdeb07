#include <array>
#include <cstdint>

#include "covey/base/bytes.h"

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace covey {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;

using ByteTable = std::array<std::uint32_t, 256>;

// The register after one more byte, for a register that only holds that byte.
constexpr ByteTable kByByte = [] {
  ByteTable table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    table[i] = value;
  }
  return table;
}();

constexpr std::uint32_t AfterByte(std::uint32_t state, std::uint8_t byte) {
  return kByByte[(state ^ byte) & 0xff] ^ (state >> 8);
}

// A register after `count` zero bytes is linear in the register: the sum over its four bytes.
using Shift = std::array<ByteTable, 4>;

constexpr Shift ShiftBy(std::size_t count) {
  std::array<std::uint32_t, 32> of_bit{};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint32_t state = std::uint32_t{1} << bit;
    for (std::size_t i = 0; i < count; ++i) state = AfterByte(state, 0);
    of_bit[bit] = state;
  }
  Shift shift{};
  for (std::size_t byte = 0; byte < 4; ++byte) {
    for (std::size_t value = 0; value < 256; ++value) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((value >> bit & 1) != 0) shift[byte][value] ^= of_bit[8 * byte + bit];
      }
    }
  }
  return shift;
}

constexpr std::uint32_t Apply(const Shift& shift, std::uint32_t state) {
  return shift[0][state & 0xff] ^ shift[1][state >> 8 & 0xff] ^ shift[2][state >> 16 & 0xff] ^
         shift[3][state >> 24];
}

std::uint8_t Byte(std::byte byte) { return std::to_integer<std::uint8_t>(byte); }

}  // namespace

#if defined(__SSE4_2__)

// The instruction takes three cycles, and one can begin in each: three lanes run side by side and
// are joined at their ends.
std::uint32_t Crc32c(ByteView bytes, std::uint32_t crc) {
  constexpr std::size_t kLane = 1024;
  static constexpr Shift kShift = ShiftBy(kLane);
  std::uint64_t state = ~crc;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  const auto word = [&at](std::size_t offset) { return LoadLittle<std::uint64_t>(at + offset); };
  for (; left >= 3 * kLane; at += 3 * kLane, left -= 3 * kLane) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLane; i += 8) {
      state = _mm_crc32_u64(state, word(i));
      second = _mm_crc32_u64(second, word(i + kLane));
      third = _mm_crc32_u64(third, word(i + 2 * kLane));
    }
    const auto joined = Apply(kShift, static_cast<std::uint32_t>(state)) ^ second;
    state = Apply(kShift, static_cast<std::uint32_t>(joined)) ^ third;
  }
  for (; left >= 8; at += 8, left -= 8) state = _mm_crc32_u64(state, word(0));
  auto narrow = static_cast<std::uint32_t>(state);
  for (; left > 0; ++at, --left) narrow = _mm_crc32_u8(narrow, Byte(*at));
  return ~narrow;
}

#else

// Eight bytes at a time: each looks up what it is worth behind those that follow it.
std::uint32_t Crc32c(ByteView bytes, std::uint32_t crc) {
  static constexpr Shift kFour = ShiftBy(4);
  static constexpr Shift kEight = ShiftBy(8);
  std::uint32_t state = ~crc;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    const auto word = LoadLittle<std::uint64_t>(at);
    state = Apply(kEight, state ^ static_cast<std::uint32_t>(word)) ^
            Apply(kFour, static_cast<std::uint32_t>(word >> 32));
  }
  for (; left > 0; ++at, --left) state = AfterByte(state, Byte(*at));
  return ~state;
}

#endif

}  // namespace covey
