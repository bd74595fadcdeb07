// Small synthetic data sets as IDX files in a folder of their own, for tests that open data as a
// node does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "support/temporary_folder.h"

namespace covey::test {

struct SyntheticSet {
  std::uint32_t samples = 600;
  std::uint32_t features = 12;
  std::uint32_t classes = 4;
  double noise = 60;  // standard deviation of a byte around its class centre
  std::uint64_t seed = 1;
};

inline void WriteIdx(const std::string& path, const std::vector<std::uint32_t>& extents,
                     const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  const auto put = [&file](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
      file.put(static_cast<char>((value >> shift) & 0xff));
  };
  put(0x00000800u | static_cast<std::uint32_t>(extents.size()));
  for (const std::uint32_t extent : extents) put(extent);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// Writes `<prefix>-images` and `<prefix>-labels`: Gaussian clouds around one centre for each class.
// Sets with the same number of features and classes share their centres, so one can be the test set
// of another.
inline void WriteSyntheticSet(const std::string& prefix, const SyntheticSet& set) {
  Stream centres(99, 0, Purpose::kTest);
  std::vector<double> centre(set.classes * set.features);
  for (double& value : centre) value = 40 + 175 * centres.Uniform();
  Stream random(set.seed, 1, Purpose::kTest);
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;
  for (std::uint32_t i = 0; i < set.samples; ++i) {
    const auto label = static_cast<std::uint32_t>(random.Below(set.classes));
    labels.push_back(static_cast<std::uint8_t>(label));
    for (std::uint32_t f = 0; f < set.features; ++f) {
      const double value = centre[label * set.features + f] + set.noise * random.Normal();
      images.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
    }
  }
  WriteIdx(prefix + "-images", {set.samples, set.features}, images);
  WriteIdx(prefix + "-labels", {set.samples}, labels);
}

}  // namespace covey::test
