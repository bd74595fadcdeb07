// How much of one processor's time training may take.
//
// Equation: after a batch that began at b and took c of a processor the next one is due at
//   d <- max(d, b - credit) + c / limit,
// so that the mean of what training takes is the limit, whatever interrupts it, and a thread that
// woke late or answered peers may catch up for no longer than `credit`.
// Thread: none.  Determinism: a function of the calls.
#pragma once

#include <algorithm>
#include <chrono>

#include "covey/base/time.h"

namespace covey::node {

class DutyCycle {
 public:
  static constexpr Duration kCredit = std::chrono::milliseconds(5);

  // limit: (0, 1]; 1: none.
  explicit DutyCycle(double limit) : limit_(limit) {}

  bool limited() const { return limit_ < 1; }
  void Ran(Time begin, Duration processor) {
    due_ = std::max(due_, begin - kCredit) + FromSeconds(Seconds(processor) / limit_);
  }
  // When the next batch may begin.
  Time due() const { return due_; }

 private:
  double limit_;
  Time due_{};
};

}  // namespace covey::node
