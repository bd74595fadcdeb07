// Who trains on which samples: partitions of a data set as lists of indices, never copies.
//
// Every partition but ByKey is disjoint and complete over its parts: each index appears in exactly
// one of the parts 0 .. count-1. Lists are in ascending order.
// Determinism: a list depends only on the arguments (streams of Purpose::kPartition), so nodes that
//   share a seed agree on the partition without talking.
//
// The validation split is the tail of the training set (SplitLast), so a partition of the rest is
// made from labels().first(size - k), and its indices are those of the whole data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"

namespace covey::data {

using Indices = std::vector<std::uint32_t>;
using Labels = std::span<const std::uint8_t>;

// Part `index` of `count`.
// Requires: index < count.
struct Part {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
};

// Returns: begin, begin + 1, ..., end - 1.
// Requires: begin <= end.
Indices Range(std::uint32_t begin, std::uint32_t end);

// Shuffled and cut into runs whose sizes differ by at most 1.
Indices PartitionIid(std::size_t samples, Part part, std::uint64_t seed);

// The paper's biased data. Samples are grouped by label when there are as many parts as classes;
// otherwise they are sorted by label and cut into `count` runs whose sizes differ by at most 1.
// Part i keeps 1 - rate of group i and gets an equal share of the samples that every other group
// gives away.
// Edge values: rate 0 gives pure groups; rate = 1 - 1/count gives nearly the same mix to all; count
//   1 gives all.
// Requires: 0 <= rate <= 1; every label < classes.
// Source: Crandall & Webb 2020, experiment 2.
// Where we differ: the number of samples given away is rounded to the nearest, and shares that
//   don't come out even differ by at most 1.
Indices PartitionMixRate(Labels labels, std::uint32_t classes, Part part, double rate,
                         std::uint64_t seed);

// Each class is spread over the parts in proportions drawn from a symmetric Dirichlet(alpha).
// Edge values: a large alpha gives equal parts of every class, a small one gives each class to one
//   part. Parts may be empty.
// Requires: alpha > 0; every label < classes.
// Source: Hsu, Qi & Brown 2019, "Measuring the Effects of Non-Identical Data Distribution", section
//   3.
// Where we differ: the proportions are drawn for each class over parts, so that the result is
//   complete.
Indices PartitionDirichlet(Labels labels, std::uint32_t classes, Part part, double alpha,
                           std::uint64_t seed);

// Run `part` of the samples in their order: what one node saw while others saw what came before and
// after.
Indices PartitionBlocks(std::size_t samples, Part part);

// All samples i with keys[i] == key: a natural split such as by device.
Indices PartitionByKey(std::span<const std::uint32_t> keys, std::uint32_t key);

// The same as settings, for configuration files.
struct PartitionSettings {
  enum class Kind { kAll, kIid, kMixRate, kDirichlet, kBlocks, kKey };
  Kind kind = Kind::kAll;
  Part part;               // iid, mix_rate, dirichlet
  double rate = 0.1;       // mix_rate, 0 to 1
  double alpha = 0.5;      // dirichlet, 1e-4 to 1e6
  std::string key_file;    // key: one-dimensional IDX file; empty: the keys of the data set
  std::uint32_t key = 0;   // key: the value to take
  std::uint64_t seed = 0;  // the same on all nodes
};

// Returns: the word of configuration files ("all", "iid", "mix_rate", "dirichlet", "blocks",
// "key").
std::string_view Name(PartitionSettings::Kind kind);
// Errors: kConfig with what was got and the known words.
Result<PartitionSettings::Kind> ParsePartitionKind(std::string_view word);
// Errors: kConfig, naming the setting, what was got and what is wanted.
Status Validate(const PartitionSettings& settings);

// Makes the list that the settings describe.
// `keys` is the content of key_file (kKey only; may be longer than `labels`: a validation tail).
// Errors: kConfig as Validate; kData when the keys are fewer than the labels, or when the list is
// empty.
Result<Indices> Partition(Labels labels, std::uint32_t classes, const PartitionSettings& settings,
                          std::span<const std::uint32_t> keys = {});

// Samples of the training file that nobody trains on: the test set of an experiment.
struct HoldOut {
  std::string keys = {};   // those with these keys: "0-9, 12"; empty: none
  std::uint64_t last = 0;  // so many at the end, after that

  bool operator==(const HoldOut&) const = default;
  bool any() const { return !keys.empty() || last > 0; }
};

inline constexpr std::size_t kMaxKeys = 65536;  // of a list, and the largest + 1

// Reads a list of keys: numbers and ranges from 0 to kMaxKeys - 1, in ascending order in the
// result.
// Errors: kConfig with what was got.
Result<std::vector<std::uint32_t>> ParseKeys(const std::string& text);

// Returns: the index-th of the numbers 0, 1, 2, ... that are not held out. Requires: keys
// ascending.
std::uint32_t KeyBeside(const std::vector<std::uint32_t>& keys, std::uint32_t index);

// The training file without what is held out, and that.
struct Held {
  Indices rest;
  Indices test;
};

// keys: of the samples; needed where hold_out.keys is given.
// Errors: kConfig as ParseKeys; kData when there are too few keys, or nothing is left on either
// side.
Result<Held> Hold(std::size_t samples, const HoldOut& hold_out,
                  std::span<const std::uint32_t> keys);

// Whether a sample is one to judge by rather than to learn from: decided by its content alone, so
// that it stays on its side when data grow, move or are divided anew, and its copies with it.
//
// Equation: h(sample) < share * 2^64, h: FNV-1a of 64 bits with the finaliser of MurmurHash3.
// Source: Fowler, Noll & Vo 1991; Appleby 2011.
// Requires: 0 <= share <= 1.  Cost: one multiplication a byte.
bool IsSetAside(std::span<const std::uint8_t> sample, double share);

// A training set without its last samples, and those.
struct Split {
  Indices train;
  Indices validation;
};

// Errors: kConfig when fewer than one sample would remain for training.
Result<Split> SplitLast(std::size_t samples, std::size_t validation);

}  // namespace covey::data
