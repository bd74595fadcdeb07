// The header of an IDX file: two zero bytes, a type byte, the number of dimensions, and each as u32
// big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

inline constexpr std::size_t kMaxIdxHeaderBytes = 4 + 4 * kMaxIdxDimensions;

// The type of a file's values, as its type byte in IDX files.
enum class IdxType : std::uint8_t {
  kUint8 = 0x08,
  kInt8 = 0x09,
  kInt16 = 0x0B,
  kInt32 = 0x0C,
  kFloat32 = 0x0D,
  kFloat64 = 0x0E,
  // Only in NPY files (npy.h):
  kUint16 = 0x80,
  kUint32,
  kInt64,
  kUint64
};

std::size_t BytesOf(IdxType type);
std::string_view Name(IdxType type);  // "16-bit integer"

struct IdxHeader {
  IdxType type = IdxType::kUint8;
  std::vector<std::size_t> dimensions;  // none of them 0
  bool little = false;                  // little-endian values: NPY
  std::uint64_t header_bytes = 0;
  std::uint64_t file_bytes = 0;  // header and values: what the whole file must have

  std::uint64_t values() const { return (file_bytes - header_bytes) / BytesOf(type); }

  bool operator==(const IdxHeader&) const = default;
};

// `bytes` is the start of the file: kMaxIdxHeaderBytes of it or, if it is shorter, all.
// Errors: kData with `where` and the offset: wrong magic, type or number of dimensions, a dimension
//   of 0, sizes whose product overflows, truncated header.
Result<IdxHeader> ParseIdxHeader(ByteView bytes, const std::string& where);

// "path, byte 4": how the errors of this module name a place in a file.
std::string AtByte(const std::string& where, std::uint64_t offset);
// "28 x 28".
std::string FormatShape(const std::vector<std::size_t>& shape);

}  // namespace covey::data
