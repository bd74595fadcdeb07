// Counter-based random streams, keyed by (seed, node, purpose).
//
// Equation: block i of a stream = Philox4x32-10(key = (seed, node, purpose), counter = i).
// Determinism: the same key and position give the same numbers on every machine;
// std::*_distribution is implementation-defined and therefore not used anywhere in Covey.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11,
// section 3.2.
// Where we differ: node and purpose take the upper half of the counter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace covey {

// What a stream is for. Values are part of the format: reproducing an old run needs them unchanged.
enum class Purpose : std::uint32_t {
  kInit = 1,       // initial parameters
  kSampler = 2,    // order of the samples
  kPeers = 3,      // choice of peers
  kFaults = 4,     // injected faults
  kPartition = 5,  // who gets which sample
  kNetwork = 6,    // simulated links
  kSpeed = 7,      // simulated speed of nodes
  kSwarm = 8,      // drawn faults of swarm tests
  kTest = 9,
  kSession = 10,     // session and exchange ids in the simulator
  kDropout = 11,     // masks of dropout layers
  kReservoir = 12,   // which samples of a live shard stay
  kMembership = 13,  // choice of links
};

class Stream {
 public:
  Stream(std::uint64_t seed, std::uint32_t node, Purpose purpose);

  std::uint32_t Next32();
  std::uint64_t Next64();
  double Uniform();                      // [0, 1), 53 bits
  float Uniform(float low, float high);  // [low, high)
  std::uint64_t Below(std::uint64_t n);  // [0, n), unbiased; requires n > 0
  double Normal();                       // mean 0, variance 1 (Box-Muller)
  double Gamma(double shape);            // scale 1 (Marsaglia & Tsang 2000); requires shape > 0
  bool Chance(double probability) { return Uniform() < probability; }

  template <class T>
  void Shuffle(std::span<T> items) {  // Fisher-Yates
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(Below(i))]);
    }
  }

  // How many 32-bit numbers were taken: saved in checkpoints, restored with Seek.
  std::uint64_t position() const { return position_; }
  void Seek(std::uint64_t position);

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 2> stream_;
  std::array<std::uint32_t, 4> block_{};
  std::uint64_t position_ = 0;
};

}  // namespace covey
