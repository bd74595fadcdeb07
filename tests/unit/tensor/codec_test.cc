#include "covey/tensor/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <vector>

#include "covey/base/random.h"
#include "support/levels.h"

namespace covey::tensor::codec_test {
namespace {

using test::AtEveryLevel;

FlatVector Random(std::size_t n, std::uint64_t seed) {
  Stream stream(seed, 0, Purpose::kTest);
  FlatVector values(n);
  for (float& value : values.view()) value = stream.Uniform(-2.0f, 2.0f);
  return values;
}

constexpr Encoding kAll[] = {Encoding::kFloat32, Encoding::kFloat16, Encoding::kBfloat16,
                             Encoding::kInt8, Encoding::kTopK};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

AlignedBuffer Encoded(Encoding encoding, const FlatVector& x) {
  AlignedBuffer buffer(EncodedSize(encoding, x.size()));
  Encode(encoding, x.view(), buffer.view());
  return buffer;
}

AlignedBuffer Encoded(const FlatVector& x) { return Encoded(Encoding::kFloat32, x); }

FlatVector Decoded(Encoding encoding, const AlignedBuffer& bytes, std::size_t n) {
  FlatVector x(n);
  Decode(encoding, bytes.view(), x.view());
  return x;
}

FlatVector AfterRoundTrip(Encoding encoding, const FlatVector& x) {
  return Decoded(encoding, Encoded(encoding, x), x.size());
}

FlatVector Of(std::initializer_list<float> values) {
  FlatVector x(values.size());
  std::copy(values.begin(), values.end(), x.view().begin());
  return x;
}

TEST(Codec, KnowsItsEncodings) {
  for (const Encoding encoding : kAll) EXPECT_TRUE(IsKnown(encoding));
  EXPECT_FALSE(IsKnown(static_cast<Encoding>(kEncodings)));
  EXPECT_FALSE(IsKnown(static_cast<Encoding>(255)));
  EXPECT_EQ(Name(Encoding::kFloat32), "f32");
  EXPECT_EQ(Name(Encoding::kTopK), "top_k");
  EXPECT_EQ(Name(static_cast<Encoding>(200)), "unknown");
  EXPECT_TRUE(FitsWeights(Encoding::kInt8));
  EXPECT_FALSE(FitsWeights(Encoding::kTopK));
  EXPECT_FALSE(FitsWeights(static_cast<Encoding>(77)));
}

TEST(Codec, DistancesAndNormsAreThoseOfWhatIsDecoded) {
  AtEveryLevel([] {
    for (const std::size_t n : {1u, 127u, 1024u, 1025u, 5000u}) {
      const FlatVector x = Random(n, 1);
      const FlatVector q = Random(n, 2);
      for (const Encoding encoding : kAll) {
        const AlignedBuffer bytes = Encoded(encoding, q);
        const FlatVector values = Decoded(encoding, bytes, n);
        double distance = 0;
        double norm = 0;
        for (std::size_t i = 0; i < n; ++i) {
          distance += std::pow(double{values[i]} - double{x[i]}, 2);
          norm += std::pow(double{values[i]}, 2);
        }
        EXPECT_NEAR(SquaredNorm({encoding, bytes.view()}, n), norm, 1e-5 * norm) << Name(encoding);
        if (!FitsWeights(encoding)) continue;
        EXPECT_NEAR(SquaredDistance({encoding, bytes.view()}, x.view()), distance, 1e-5 * distance)
            << Name(encoding);
      }
    }
  });
}

TEST(Codec, AHugeDistanceIsInfiniteAndNothingElse) {
  const FlatVector x = Of({0, 0});
  const AlignedBuffer far = Encoded(Of({0x1p63f, -0x1p63f}));
  EXPECT_GT(SquaredDistance({Encoding::kFloat32, far.view()}, x.view()), 1e37);
  EXPECT_GT(SquaredNorm({Encoding::kFloat32, far.view()}, 2), 1e37);
}

TEST(Codec, SizesAreWhatTheHeaderSays) {
  EXPECT_EQ(EncodedSize(Encoding::kFloat32, 3), 12u);
  EXPECT_EQ(EncodedSize(Encoding::kFloat16, 3), 6u);
  EXPECT_EQ(EncodedSize(Encoding::kBfloat16, 3), 6u);
  EXPECT_EQ(EncodedSize(Encoding::kInt8, 128), 132u);
  EXPECT_EQ(EncodedSize(Encoding::kInt8, 129), 137u);
  EXPECT_EQ(EncodedSize(Encoding::kTopK, 64), 8u + 2 * 7);
  EXPECT_EQ(EncodedSize(Encoding::kTopK, 65), 16u + 2 * 7);
  for (const Encoding encoding : kAll) EXPECT_EQ(EncodedSize(encoding, 0), 0u);
  constexpr double kModel = 57250;  // 784-72-10
  const auto share = [](Encoding encoding) {
    return static_cast<double>(EncodedSize(encoding, 57250)) / (4 * kModel);
  };
  EXPECT_LE(share(Encoding::kFloat16), 0.5);
  EXPECT_LE(share(Encoding::kInt8), 0.26);
  EXPECT_LE(share(Encoding::kTopK), 0.12);
}

TEST(EncodingSet, HoldsFloat32AndNothingUnknown) {
  EXPECT_TRUE(EncodingSet().contains(Encoding::kFloat32));
  EXPECT_FALSE(EncodingSet().contains(Encoding::kFloat16));
  for (const Encoding encoding : kAll) EXPECT_TRUE(EncodingSet::All().contains(encoding));
  EXPECT_EQ(EncodingSet::FromBits(0xffffff00), EncodingSet());
  const EncodingSet half = EncodingSet::FromBits(2);
  EXPECT_EQ(half.Choose(Encoding::kFloat16), Encoding::kFloat16);
  EXPECT_EQ(half.Choose(Encoding::kInt8), Encoding::kFloat32);
  EXPECT_EQ(EncodingSet::FromBits(half.bits()), half);
}

TEST(Codec, Float32IsExact) {
  for (const std::size_t n : {0u, 1u, 5u, 1000u, 3000u}) {
    FlatVector x = Random(n, 1);
    if (n > 2) x[1] = kNan;
    const FlatVector back = AfterRoundTrip(Encoding::kFloat32, x);
    EXPECT_EQ(std::memcmp(back.data(), x.data(), n * sizeof(float)), 0);
  }
}

TEST(Codec, FloatsAreLittleEndian) {
  const AlignedBuffer bytes = Encoded(Of({1.0f}));  // 0x3f800000
  const std::byte expected[] = {std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, 4), 0);
}

// --- Binary16 against its definition ---

double ValueOfHalf(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return half >> 15 ? -magnitude : magnitude;
}

// The nearest of all finite halves, of two equally near the even one.
std::uint16_t NearestHalf(float value) {
  const double magnitude = std::fabs(static_cast<double>(value));
  std::uint16_t low = 0;
  std::uint16_t high = 0x7bff;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (ValueOfHalf(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - ValueOfHalf(low);
  const double above = ValueOfHalf(high) - magnitude;
  std::uint16_t best = below < above || (below == above && low % 2 == 0) ? low : high;
  if (std::signbit(value)) best |= 0x8000;
  return best;
}

TEST(Float16, EveryFiniteValueDecodesAndEncodesBack) {
  std::vector<std::uint16_t> halves;
  for (std::uint32_t half = 0; half < 65536; ++half) {
    if ((half >> 10 & 31) != 31) halves.push_back(static_cast<std::uint16_t>(half));
  }
  AlignedBuffer bytes(2 * halves.size());
  std::memcpy(bytes.data(), halves.data(), bytes.size());
  AtEveryLevel([&] {
    const FlatVector x = Decoded(Encoding::kFloat16, bytes, halves.size());
    for (std::size_t i = 0; i < halves.size(); ++i) {
      ASSERT_EQ(x[i], ValueOfHalf(halves[i])) << halves[i];
    }
    const AlignedBuffer back = Encoded(Encoding::kFloat16, x);
    EXPECT_EQ(std::memcmp(back.data(), bytes.data(), bytes.size()), 0);
  });
}

TEST(Float16, RoundsToTheNearestAndSaturates) {
  std::vector<float> values = {0.0f,    -0.0f,      1e-8f,  -3e-8f,         2.9802322e-8f, 65504,
                               65519,   65520,      -70000, 1e30f,          -kInf,         kInf,
                               6.1e-5f, 6.1035e-5f, 1e-40f, 1.00048828125f, 1.00146484375f};
  Stream stream(6, 0, Purpose::kTest);
  for (int i = 0; i < 5000; ++i) {
    values.push_back(
        std::ldexp(stream.Uniform(-2.0f, 2.0f), static_cast<int>(stream.Below(44)) - 27));
  }
  FlatVector x(values.size());
  std::copy(values.begin(), values.end(), x.view().begin());
  AtEveryLevel([&] {
    const AlignedBuffer bytes = Encoded(Encoding::kFloat16, x);
    const auto* halves = reinterpret_cast<const std::uint16_t*>(bytes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(halves[i], NearestHalf(values[i])) << values[i];
    }
  });
}

TEST(Bfloat16, KeepsTheUpperHalfRoundedToEven) {
  const auto encode = [](std::uint32_t bits) {
    const AlignedBuffer bytes = Encoded(Encoding::kBfloat16, Of({std::bit_cast<float>(bits)}));
    std::uint16_t half;
    std::memcpy(&half, bytes.data(), 2);
    return half;
  };
  AtEveryLevel([&] {
    EXPECT_EQ(encode(0x3f800000), 0x3f80);
    EXPECT_EQ(encode(0x3f807fff), 0x3f80);
    EXPECT_EQ(encode(0x3f808000), 0x3f80) << "a tie goes to the even one";
    EXPECT_EQ(encode(0x3f818000), 0x3f82);
    EXPECT_EQ(encode(0xbf808001), 0xbf81);
    EXPECT_EQ(encode(0x7f800001) & 0x7fc0, 0x7fc0) << "not a number stays so";
    EXPECT_EQ(encode(0x80000001), 0x8000);
  });
}

TEST(Int8, ErrsByAtMostHalfAStepOfItsBlock) {
  AtEveryLevel([] {
    for (const std::size_t n : {1u, 127u, 128u, 129u, 1024u, 1500u}) {
      FlatVector x = Random(n, 7);
      x[n / 2] = 30;  // one large value coarsens its own block alone
      const FlatVector back = AfterRoundTrip(Encoding::kInt8, x);
      for (std::size_t i = 0; i < n; ++i) {
        const float greatest = i / 128 == n / 2 / 128 ? 30 : 2;
        ASSERT_NEAR(back[i], x[i], greatest / 127 / 2 * 1.0001f) << n << " " << i;
      }
      ASSERT_EQ(back[n / 2], 30);
    }
  });
  const FlatVector tiny = AfterRoundTrip(Encoding::kInt8, Of({1e-38f, -1e-39f, 0}));
  for (const float value : tiny.view()) EXPECT_EQ(value, 0);
}

TEST(TopK, KeepsTheLargestTenth) {
  AtEveryLevel([] {
    for (const std::size_t n : {1u, 10u, 11u, 64u, 100u, 1024u, 2500u}) {
      const FlatVector x = Random(n, 8);
      std::vector<float> magnitudes;
      for (const float value : x.view()) magnitudes.push_back(std::fabs(value));
      std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
      const float least = magnitudes[(n + 9) / 10 - 1];
      const FlatVector back = AfterRoundTrip(Encoding::kTopK, x);
      for (std::size_t i = 0; i < n; ++i) {
        const bool kept = std::fabs(x[i]) >= least;
        ASSERT_EQ(back[i], kept ? ValueOfHalf(NearestHalf(x[i])) : 0) << n << " " << i;
      }
    }
  });
}

TEST(TopK, OfEqualElementsTheFirstAreKept) {
  FlatVector x(100);
  for (float& value : x.view()) value = -3;
  const FlatVector back = AfterRoundTrip(Encoding::kTopK, x);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(back[i], i < 10 ? -3 : 0);
  const FlatVector zeros = AfterRoundTrip(Encoding::kTopK, FlatVector(100));
  for (const float value : zeros.view()) EXPECT_EQ(value, 0);
}

TEST(Codec, EveryLevelWritesTheSameBytes) {
  const FlatVector x = Random(2500, 9);
  for (const Encoding encoding : kAll) {
    std::vector<std::vector<std::byte>> written;
    AtEveryLevel([&] {
      const AlignedBuffer bytes = Encoded(encoding, x);
      written.emplace_back(bytes.data(), bytes.data() + bytes.size());
    });
    for (const auto& bytes : written) EXPECT_EQ(bytes, written.front()) << Name(encoding);
  }
}

// What the receiver adds are the very bytes of its reply: that is what keeps the sum over nodes
// (Algorithm 1).
TEST(Codec, PullMovesByTheBytesOfTheReply) {
  AtEveryLevel([] {
    for (const Encoding sent : kAll) {
      if (!FitsWeights(sent)) continue;
      for (const Encoding replied : kAll) {
        for (const std::size_t n : {0u, 1u, 15u, 64u, 149u, 1024u, 1171u}) {
          const FlatVector before = Random(n, 2);
          const AlignedBuffer bytes = Encoded(sent, Random(n, 3));
          const FlatVector q = Decoded(sent, bytes, n);
          FlatVector x = before.Clone();
          AlignedBuffer reply(EncodedSize(replied, n));
          Pull({sent, bytes.view()}, 1.0f / 3, x.view(), {replied, reply.view()});
          FlatVector heavy = before.Clone();
          AlignedBuffer same(EncodedSize(replied, n));
          Pull({sent, bytes.view()}, 1.0f / 3, heavy.view(), {replied, same.view()}, 0.75f);
          ASSERT_TRUE(std::ranges::equal(same.view(), reply.view()));
          FlatVector wanted(n);
          for (std::size_t i = 0; i < n; ++i) wanted[i] = (1.0f / 3) * (q[i] - before[i]);
          wanted = AfterRoundTrip(replied, wanted);
          const FlatVector d = Decoded(replied, reply, n);
          ASSERT_TRUE(AllFinite(replied, reply.view(), n));
          for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(d[i], wanted[i])
                << Name(sent) << " " << Name(replied) << " " << n << " " << i;
            ASSERT_EQ(x[i], before[i] + d[i]) << n << " " << i;
            ASSERT_EQ(heavy[i], before[i] + 0.75f * d[i]) << n << " " << i;
          }
          for (std::size_t i = n; i < n + 16; ++i) ASSERT_EQ(x.data()[i], 0.0f) << "padding";
        }
      }
    }
  });
}

TEST(Codec, SubtractTakesTheReplyAway) {
  AtEveryLevel([] {
    for (const Encoding encoding : kAll) {
      for (const std::size_t n : {0u, 1u, 17u, 69u, 1100u}) {
        const FlatVector before = Random(n, 4);
        const AlignedBuffer bytes = Encoded(encoding, Random(n, 5));
        const FlatVector d = Decoded(encoding, bytes, n);
        FlatVector x = before.Clone();
        Subtract(encoding, bytes.view(), x.view());
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(x[i], before[i] - d[i]) << Name(encoding);
      }
    }
  });
}

TEST(AllFiniteBytes, RefusesNonFiniteValuesWhereverTheyStand) {
  AtEveryLevel([] {
    for (const Encoding encoding :
         {Encoding::kFloat32, Encoding::kFloat16, Encoding::kBfloat16, Encoding::kInt8}) {
      for (const std::size_t n : {1u, 33u, 300u}) {
        for (std::size_t i = 0; i < n; ++i) {
          FlatVector x = Random(n, 10);
          ASSERT_TRUE(AllFinite(encoding, Encoded(encoding, x).view(), n));
          x[i] = kNan;
          ASSERT_FALSE(AllFinite(encoding, Encoded(encoding, x).view(), n)) << Name(encoding);
          if (encoding == Encoding::kFloat16) continue;  // saturates
          x[i] = kInf;
          ASSERT_FALSE(AllFinite(encoding, Encoded(encoding, x).view(), n)) << Name(encoding);
        }
      }
    }
  });
}

TEST(AllFiniteBytes, RefusesBytesThatAreNoVector) {
  for (const Encoding encoding : kAll) {
    const AlignedBuffer bytes = Encoded(encoding, Random(100, 11));
    EXPECT_TRUE(AllFinite(encoding, bytes.view(), 100));
    EXPECT_FALSE(AllFinite(encoding, bytes.view().first(bytes.size() - 1), 100));
    EXPECT_FALSE(AllFinite(encoding, bytes.view(), 101));
  }
  EXPECT_FALSE(AllFinite(static_cast<Encoding>(9), {}, 0));
}

TEST(AllFiniteBytes, RefusesWhatANeighbouringByteBreaks) {
  const auto broken = [](Encoding encoding, std::size_t at, int value) {
    AlignedBuffer bytes = Encoded(encoding, Random(100, 11));
    bytes.data()[at] = static_cast<std::byte>(value);
    return !AllFinite(encoding, bytes.view(), 100);
  };
  EXPECT_TRUE(broken(Encoding::kFloat16, 199, 0x7c)) << "infinite";
  EXPECT_TRUE(broken(Encoding::kFloat16, 199, 0xfe)) << "not a number";
  EXPECT_TRUE(broken(Encoding::kBfloat16, 199, 0x5f)) << "2^64 or more";
  EXPECT_TRUE(broken(Encoding::kInt8, 3, 0xbf)) << "a negative scale";
  EXPECT_TRUE(broken(Encoding::kInt8, 3, 0x7f)) << "a scale that is no number";
  EXPECT_TRUE(broken(Encoding::kInt8, 3, 0x5c)) << "a scale of 2^57";
  EXPECT_TRUE(broken(Encoding::kTopK, 15, 0x80)) << "a mark beyond the last element";
  EXPECT_TRUE(broken(Encoding::kTopK, 0, 0xff)) << "more marks than values";
  EXPECT_TRUE(broken(Encoding::kTopK, 16 + 19, 0x7c)) << "an infinite value";
}

TEST(CodecDeathTest, WrongSizesAndAlignmentAreProgrammerErrors) {
  FlatVector x(4);
  AlignedBuffer small(12);
  AlignedBuffer fits(16);
  AlignedBuffer shifted(20);
  AlignedBuffer few(EncodedSize(Encoding::kTopK, 4));
  constexpr Encoding kF32 = Encoding::kFloat32;
  EXPECT_DEATH(Encode(kF32, x.view(), small.view()), "check failed");
  EXPECT_DEATH(Decode(kF32, small.view(), x.view()), "check failed");
  EXPECT_DEATH(Subtract(kF32, small.view(), x.view()), "check failed");
  EXPECT_DEATH(Pull({kF32, fits.view()}, 0.5f, x.view(), {kF32, small.view()}), "check failed");
  EXPECT_DEATH(Pull({kF32, shifted.view().subspan(4)}, 0.5f, x.view(), {kF32, fits.view()}),
               "check failed");
  EXPECT_DEATH(Pull({Encoding::kTopK, few.view()}, 0.5f, x.view(), {kF32, fits.view()}),
               "check failed");
}

}  // namespace
}  // namespace covey::tensor::codec_test
