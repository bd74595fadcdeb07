// The fuzz targets of a build without libFuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

struct FuzzTarget {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

extern const std::span<const FuzzTarget> kFuzzTargets;
