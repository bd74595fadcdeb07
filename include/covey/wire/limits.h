// What one frame between peers may hold. Checked before anything is parsed or allocated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace covey::wire {

inline constexpr std::size_t kEnvelopeSize = 64;
inline constexpr std::size_t kMaxBody = 256 * 1024;  // of any frame
inline constexpr std::size_t kMaxFrame = kEnvelopeSize + kMaxBody;

// Longest structured body (hello, begin, nack). A real one has at most 1300 bytes; the rest is room
// for fields of later versions. Small, because a parser may allocate a multiple of what it is
// given.
inline constexpr std::size_t kMaxStructuredBody = 4096;

// Texts of a peer, in bytes: longer ones are cut by their receiver.
inline constexpr std::size_t kMaxText = 240;
inline constexpr std::size_t kMaxSoftware = 64;

// The smallest chunk and credit that a peer may announce: below, a model would never arrive.
inline constexpr std::uint32_t kMinChunk = 1024;
inline constexpr std::uint32_t kMinCredit = 1;
inline constexpr std::uint32_t kMaxCredit = 1u << 20;

// Protocol versions that this build speaks.
inline constexpr std::uint32_t kProtocolMin = 1;
inline constexpr std::uint32_t kProtocolMax = 1;

}  // namespace covey::wire
