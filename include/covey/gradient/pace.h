// One thread or all: measured while training, because nothing else knows what pays on this machine
// with these neighbours.
//
// Time is counted in steps only, so pauses between them don't matter. In turn:
//   probe:  kProbe on one thread and kProbe on all, after one step each that is not counted
//   keep:   the faster (all threads must gain 5 %: they take a processor from others) for kKeep,
//           or 12 times as long as the probe took where steps are long; shorter, when its rate
//           falls by a fifth against the probe: a neighbour has come.
// Probes cost at most a twelfth of the difference between both, while a neighbour that makes
// threads wait for each other costs half of a training run and more.
// Thread: none; the caller serialises.
// Determinism: the choice depends on time; what is computed does not (tensor/tasks.h).
#pragma once

#include <cstdint>

#include "covey/base/time.h"
#include "covey/gradient/workers.h"

namespace covey::gradient {

class Pace {
 public:
  static constexpr Duration kProbe = std::chrono::milliseconds(10);
  static constexpr Duration kKeep = std::chrono::milliseconds(250);

  // What the next step runs on.
  Workers::Use use() const { return use_; }

  // After a step on use(): it took so long for so many samples. Requires: took >= 0.
  void Stepped(Duration took, std::uint64_t samples);

  // Samples in a second of the last probe; 0 before the first.
  double rate(Workers::Use use) const { return rates_[Index(use)]; }

 private:
  static constexpr std::size_t Index(Workers::Use use) { return use == Workers::Use::kAll ? 1 : 0; }
  void Start(Workers::Use use);
  void EndProbe(double rate);

  Workers::Use use_ = Workers::Use::kOne;
  bool probing_ = true;
  bool first_ = true;    // the next step is the first on use_
  int probes_left_ = 2;  // of this round
  Duration took_{0};     // of the present window
  std::uint64_t samples_ = 0;
  std::uint64_t steps_ = 0;
  Duration probed_{0};     // by the present or last probe
  Duration kept_{0};       // since it
  Duration keep_ = kKeep;  // until the next
  double rates_[2] = {0, 0};
};

}  // namespace covey::gradient
