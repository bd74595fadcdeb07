#include "covey/base/bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace covey {
namespace {

ByteView Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32c, PublishedVectors) {
  std::array<std::byte, 32> data;
  data.fill(std::byte{0});
  EXPECT_EQ(Crc32c(data), 0x8a9136aau);
  data.fill(std::byte{0xff});
  EXPECT_EQ(Crc32c(data), 0x62a8ab43u);
  for (std::size_t i = 0; i < 32; ++i) data[i] = static_cast<std::byte>(i);
  EXPECT_EQ(Crc32c(data), 0x46dd794eu);
  for (std::size_t i = 0; i < 32; ++i) data[i] = static_cast<std::byte>(31 - i);
  EXPECT_EQ(Crc32c(data), 0x113fdb5cu);
  EXPECT_EQ(Crc32c(Bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c({}), 0u);
}

// Against the definition, a bit at a time, over lengths around what is worked on at once.
TEST(Crc32c, IsTheDefinitionsAtEveryLength) {
  std::vector<std::byte> bytes;
  std::uint32_t noise = 1;
  std::uint32_t state = ~0U;
  for (std::size_t size = 0; size < 10'000; ++size) {
    if (size < 100 || size % 1024 < 20 || size % 1024 > 1010) {
      ASSERT_EQ(Crc32c(bytes), ~state) << size;
    }
    noise = noise * 1664525 + 1013904223;
    bytes.push_back(static_cast<std::byte>(noise >> 24));
    state ^= noise >> 24;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82F63B78U : 0U);
  }
}

TEST(Crc32c, ContinuesAtEveryCut) {
  std::string text(75, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + 5);
  const std::uint32_t whole = Crc32c(Bytes(text));
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string_view view(text);
    ASSERT_EQ(Crc32c(Bytes(view.substr(cut)), Crc32c(Bytes(view.substr(0, cut)))), whole) << cut;
  }
}

TEST(ByteCount, ParsesEveryUnit) {
  const std::pair<std::string_view, std::uint64_t> cases[] = {
      {"0B", 0},
      {"512B", 512},
      {"10kB", 10000},
      {"64KiB", 65536},
      {"1MB", 1000000},
      {"8MiB", 8388608},
      {"2GB", 2000000000},
      {"2GiB", 2147483648},
      {"0007B", 7},
      {"18446744073709551615B", UINT64_MAX},
      {"17179869183GiB", ((1ull << 34) - 1) << 30}};
  for (const auto& entry : cases) {
    const Result<ByteCount> got = ParseByteCount(entry.first);
    ASSERT_TRUE(got) << entry.first;
    EXPECT_EQ(got->value, entry.second) << entry.first;
  }
}

TEST(ByteCount, RefusesWhatIsNotASize) {
  for (const std::string_view text :
       {"", "B", "64", "64 KiB", "-1B", "+1B", "1.5MiB", "64kib", "64KIB", "0x10B", "1e3B",
        "64KiBs", " 64KiB", "18446744073709551616B", "17179869184GiB",
        "99999999999999999999999B"}) {
    const Result<ByteCount> got = ParseByteCount(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, ErrorCode::kConfig);
    EXPECT_NE(got.error().what.find("'" + std::string(text) + "'"), std::string::npos) << text;
    EXPECT_FALSE(got.error().hint.empty());
  }
}

TEST(ByteCount, FormatIsExactAndParsesBack) {
  EXPECT_EQ(FormatByteCount({0}), "0B");
  EXPECT_EQ(FormatByteCount({1}), "1B");
  EXPECT_EQ(FormatByteCount({1023}), "1023B");
  EXPECT_EQ(FormatByteCount({1024}), "1KiB");
  EXPECT_EQ(FormatByteCount({65537}), "65537B");
  EXPECT_EQ(FormatByteCount({1ull << 20}), "1MiB");
  EXPECT_EQ(FormatByteCount({3ull << 29}), "1536MiB");
  for (const std::uint64_t value : {1ull, 1000ull, 65536ull, 1ull << 40, ~0ull}) {
    EXPECT_EQ(ParseByteCount(FormatByteCount({value})).value().value, value);
  }
}

TEST(LittleEndian, StoresTheLowByteFirstAtAnyAlignment) {
  std::array<std::byte, 16> memory{};
  for (std::size_t offset = 0; offset <= 8; ++offset) {
    StoreLittle<std::uint64_t>(memory.data() + offset, 0x0123456789abcdefull);
    EXPECT_EQ(memory[offset], std::byte{0xef});
    EXPECT_EQ(memory[offset + 7], std::byte{0x01});
    EXPECT_EQ(LoadLittle<std::uint64_t>(memory.data() + offset), 0x0123456789abcdefull);
  }
  StoreLittle<std::uint16_t>(memory.data() + 1, 0xbeef);
  EXPECT_EQ(LoadLittle<std::uint8_t>(memory.data() + 1), 0xef);
  EXPECT_EQ(LoadLittle<std::uint16_t>(memory.data() + 1), 0xbeef);
}

TEST(AlignedBuffer, IsAlignedAndMoves) {
  AlignedBuffer empty;
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_EQ(AlignedBuffer(0).data(), nullptr);
  for (const std::size_t size : {1u, 63u, 64u, 65u, 4096u}) {
    AlignedBuffer buffer(size);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % AlignedBuffer::kAlignment, 0u);
    buffer.data()[size - 1] = std::byte{7};
    const std::byte* at = buffer.data();
    AlignedBuffer moved(std::move(buffer));
    EXPECT_EQ(moved.data(), at);
    EXPECT_EQ(moved.size(), size);
    AlignedBuffer assigned;
    assigned = std::move(moved);
    EXPECT_EQ(assigned.view()[size - 1], std::byte{7});
  }
}

}  // namespace
}  // namespace covey
