// Random streams of the simulated world.
#pragma once

#include <cmath>
#include <cstdint>

#include "covey/base/random.h"
#include "covey/base/time.h"

namespace covey::simulate {

// What is drawn. Each has streams of its own, so that switching one fault on leaves the others as
// they are. Values are part of the format: repeating an old run needs them unchanged.
enum class Draw : std::uint64_t {
  kDelay = 1,
  kClog = 2,
  kTopology = 3,
  kMovement = 4,
  kSpeed = 5,
  kPause = 6,
  kCrash = 7,
  kRedial = 8,
};

// The stream of a node, or of the direction `node` -> `other` of a link.
inline Stream WorldStream(std::uint64_t seed, Draw draw, std::uint32_t node,
                          std::uint32_t other = 0) {
  // The constants are odd, so different pairs give different keys (up to a wrap of 2^64).
  const std::uint64_t salt = static_cast<std::uint64_t>(draw) * 0x9e3779b97f4a7c15ull ^
                             static_cast<std::uint64_t>(other) * 0xd1b54a32d192ed03ull;
  return Stream(seed ^ salt, node, Purpose::kNetwork);
}

// An exponential time; never zero.
inline Duration Exponential(Stream& stream, Duration mean) {
  return FromSeconds(-std::log(1.0 - stream.Uniform()) * Seconds(mean)) + Duration(1);
}

}  // namespace covey::simulate
