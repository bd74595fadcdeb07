// Parts of x that travel alone: smaller messages where a link is bad.
//
// Equation: x of n elements has B = ceil(n / 16) blocks; segment i of S holds the blocks
//   [i B / S, (i+1) B / S), rounded down, the last one what is left of x. An exchange of a segment
//   is Algorithm 1 on it: the sum over the nodes is kept element by element.
// Source: Hu, Jiang & Wang 2019, "Decentralized Federated Learning: A Segmented Gossip Approach";
//   Hegedus, Danner & Jelasity 2019 for gossip learning.
#pragma once

#include <cstddef>
#include <cstdint>

namespace covey::consensus {

inline constexpr std::uint32_t kMaxSegments = 256;
inline constexpr std::size_t kSegmentBlock = 16;  // floats: views stay aligned to 64 bytes

struct Segment {
  std::uint32_t index = 0;  // below count
  std::uint32_t count = 1;  // 1: the whole x

  bool operator==(const Segment&) const = default;
};

struct SegmentRange {
  std::size_t begin = 0;  // a multiple of kSegmentBlock
  std::size_t size = 0;   // elements, at least 1
};

// Returns: the largest S for a vector of n elements.
constexpr std::size_t MostSegments(std::size_t n) {
  const std::size_t blocks = (n + kSegmentBlock - 1) / kSegmentBlock;
  return blocks < kMaxSegments ? blocks : kMaxSegments;
}

constexpr bool IsSegmentOf(Segment segment, std::size_t n) {
  return segment.index < segment.count && (segment.count == 1 || segment.count <= MostSegments(n));
}

// Requires: IsSegmentOf(segment, n).
constexpr SegmentRange RangeOf(Segment segment, std::size_t n) {
  const std::size_t blocks = (n + kSegmentBlock - 1) / kSegmentBlock;
  const auto edge = [&](std::size_t i) {
    const std::size_t at = i * blocks / segment.count * kSegmentBlock;
    return at < n ? at : n;
  };
  return {edge(segment.index), edge(segment.index + std::size_t{1}) - edge(segment.index)};
}

}  // namespace covey::consensus
