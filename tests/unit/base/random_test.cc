#include "covey/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.h"

namespace covey {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Known answers of Random123 1.09 (file kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, KnownAnswers) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(internal::Philox({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(internal::Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      internal::Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Stored runs can be repeated only while a stream keys the generator in this way.
TEST(Stream, KeysTheGeneratorBySeedNodeAndPurpose) {
  const std::uint64_t seed = 0x299f31d0a4093822;
  Stream stream(seed, 7, Purpose::kPeers);
  for (std::uint32_t counter = 0; counter < 3; ++counter) {
    const Block block = internal::Philox({counter, 0, 7, 3}, {0xa4093822, 0x299f31d0});
    for (const std::uint32_t word : block) EXPECT_EQ(stream.Next32(), word);
  }
  EXPECT_EQ(stream.position(), 12u);
}

TEST(Stream, CounterPassesThirtyTwoBits) {
  Stream stream(1, 2, Purpose::kTest);
  stream.Seek(4 * 0x100000000ull + 1);
  EXPECT_EQ(stream.Next32(), internal::Philox({0, 1, 2, 9}, {1, 0})[1]);
}

TEST(Stream, EveryPartOfTheKeyMatters) {
  const auto first = [](Stream stream) { return stream.Next64(); };
  const std::uint64_t base = first(Stream(5, 1, Purpose::kInit));
  EXPECT_EQ(base, first(Stream(5, 1, Purpose::kInit)));
  EXPECT_NE(base, first(Stream(6, 1, Purpose::kInit)));
  EXPECT_NE(base, first(Stream(5 + (1ull << 32), 1, Purpose::kInit)));
  EXPECT_NE(base, first(Stream(5, 2, Purpose::kInit)));
  EXPECT_NE(base, first(Stream(5, 1, Purpose::kSampler)));
}

TEST(Stream, SeekGoesToAnyPosition) {
  Stream stream(3, 4, Purpose::kSampler);
  std::vector<std::uint32_t> numbers(23);
  for (std::uint32_t& number : numbers) number = stream.Next32();
  for (std::size_t i = numbers.size(); i-- > 0;) {
    stream.Seek(i);
    EXPECT_EQ(stream.position(), i);
    for (std::size_t j = i; j < numbers.size(); ++j) ASSERT_EQ(stream.Next32(), numbers[j]);
  }
}

TEST(Stream, UniformStaysInsideItsInterval) {
  Stream stream(11, 0, Purpose::kTest);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.Uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    squares += value * value;
    const float bounded = stream.Uniform(-0.25f, 0.75f);
    ASSERT_GE(bounded, -0.25f);
    ASSERT_LT(bounded, 0.75f);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.01);
}

// Pearson's chi-square with 9 degrees of freedom; 0.1 % quantile 27.9.
TEST(Stream, BelowIsUniform) {
  Stream stream(12, 0, Purpose::kTest);
  constexpr std::uint64_t kDraws = 50000;
  std::array<double, 10> counts{};
  for (std::uint64_t i = 0; i < kDraws; ++i) counts[stream.Below(10)] += 1;
  double chi = 0;
  for (const double count : counts) {
    chi += (count - kDraws / 10.0) * (count - kDraws / 10.0) / (kDraws / 10.0);
  }
  EXPECT_LT(chi, 27.9);
}

// n = 3 * 2^62: a plain remainder of 64 bits would draw the lowest third twice as often as the
// others.
TEST(Stream, BelowRejectsWhatWouldBias) {
  Stream stream(13, 0, Purpose::kTest);
  constexpr std::uint64_t kThird = 1ull << 62;
  constexpr int kDraws = 6000;
  std::array<int, 3> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts[stream.Below(3 * kThird) / kThird];
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 3, 200);
}

TEST(Stream, BelowOneIsZero) {
  Stream stream(14, 0, Purpose::kTest);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(stream.Below(1), 0u);
}

TEST(StreamDeathTest, BelowZeroIsAProgrammerError) {
  Stream stream(14, 0, Purpose::kTest);
  EXPECT_DEATH(stream.Below(0), "n > 0");
}

TEST(Stream, NormalHasMeanZeroAndVarianceOne) {
  Stream stream(15, 0, Purpose::kTest);
  constexpr int kDraws = 50000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.Normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5 * std::sqrt(2.0 / kDraws));
}

// Gamma(k, 1): mean k, variance k, on both branches of the sampler.
TEST(Stream, GammaHasMeanAndVarianceOfItsShape) {
  for (const double shape : {0.1, 0.5, 1.0, 4.0}) {
    Stream stream(16, 0, Purpose::kTest);
    constexpr int kDraws = 40000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = stream.Gamma(shape);
      ASSERT_GE(value, 0.0);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kDraws;
    EXPECT_NEAR(mean, shape, 5 * std::sqrt(shape / kDraws)) << shape;
    EXPECT_NEAR(squares / kDraws - mean * mean, shape, 0.1 * shape + 0.01) << shape;
  }
}

TEST(Stream, ChanceAtItsEdges) {
  Stream stream(17, 0, Purpose::kTest);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(stream.Chance(0));
    ASSERT_TRUE(stream.Chance(1));
  }
}

TEST(Stream, ShufflePermutesAndReachesEveryPlace) {
  Stream stream(18, 0, Purpose::kTest);
  std::array<int, 4> first{};
  for (int i = 0; i < 4000; ++i) {
    std::array<int, 4> items{0, 1, 2, 3};
    stream.Shuffle(std::span<int>(items));
    ++first[static_cast<std::size_t>(items[0])];
    std::sort(items.begin(), items.end());
    ASSERT_EQ(items, (std::array<int, 4>{0, 1, 2, 3}));
  }
  for (const int count : first) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace covey
