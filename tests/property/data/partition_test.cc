// Over hundreds of drawn cases: partitions are disjoint and complete, shares are what the
// definitions say.
#include "covey/data/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "covey/base/random.h"

namespace covey::data {
namespace {

struct Case {
  std::vector<std::uint8_t> labels;
  std::uint32_t classes = 0;
  std::uint32_t parts = 0;
  std::uint64_t seed = 0;
  double rate = 0;
  double alpha = 0;
};

Case Draw(Stream& random) {
  Case drawn;
  drawn.classes = 1 + static_cast<std::uint32_t>(random.Below(12));
  drawn.parts =
      random.Chance(0.4) ? drawn.classes : 1 + static_cast<std::uint32_t>(random.Below(16));
  drawn.seed = random.Next64();
  drawn.rate = random.Chance(0.2) ? static_cast<double>(random.Below(2)) : random.Uniform();
  drawn.alpha = random.Chance(0.2) ? 1e-4 : 2 * random.Uniform() + 1e-3;
  drawn.labels.resize(random.Below(600));
  // Uneven classes, some of them absent.
  for (std::uint8_t& label : drawn.labels) {
    label = static_cast<std::uint8_t>(
        std::min(random.Below(drawn.classes), random.Below(drawn.classes)));
  }
  return drawn;
}

using Maker = std::function<Indices(const Case&, Part)>;

// Each index in exactly one part, lists ascending.
void ExpectPartition(const Case& drawn, const Maker& make, const char* name) {
  std::vector<int> owners(drawn.labels.size());
  for (std::uint32_t i = 0; i < drawn.parts; ++i) {
    const Indices mine = make(drawn, Part{i, drawn.parts});
    ASSERT_TRUE(std::is_sorted(mine.begin(), mine.end())) << name;
    for (const std::uint32_t index : mine) {
      ASSERT_LT(index, owners.size()) << name;
      ++owners[index];
    }
  }
  ASSERT_EQ(owners, std::vector<int>(owners.size(), 1))
      << name << " of " << drawn.labels.size() << " samples, " << drawn.classes << " classes, "
      << drawn.parts << " parts, seed " << drawn.seed;
}

TEST(PartitionProperty, DisjointAndComplete) {
  Stream random(11, 0, Purpose::kTest);
  for (int i = 0; i < 300; ++i) {
    const Case drawn = Draw(random);
    ExpectPartition(
        drawn, [](const Case& c, Part part) { return PartitionIid(c.labels.size(), part, c.seed); },
        "iid");
    ExpectPartition(
        drawn,
        [](const Case& c, Part part) {
          return PartitionMixRate(c.labels, c.classes, part, c.rate, c.seed);
        },
        "mix_rate");
    ExpectPartition(
        drawn,
        [](const Case& c, Part part) {
          return PartitionDirichlet(c.labels, c.classes, part, c.alpha, c.seed);
        },
        "dirichlet");
    if (HasFatalFailure()) return;
  }
}

TEST(PartitionProperty, IidSizesDifferByAtMostOne) {
  Stream random(12, 0, Purpose::kTest);
  for (int i = 0; i < 300; ++i) {
    const std::size_t samples = random.Below(1000);
    const auto parts = 1 + static_cast<std::uint32_t>(random.Below(20));
    const std::uint64_t seed = random.Next64();
    for (std::uint32_t part = 0; part < parts; ++part) {
      const std::size_t size = PartitionIid(samples, Part{part, parts}, seed).size();
      ASSERT_GE(size, samples / parts);
      ASSERT_LE(size, (samples + parts - 1) / parts);
    }
  }
}

TEST(PartitionProperty, MixRateSharesAreEqualUpToOneSample) {
  Stream random(13, 0, Purpose::kTest);
  for (int round = 0; round < 200; ++round) {
    Case drawn = Draw(random);
    if (drawn.classes < 2) continue;
    drawn.parts = drawn.classes;
    std::vector<double> size(drawn.classes);
    for (const std::uint8_t label : drawn.labels) ++size[label];
    for (std::uint32_t i = 0; i < drawn.parts; ++i) {
      const Indices mine = PartitionMixRate(drawn.labels, drawn.classes, Part{i, drawn.parts},
                                            drawn.rate, drawn.seed);
      std::vector<double> got(drawn.classes);
      for (const std::uint32_t index : mine) ++got[drawn.labels[index]];
      for (std::uint32_t c = 0; c < drawn.classes; ++c) {
        if (c == i) {
          ASSERT_NEAR(got[c], (1 - drawn.rate) * size[c], 0.5 + 1e-9);
        } else {
          ASSERT_NEAR(got[c], drawn.rate * size[c] / (drawn.parts - 1), 1.5);
        }
      }
    }
  }
}

TEST(PartitionProperty, MixRateOfOddSharesFavoursNobody) {
  // 10 classes of 13 samples at rate 0.1: one sample of each class goes to one other part.
  std::vector<std::uint8_t> labels;
  for (int i = 0; i < 130; ++i) labels.push_back(static_cast<std::uint8_t>(i % 10));
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(PartitionMixRate(labels, 10, Part{i, 10}, 0.1, 5).size(), 13u);
  }
}

}  // namespace
}  // namespace covey::data
