#include "covey/tensor/codec.h"

#include <gtest/gtest.h>

#include <cstring>
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

AlignedBuffer Encoded(const FlatVector& x) {
  AlignedBuffer buffer(EncodedSize(Encoding::kFloat32, x.size()));
  Encode(Encoding::kFloat32, x.view(), buffer.view());
  return buffer;
}

TEST(Codec, KnowsItsEncodings) {
  EXPECT_TRUE(IsKnown(Encoding::kFloat32));
  EXPECT_FALSE(IsKnown(static_cast<Encoding>(1)));
  EXPECT_FALSE(IsKnown(static_cast<Encoding>(255)));
  EXPECT_EQ(Name(Encoding::kFloat32), "f32");
  EXPECT_EQ(EncodedSize(Encoding::kFloat32, 3), 12u);
}

TEST(Codec, DecodeUndoesEncodeBitForBit) {
  for (const std::size_t n : {0u, 1u, 5u, 1000u}) {
    FlatVector x = Random(n, 1);
    if (n > 2) x[1] = std::numeric_limits<float>::quiet_NaN();
    const AlignedBuffer bytes = Encoded(x);
    FlatVector back(n);
    Decode(Encoding::kFloat32, bytes.view(), back.view());
    EXPECT_EQ(std::memcmp(back.data(), x.data(), n * sizeof(float)), 0);
  }
}

TEST(Codec, FloatsAreLittleEndian) {
  FlatVector x(1);
  x[0] = 1.0f;  // 0x3f800000
  const AlignedBuffer bytes = Encoded(x);
  const std::byte expected[] = {std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, 4), 0);
}

// What the receiver adds are the very bytes of its reply: that is what keeps the sum over nodes
// (Algorithm 1).
TEST(Codec, PullMovesByTheBytesOfTheReply) {
  AtEveryLevel([] {
    for (std::size_t n = 0; n < 150; ++n) {
      const FlatVector before = Random(n, 2);
      const FlatVector q = Random(n, 3);
      const AlignedBuffer bytes = Encoded(q);
      FlatVector x = before.Clone();
      AlignedBuffer reply(bytes.size());
      Pull(Encoding::kFloat32, bytes.view(), 1.0f / 3, x.view(), reply.view());
      FlatVector d(n);
      Decode(Encoding::kFloat32, reply.view(), d.view());
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(d[i], (1.0f / 3) * (q[i] - before[i])) << n << " " << i;
        ASSERT_EQ(x[i], before[i] + d[i]) << n << " " << i;
      }
      for (std::size_t i = n; i < n + 16; ++i) ASSERT_EQ(x.data()[i], 0.0f) << "padding";
    }
  });
}

TEST(Codec, SubtractTakesTheReplyAway) {
  AtEveryLevel([] {
    for (std::size_t n = 0; n < 70; ++n) {
      const FlatVector before = Random(n, 4);
      const FlatVector d = Random(n, 5);
      FlatVector x = before.Clone();
      Subtract(Encoding::kFloat32, Encoded(d).view(), x.view());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(x[i], before[i] - d[i]);
    }
  });
}

TEST(Codec, AllFiniteRefusesBytesThatAreNoFloats) {
  AlignedBuffer bytes(16);
  std::memset(bytes.data(), 0, 16);
  EXPECT_TRUE(AllFinite(Encoding::kFloat32, bytes.view()));
  EXPECT_FALSE(AllFinite(Encoding::kFloat32, bytes.view().first(15)));
  std::memset(bytes.data() + 12, 0xff, 4);
  EXPECT_FALSE(AllFinite(Encoding::kFloat32, bytes.view()));
}

TEST(CodecDeathTest, WrongSizesAndAlignmentAreProgrammerErrors) {
  FlatVector x(4);
  AlignedBuffer small(12);
  AlignedBuffer fits(16);
  AlignedBuffer shifted(20);
  EXPECT_DEATH(Encode(Encoding::kFloat32, x.view(), small.view()), "check failed");
  EXPECT_DEATH(Decode(Encoding::kFloat32, small.view(), x.view()), "check failed");
  EXPECT_DEATH(Subtract(Encoding::kFloat32, small.view(), x.view()), "check failed");
  EXPECT_DEATH(Pull(Encoding::kFloat32, fits.view(), 0.5f, x.view(), small.view()), "check failed");
  EXPECT_DEATH(Pull(Encoding::kFloat32, shifted.view().subspan(4), 0.5f, x.view(), fits.view()),
               "check failed");
}

}  // namespace
}  // namespace covey::tensor::codec_test
