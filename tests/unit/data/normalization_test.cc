#include "covey/data/normalization.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "covey/data/dataset.h"

namespace covey::data {
namespace {

template <class T>
std::vector<std::uint8_t> BytesOf(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Two samples of two steps of two sensors.
Dataset Windows() {
  return Dataset::FromMemory({.shape = {2, 2},
                              .rows = BytesOf<float>({1, 10, 3, 10, 5, 10, 7, 10}),
                              .labels = {0, 1},
                              .normalize = Normalize::kNone,
                              .element = tensor::Element::kFloat32});
}

const std::vector<std::uint32_t> kBoth = {0, 1};

TEST(Fit, StandardIsOfEachFeature) {
  const Standard fit = Fit(Windows(), kBoth, Normalize::kStandard);
  EXPECT_EQ(fit.mean, (std::vector<float>{3, 10, 5, 10}));
  EXPECT_EQ(fit.std, (std::vector<float>{2, 1, 2, 1})) << "a constant gets 1";
}

TEST(Fit, PerChannelIsOfTheLastExtent) {
  const Standard fit = Fit(Windows(), kBoth, Normalize::kPerChannel);
  EXPECT_EQ(fit.mean, (std::vector<float>{4, 10}));
  EXPECT_FLOAT_EQ(fit.std[0], 2.2360680f);  // sqrt of the mean of 9, 1, 1, 9
  EXPECT_EQ(fit.std[1], 1);
}

TEST(Fit, MinMaxIsLeastAndRange) {
  const Standard fit = Fit(Windows(), kBoth, Normalize::kMinMax);
  EXPECT_EQ(fit.mean, (std::vector<float>{1, 10, 3, 10}));
  EXPECT_EQ(fit.std, (std::vector<float>{4, 1, 4, 1}));
}

TEST(Fit, UsesOnlyTheRowsThatItIsGiven) {
  const std::vector<std::uint32_t> second = {1};
  EXPECT_EQ(Fit(Windows(), second, Normalize::kMinMax).mean, (std::vector<float>{5, 10, 7, 10}));
}

TEST(Normalization, AppliesNumbersInTurn) {
  const Normalization n = Normalization::Of({.mean = {1, 10}, .std = {2, 4}});
  std::vector<float> out(4);
  n.Apply(Windows().row(1), tensor::Element::kFloat32, out);
  EXPECT_EQ(out, (std::vector<float>{2, 0, 3, 0}));
  const std::vector<std::uint8_t> bytes = {3, 18};
  out.resize(2);
  n.Apply(bytes.data(), tensor::Element::kUint8, out);
  EXPECT_EQ(out, (std::vector<float>{1, 2}));
  const std::vector<std::uint8_t> words = BytesOf<std::int16_t>({-1, 6});
  n.Apply(words.data(), tensor::Element::kInt16, out);
  EXPECT_EQ(out, (std::vector<float>{-1, -1}));
}

TEST(Normalization, RulesAreComparedByTheirWordAndNumbersByTheirValue) {
  const Normalization a = Normalization::Of({.mean = {1, 2}, .std = {3, 4}});
  const Normalization b = Normalization::Of({.mean = {1, 2}, .std = {3, 4.0000005f}});
  // Bytes and floats in unit are scaled by different numbers and mean the same.
  EXPECT_EQ(Canonical(Normalize::kUnit, Normalization::Uniform(1.0f / 255)),
            Canonical(Normalize::kUnit, {}));
  EXPECT_NE(Canonical(Normalize::kUnit, {}), Canonical(Normalize::kNone, {}));
  EXPECT_NE(Canonical(Normalize::kScale, Normalization::Uniform(2)),
            Canonical(Normalize::kScale, Normalization::Uniform(3)));
  // Numbers that one node fitted and another was given are the same numbers.
  EXPECT_EQ(Canonical(Normalize::kStandard, a), Canonical(Normalize::kGiven, a));
  EXPECT_NE(Canonical(Normalize::kGiven, a), Canonical(Normalize::kGiven, b));
}

TEST(Normalization, SummariesAreForPeople) {
  EXPECT_EQ(Summary(Normalize::kUnit, {}, 100), "unit");
  EXPECT_EQ(Summary(Normalize::kScale, Normalization::Uniform(0.5f), 100), "scale 0.5");
  const Normalization four = Normalization::Of({.mean = {1, 2, 3, 4}, .std = {1, 2, 4, 8}});
  EXPECT_EQ(Summary(Normalize::kStandard, four, 100),
            "standard of 4: mean 1 2 3 ..., std 1 2 4 ...");
  EXPECT_EQ(Summary(Normalize::kStandard, four, 20).size(), 20u);
}

TEST(LabelNames, AreComparedOneByOne) {
  EXPECT_EQ(Canonical(LabelNames{}), "");
  EXPECT_NE(Canonical(LabelNames{"a", "b"}), Canonical(LabelNames{"b", "a"}));
  EXPECT_NE(Canonical(LabelNames{"a", "b"}), Canonical(LabelNames{"ab"}));
  EXPECT_NE(Canonical(LabelNames{"a1:b"}), Canonical(LabelNames{"a", "b"}));
  EXPECT_EQ(Summary(LabelNames{}, 100), "unnamed");
  EXPECT_EQ(Summary(LabelNames{"sit", "walk"}, 100), "2 names: sit, walk");
  EXPECT_EQ(Summary(LabelNames{"sit", "walk"}, 15), "2 names: sit...");
}

TEST(Dataset, ReadsTheSameSamplesInAnotherWay) {
  const Dataset plain = Windows();
  const Dataset other =
      plain.Normalized(Normalize::kGiven, Normalization::Of({.mean = {4}, .std = {2}}));
  EXPECT_EQ(other.row(1), plain.row(1));
  EXPECT_EQ(other.scale(), 0.5f);
  EXPECT_EQ(other.offset(), -2);
  EXPECT_EQ(other.normalize(), Normalize::kGiven);
  const Dataset named = other.Named({"sit", "stand", "walk"});
  EXPECT_EQ(named.classes(), 3u);
  EXPECT_EQ(named.label_names()[2], "walk");
}

}  // namespace
}  // namespace covey::data
