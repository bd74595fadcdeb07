// How many mini-batches a round has where that follows the data: nodes whose data pull them apart
// exchange more often, nodes that only differ by chance save messages.
//
// Equation: u = q - x for each model q of a peer as it arrives, over up to kSampled coordinates,
//   evenly spaced. After kWindow of them
//     p = || mean u ||^2 / mean || u ||^2
//     p > kApart:  N <- max(N / 2, least)
//     p < kAlike:  N <- min(2 N, most)
// With x_i = mean(x) + e_i and independent e_j of peers, p is || mean e_i ||^2 over
// (|| e_i ||^2 + || e_j ||^2): 1/2 where e_i is always the same, what is peculiar to the node's
// data; near 0 where it changes within the window, which is the noise of mini-batches.
// Source: docs/consensus.md, 9; for why a distance does no harm while it is small against noise,
// Kong et al. 2021, "Consensus Control for Decentralized Deep Learning", 3.
// Cost: a pass over kSampled coordinates a message. Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "covey/tensor/flat_vector.h"

namespace covey::consensus {

class AdaptiveRound {
 public:
  static constexpr std::size_t kSampled = 1024;
  static constexpr std::uint32_t kWindow = 64;
  static constexpr double kApart = 0.25;
  static constexpr double kAlike = 0.15;

  // least: N at the start. most: 0, or at most `least`: N stays.
  AdaptiveRound(std::uint32_t least, std::uint32_t most)
      : least_(least), most_(most), batches_(least) {}

  std::uint32_t batches() const { return batches_; }  // N of the next round

  // Around the move of x by `share` of u.
  void BeginPull(tensor::ConstVectorView x);
  void EndPull(tensor::ConstVectorView x, double share);

 private:
  bool fixed() const { return most_ <= least_; }
  void Judge();

  std::uint32_t least_;
  std::uint32_t most_;
  std::uint32_t batches_;
  std::vector<float> before_;  // x before the pull, sampled
  std::vector<double> sum_;    // of u
  double squares_ = 0;         // sum of || u ||^2
  std::uint32_t models_ = 0;   // in the sums
};

}  // namespace covey::consensus
