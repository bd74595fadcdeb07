// The block function of the random streams; apart so that tests can hold it against published
// vectors.
#pragma once

#include <array>
#include <cstdint>

namespace covey::internal {

// Philox4x32-10. Source: Salmon, Moraes, Dror, Shaw, SC'11, section 3.3, constants of table 2.
inline std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 4> c,
                                           std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

}  // namespace covey::internal
