// Which node's frames reach which other node at the present time: partitions, and radios of limited
// range on moving nodes.
//
// Equation (movement): every node goes in a straight line at `velocity` to a goal drawn evenly from
//   the square, then to the next one. Positions hold for a step of the clock (step()).
// Determinism: a function of the settings, the seed and the times of MoveTo.
// Source: the random waypoint model of Johnson & Maltz, "Dynamic Source Routing in Ad Hoc Wireless
// Networks", 1996. Where we differ: no rest at a goal.
#pragma once

#include <cstdint>
#include <vector>

#include "covey/base/random.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/config/fault_settings.h"

namespace covey::simulate {

class Paths {
 public:
  // Errors: kConfig when a partition's groups are no groups of `nodes` nodes.
  static Result<Paths> Make(const config::FaultSettings& faults, std::uint64_t seed,
                            std::uint32_t nodes);

  // Whether frames of `from` reach `to`.
  bool Open(std::uint32_t from, std::uint32_t to) const;
  // Whether `a` and `b` reach each other, as a new connection needs it.
  bool BothWays(std::uint32_t a, std::uint32_t b) const { return Open(a, b) && Open(b, a); }
  bool InRange(std::uint32_t a, std::uint32_t b) const;

  // Goes to a later time. Returns: when something changes next; kNever: not any more.
  Time MoveTo(Time now);

 private:
  struct Split {
    Time from{};
    Time to{};
    bool one_way = false;
    std::vector<std::uint16_t> group;  // of each node, from 1; 0: reaches everybody
  };
  struct Walker {
    Stream stream;
    double x = 0, y = 0;
    double goal_x = 0, goal_y = 0;
  };

  Paths() = default;
  Duration step() const;
  void Walk(Duration time);

  std::vector<Split> splits_;
  bool distance_ = false;
  double range_ = 0;
  double area_ = 0;
  double velocity_ = 0;
  std::vector<Walker> walkers_;
  Time now_{};
  Time walked_{};
};

}  // namespace covey::simulate
