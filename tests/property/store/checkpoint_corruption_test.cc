// Every truncation, every flipped header bit and thousands of flipped payload bits: a damaged file
// is never loaded.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "covey/base/random.h"
#include "covey/store/checkpoint.h"
#include "store/checkpoint_format.h"
#include "unit/store/sample_checkpoint.h"

namespace covey::store {
namespace {

AlignedBuffer Encoded(std::size_t size) {
  Checkpoint checkpoint = test::SampleCheckpoint();
  checkpoint.x = test::Values(size, 2);
  Result<AlignedBuffer> bytes = EncodeCheckpoint(checkpoint);
  EXPECT_TRUE(bytes);
  return std::move(*bytes);
}

bool Loads(ByteView bytes) { return DecodeCheckpoint(bytes, "test").has_value(); }

TEST(CheckpointCorruption, TheUndamagedFileLoads) {
  EXPECT_TRUE(Loads(Encoded(50).view()));
  EXPECT_TRUE(Loads(Encoded(1).view()));
}

TEST(CheckpointCorruption, EveryTruncationIsRefused) {
  const AlignedBuffer file = Encoded(50);
  for (std::size_t size = 0; size < file.size(); ++size) {
    // A buffer of its own, so that a sanitizer sees any read beyond its end.
    AlignedBuffer cut(size);
    if (size > 0) std::memcpy(cut.data(), file.data(), size);
    ASSERT_FALSE(Loads(cut.view())) << size;
  }
}

TEST(CheckpointCorruption, EveryTruncationAtAPageIsRefused) {
  const AlignedBuffer file = Encoded(20000);
  for (std::size_t size = 0; size < file.size(); size += 4096) {
    ASSERT_FALSE(Loads(file.view().first(size))) << size;
  }
}

TEST(CheckpointCorruption, EveryFlippedBitOfTheHeaderIsRefused) {
  AlignedBuffer file = Encoded(50);
  const std::size_t end = *CheckpointHeaderEnd(file.view(), "test");
  for (std::size_t bit = 0; bit < 8 * end; ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    file.data()[bit / 8] ^= mask;
    ASSERT_FALSE(Loads(file.view())) << "bit " << bit;
    file.data()[bit / 8] ^= mask;
  }
  EXPECT_TRUE(Loads(file.view()));
}

TEST(CheckpointCorruption, FlippedPayloadBitsAreRefused) {
  AlignedBuffer file = Encoded(50);
  const std::size_t end = *CheckpointHeaderEnd(file.view(), "test");
  Stream random(1, 0, Purpose::kTest);
  for (int i = 0; i < 10000; ++i) {
    const std::size_t at = end + random.Below(file.size() - end);
    const std::byte mask{static_cast<unsigned char>(1u << random.Below(8))};
    file.data()[at] ^= mask;
    ASSERT_FALSE(Loads(file.view())) << at;
    file.data()[at] ^= mask;
  }
}

TEST(CheckpointCorruption, ZeroedPagesAreRefused) {
  const AlignedBuffer file = Encoded(20000);
  for (std::size_t at = 0; at + 4096 <= file.size(); at += 4096) {
    AlignedBuffer damaged(file.size());
    std::memcpy(damaged.data(), file.data(), file.size());
    std::memset(damaged.data() + at, 0, 4096);
    ASSERT_FALSE(Loads(damaged.view())) << at;
  }
}

TEST(CheckpointCorruption, AppendedBytesAreRefused) {
  const AlignedBuffer file = Encoded(50);
  for (const std::size_t more : {1u, 4u, 4096u}) {
    AlignedBuffer longer(file.size() + more);
    std::memset(longer.data(), 0, longer.size());
    std::memcpy(longer.data(), file.data(), file.size());
    ASSERT_FALSE(Loads(longer.view())) << more;
  }
}

TEST(CheckpointCorruption, SectionsOfTwoFilesDontMix) {
  AlignedBuffer mixed = Encoded(50);
  Checkpoint other = test::SampleCheckpoint();
  other.x = test::Values(50, 3);
  const Result<AlignedBuffer> second = EncodeCheckpoint(other);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->size(), mixed.size());
  const std::size_t end = *CheckpointHeaderEnd(mixed.view(), "test");
  std::memcpy(mixed.data() + end, second->data() + end, second->size() - end);
  EXPECT_FALSE(Loads(mixed.view()));
}

}  // namespace
}  // namespace covey::store
