// What the elements of a sample become before they enter the first layer.
//
// Equation: value f = (element f - mean[f mod n]) * scale[f mod n], n = mean.size().
//   n is 1 (all elements alike), the last extent of a sample's shape (per channel of an image, per
//   sensor of a window) or the number of features.
//
// The nodes of a fleet must read their samples alike, or they average models of different inputs.
// So values are either rules that say the same everywhere (none, unit, scale), or given in the
// file, or fitted once on the whole training file; Canonical is what peers compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/tensor/rows.h"

namespace covey::data {

enum class Normalize : std::uint8_t {
  kNone,   // its value
  kUnit,   // bytes: value / 255, 0 to 1; int16: value / 32768, -1 to 1; float32: its value
  kScale,  // value * a number that is given
  kGiven,  // (value - mean) / std with numbers that are given
  // Fitted on the training samples:
  kStandard,    // each feature to mean 0 and standard deviation 1
  kPerChannel,  // the same for each index of the last extent
  kMinMax,      // each feature to 0 .. 1
};

// Returns: the word of configuration files ("none", "unit", "scale", "given", ...).
std::string_view Name(Normalize normalize);
bool IsFitted(Normalize normalize);

// Mean and standard deviation (kMinMax: minimum and range) as people read and write them.
struct Standard {
  std::vector<float> mean;
  std::vector<float> std;  // as many, each above 0

  bool operator==(const Standard&) const = default;
};

struct Normalization {
  std::vector<float> mean{0};
  std::vector<float> scale{1};  // as many

  bool operator==(const Normalization&) const = default;

  // The same for all elements.
  static Normalization Uniform(float scale);
  // scale = 1 / std.
  static Normalization Of(const Standard& standard);
  bool uniform() const { return mean.size() == 1; }
  // out <- the values of one sample. row: elements at any alignment, in the machine's order.
  // Requires: out.size() is a multiple of mean.size().
  void Apply(const std::uint8_t* row, tensor::Element element, std::span<float> out) const;
};

// Returns: a text that is equal for two nodes exactly when they read samples alike: the rule for
// none, unit and scale, all numbers for the others.
std::string Canonical(Normalize normalize, const Normalization& normalization);
// The same for people, at most `limit` bytes: "standard of 6 values: mean 0.1 ..., std 2 ...".
std::string Summary(Normalize normalize, const Normalization& normalization, std::size_t limit);

// Names of classes, one for each label; empty: classes are their numbers.
using LabelNames = std::vector<std::string>;

// As Canonical: equal exactly when the names are.
std::string Canonical(const LabelNames& names);
// "5 names: sit, stand, walk, ..." or "unnamed", at most `limit` bytes.
std::string Summary(const LabelNames& names, std::size_t limit);

}  // namespace covey::data
