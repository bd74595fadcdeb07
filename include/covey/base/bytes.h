// Byte views, sizes with units, and little-endian loads and stores.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey {

using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

// A number of bytes. Arithmetic is explicit through `value`.
struct ByteCount {
  std::uint64_t value = 0;
  auto operator<=>(const ByteCount&) const = default;
};

// Parses "512B", "64KiB", "8MiB", "2GiB", "10kB", "1MB" (integer, unit required).
// Errors: kConfig with what was got and an example.
Result<ByteCount> ParseByteCount(std::string_view text);
// Returns: the shortest exact form with a binary unit ("64KiB"), else bytes ("65537B").
std::string FormatByteCount(ByteCount count);

// Loads and stores of fixed-width unsigned integers, little-endian on every machine, at any
// alignment.
template <class T>
T LoadLittle(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) {
    T swapped = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      swapped = static_cast<T>((swapped << 8) | ((value >> (8 * i)) & 0xff));
    }
    value = swapped;
  }
  return value;
}

template <class T>
void StoreLittle(std::byte* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
  }
}

// A byte buffer aligned to 64 bytes: what messages and model-sized scratch live in.
//
// Thread: const once shared (SharedBuffer), so that a sender and a network thread may hold one
// together.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size);  // content undefined
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer();

  std::size_t size() const { return size_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  MutableByteView view() { return {data_, size_}; }
  ByteView view() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

using SharedBuffer = std::shared_ptr<const AlignedBuffer>;

// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as in RFC 3720 B.4.
// `crc` continues an earlier call; 0 starts.
std::uint32_t Crc32c(ByteView bytes, std::uint32_t crc = 0);

}  // namespace covey
