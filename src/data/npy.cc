#include "data/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace covey::data {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

tl::unexpected<Error> BadNpy(const std::string& where, std::uint64_t offset, std::string what,
                             std::string hint) {
  return Fail(ErrorCode::kData, AtByte(where, offset), std::move(what), std::move(hint));
}

// Returns: the text behind 'key': up to what ends it, or nothing.
std::optional<std::string_view> ValueOf(std::string_view dictionary, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const std::size_t at = dictionary.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view value = dictionary.substr(at + quoted.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

std::optional<IdxType> NpyTypeOf(std::string_view code) {
  constexpr std::pair<std::string_view, IdxType> kTypes[] = {
      {"u1", IdxType::kUint8},   {"b1", IdxType::kUint8},  {"i1", IdxType::kInt8},
      {"i2", IdxType::kInt16},   {"u2", IdxType::kUint16}, {"i4", IdxType::kInt32},
      {"u4", IdxType::kUint32},  {"i8", IdxType::kInt64},  {"u8", IdxType::kUint64},
      {"f4", IdxType::kFloat32}, {"f8", IdxType::kFloat64}};
  for (const auto& type : kTypes) {
    if (type.first == code) return type.second;
  }
  return std::nullopt;
}

// Reads "(100, 28)" into the header's dimensions. Returns: what is wrong, or an empty text.
std::string ReadShape(std::string_view text, IdxHeader& header) {
  if (text.empty() || text[0] != '(') return "no shape";
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() - kMaxNpyHeaderBytes;
  std::uint64_t product = BytesOf(header.type);
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  while (true) {
    while (at < end && (*at == ' ' || *at == ',')) ++at;
    if (at == end) return "a shape that does not end";
    if (*at == ')') break;
    std::uint64_t extent = 0;
    const std::from_chars_result got = std::from_chars(at, end, extent);
    if (got.ec != std::errc() || extent > std::numeric_limits<std::uint32_t>::max()) {
      return "an extent that is no number below 2^32";
    }
    at = got.ptr;
    if (extent == 0) return "a dimension of 0: the file holds no values";
    header.dimensions.push_back(static_cast<std::size_t>(extent));
    if (header.dimensions.size() > kMaxIdxDimensions) return "too many dimensions, wanted 1 to 8";
    if (product > kMost / extent) {
      return "dimensions " + FormatShape(header.dimensions) + " multiply to more than 2^63 bytes";
    }
    product *= extent;
  }
  if (header.dimensions.empty()) return "a single number, wanted one dimension or more";
  header.file_bytes = header.header_bytes + product;
  return {};
}

}  // namespace

bool IsNpy(ByteView start) {
  return start.size() >= kNpyMagic.size() &&
         std::memcmp(start.data(), kNpyMagic.data(), kNpyMagic.size()) == 0;
}

Result<IdxHeader> ParseNpyHeader(ByteView bytes, const std::string& where) {
  const std::string again = "write it with numpy.save, or copy the file again";
  if (!IsNpy(bytes) || bytes.size() < 12) {
    return BadNpy(where, 0, "the file ends inside its NPY header", again);
  }
  const auto byte = [bytes](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    return BadNpy(where, 6, "NPY version " + std::to_string(version) + ", wanted 1 to 3", again);
  }
  const std::size_t first = version == 1 ? 10 : 12;
  std::size_t size = byte(8) | byte(9) << 8;
  if (version > 1) size |= byte(10) << 16 | byte(11) << 24;
  IdxHeader header;
  header.header_bytes = first + size;
  if (header.header_bytes % 16 != 0) {
    return BadNpy(
        where, 8,
        "a header of " + std::to_string(header.header_bytes) + " bytes, wanted a multiple of 16",
        again);
  }
  if (header.header_bytes > kMaxNpyHeaderBytes || header.header_bytes > bytes.size()) {
    return BadNpy(where, 8,
                  "a header of " + std::to_string(size) + " bytes, wanted at most " +
                      std::to_string(std::min(bytes.size(), kMaxNpyHeaderBytes) - first),
                  again);
  }
  const std::string_view dictionary(reinterpret_cast<const char*>(bytes.data()) + first, size);
  const auto descr = ValueOf(dictionary, "descr");
  const auto order = ValueOf(dictionary, "fortran_order");
  const auto shape = ValueOf(dictionary, "shape");
  if (!descr || !order || !shape) {
    return BadNpy(where, first, "no descr, fortran_order or shape in the header", again);
  }
  // '<f4': quote, order of bytes, kind and size, quote.
  const std::string_view code = descr->substr(0, 5);
  const bool quoted = code.size() == 5 && code[0] == '\'' && code[4] == '\'';
  const auto type = quoted ? NpyTypeOf(code.substr(2, 2)) : std::nullopt;
  if (!type || (code[1] != '<' && code[1] != '>' && code[1] != '|')) {
    return BadNpy(where, first,
                  "values of type " + std::string(descr->substr(0, descr->find(','))) +
                      ", wanted whole numbers, float32 or float64",
                  "convert it: array.astype('float32')");
  }
  header.type = *type;
  header.little = code[1] != '>';
  if (!order->starts_with("False")) {
    return BadNpy(where, first, "an array in Fortran's order",
                  "save numpy.ascontiguousarray(array)");
  }
  const std::string wrong = ReadShape(*shape, header);
  if (!wrong.empty()) return BadNpy(where, first, wrong, again);
  return header;
}

}  // namespace covey::data
