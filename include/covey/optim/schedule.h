// The learning rate as a function of the step counter.
//
// Equation, t the number of a step from 1, w = warmup, s = t - w:
//   t <= w:    factor = t / w                                            (linear)
//   constant:  factor = 1
//   step:      factor = drop^floor((s - 1) / every)
//   cosine:    factor = floor + (1 - floor) (1 + cos(pi min(s - 1, length) / length)) / 2
// The learning rate of a step is learning_rate * factor.
//
// Determinism: additions, multiplications and divisions in double only: the same bits everywhere.
// Source: Loshchilov & Hutter 2017, "SGDR", equation 5, without restarts; Goyal et al. 2017,
// section 2.2, for the warm-up.
#pragma once

#include <cstdint>
#include <string_view>

#include "covey/base/result.h"

namespace covey::optim {

struct Schedule {
  enum class Kind : std::uint8_t { kConstant, kStep, kCosine };
  Kind kind = Kind::kConstant;
  std::uint64_t warmup = 0;  // steps of warm-up, before any of them
  std::uint64_t every = 0;   // step: steps between two drops
  float drop = 0.1f;         // step: factor of a drop, (0, 1]
  std::uint64_t length = 0;  // cosine: steps from the end of the warm-up to the floor
  float floor = 0;           // cosine: the last factor, [0, 1)

  bool operator==(const Schedule&) const = default;
};

std::string_view Name(Schedule::Kind kind);  // "constant", "step", "cosine"

// Errors: kConfig; names the field ("train.schedule.every"), what was got and what is wanted.
Status Validate(const Schedule& schedule);

// Returns: the factor of step t. Requires: a valid schedule; t >= 1.
double FactorAt(const Schedule& schedule, std::uint64_t t);

// base^exponent by repeated squaring: the C library's pow differs from one machine to the next.
double Power(double base, std::uint64_t exponent);

}  // namespace covey::optim
