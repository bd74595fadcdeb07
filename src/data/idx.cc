#include "data/idx.h"

#include <algorithm>
#include <limits>

namespace covey::data {
namespace {

unsigned At(ByteView bytes, std::size_t i) { return std::to_integer<unsigned>(bytes[i]); }

std::string HexByte(unsigned value) {
  constexpr char kDigits[] = "0123456789abcdef";
  return std::string("0x") + kDigits[(value >> 4) & 15] + kDigits[value & 15];
}

bool IsType(unsigned byte) {
  return byte == 0x08 || byte == 0x09 || (byte >= 0x0B && byte <= 0x0E);
}

Status CheckMagic(ByteView bytes, const std::string& where) {
  if (bytes.size() < 4) {
    return Fail(ErrorCode::kData, AtByte(where, bytes.size()),
                "the file ends inside its IDX header: got " + std::to_string(bytes.size()) +
                    " bytes, wanted at least 4",
                "copy or download the file again");
  }
  if (At(bytes, 0) != 0 || At(bytes, 1) != 0) {
    return Fail(ErrorCode::kData, AtByte(where, 0),
                "not an IDX file: it starts with " + HexByte(At(bytes, 0)) + " " +
                    HexByte(At(bytes, 1)) + ", wanted 0x00 0x00 (or 0x1f 0x8b for gzip)",
                "give the path of an IDX file such as train-images-idx3-ubyte.gz");
  }
  if (!IsType(At(bytes, 2))) {
    return Fail(ErrorCode::kData, AtByte(where, 2),
                "values of unknown type " + HexByte(At(bytes, 2)) +
                    ", wanted 0x08 or 0x09 (bytes), 0x0b (16-bit integers), 0x0c (32-bit "
                    "integers), 0x0d (floats) or 0x0e (doubles)",
                "the header is damaged: copy or download the file again");
  }
  const std::size_t count = At(bytes, 3);
  if (count == 0 || count > kMaxIdxDimensions) {
    return Fail(
        ErrorCode::kData, AtByte(where, 3),
        std::to_string(count) + " dimensions, wanted 1 to " + std::to_string(kMaxIdxDimensions));
  }
  return {};
}

}  // namespace

std::size_t BytesOf(IdxType type) {
  switch (type) {
    case IdxType::kUint8:
    case IdxType::kInt8:
      return 1;
    case IdxType::kInt16:
    case IdxType::kUint16:
      return 2;
    case IdxType::kInt32:
    case IdxType::kUint32:
    case IdxType::kFloat32:
      return 4;
    case IdxType::kFloat64:
    case IdxType::kInt64:
    case IdxType::kUint64:
      break;
  }
  return 8;
}

std::string_view Name(IdxType type) {
  switch (type) {
    case IdxType::kUint8:
      return "unsigned byte";
    case IdxType::kInt8:
      return "signed byte";
    case IdxType::kInt16:
      return "16-bit integer";
    case IdxType::kInt32:
      return "32-bit integer";
    case IdxType::kFloat32:
      return "float";
    case IdxType::kUint16:
      return "unsigned 16-bit integer";
    case IdxType::kUint32:
      return "unsigned 32-bit integer";
    case IdxType::kInt64:
      return "64-bit integer";
    case IdxType::kUint64:
      return "unsigned 64-bit integer";
    case IdxType::kFloat64:
      break;
  }
  return "double";
}

std::string AtByte(const std::string& where, std::uint64_t offset) {
  return where + ", byte " + std::to_string(offset);
}

std::string FormatShape(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

Result<IdxHeader> ParseIdxHeader(ByteView bytes, const std::string& where) {
  if (const Status magic = CheckMagic(bytes, where); !magic) {
    return tl::unexpected<Error>(magic.error());
  }
  const std::size_t count = At(bytes, 3);
  IdxHeader header;
  header.type = static_cast<IdxType>(At(bytes, 2));
  header.header_bytes = 4 + 4 * count;
  if (bytes.size() < header.header_bytes) {
    return Fail(ErrorCode::kData, AtByte(where, bytes.size()),
                "the file ends inside its IDX header: got " + std::to_string(bytes.size()) +
                    " bytes, wanted " + std::to_string(header.header_bytes),
                "copy or download the file again");
  }
  // Below 2^63, so that sums with the header and comparisons with off_t are safe.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() - kMaxIdxHeaderBytes;
  std::uint64_t product = BytesOf(header.type);
  for (std::size_t d = 0; d < count; ++d) {
    const std::size_t at = 4 + 4 * d;
    const std::uint64_t extent = (std::uint64_t{At(bytes, at)} << 24) | (At(bytes, at + 1) << 16) |
                                 (At(bytes, at + 2) << 8) | At(bytes, at + 3);
    if (extent == 0) {
      return Fail(ErrorCode::kData, AtByte(where, at),
                  "dimension " + std::to_string(d) + " is 0: the file holds no values");
    }
    header.dimensions.push_back(extent);
    if (product > kMost / extent) {
      return Fail(
          ErrorCode::kData, AtByte(where, at),
          "dimensions " + FormatShape(header.dimensions) + " multiply to more than 2^63 bytes",
          "the header is damaged: copy or download the file again");
    }
    product *= extent;
  }
  header.file_bytes = header.header_bytes + product;
  return header;
}

}  // namespace covey::data
