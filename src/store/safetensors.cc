#include "covey/store/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "covey/base/check.h"
#include "store/floats.h"

namespace covey::store {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";
constexpr ByteCount kMaxModelFileBytes{std::uint64_t{64} << 30};

tl::unexpected<Error> Bad(const std::string& where, std::string what) {
  return Fail(ErrorCode::kData, where, "not a usable safetensors file: " + std::move(what));
}

// Parses JSON whose nesting is what the format needs and whose keys are distinct (the parser would
// silently keep one of two).
Result<Json> ParseHeader(std::string_view text, const std::string& where) {
  constexpr int kDeepest = 3;  // header { tensor { shape [ number
  std::vector<std::set<std::string>> keys;
  std::string problem;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kDeepest) problem = "its header is nested too deep";
    if (!problem.empty()) return false;  // before `keys` grows with the depth
    if (event == Json::parse_event_t::object_start) {
      keys.resize(static_cast<std::size_t>(depth) + 1);
      keys.back().clear();
    } else if (event == Json::parse_event_t::key) {
      keys.resize(static_cast<std::size_t>(depth));
      const auto& name = value.get_ref<const std::string&>();
      if (!keys.back().insert(name).second) problem = "the name '" + name + "' appears twice";
    }
    return problem.empty();
  };
  Json header = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (!problem.empty()) return Bad(where, problem);
  if (header.is_discarded()) return Bad(where, "its header is not JSON");
  if (!header.is_object()) return Bad(where, "its header is not a JSON object");
  return header;
}

struct Entry {
  std::string name;
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Returns: the numbers, or an empty optional when it isn't a list of non-negative whole numbers.
bool ReadNumbers(const Json& list, std::vector<std::uint64_t>& numbers) {
  if (!list.is_array()) return false;
  for (const Json& number : list) {
    if (!number.is_number_unsigned()) return false;
    numbers.push_back(number.get<std::uint64_t>());
  }
  return true;
}

Result<Entry> ReadEntry(const std::string& name, const Json& value, const std::string& where) {
  const std::string tensor = "tensor '" + name + "' ";
  if (!value.is_object()) return Bad(where, tensor + "is not a JSON object");
  for (const auto& item : value.items()) {
    if (item.key() != "dtype" && item.key() != "shape" && item.key() != "data_offsets") {
      return Bad(where, tensor + "has the unknown key '" + item.key() + "'");
    }
  }
  if (value.size() != 3) return Bad(where, tensor + "lacks dtype, shape or data_offsets");
  const Json& type = value["dtype"];
  if (!type.is_string() || type.get_ref<const std::string&>() != "F32") {
    return Bad(where, tensor + "has dtype " +
                          type.dump(-1, ' ', true, Json::error_handler_t::replace) +
                          ", wanted \"F32\"");
  }
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;
  if (!ReadNumbers(value["shape"], shape)) {
    return Bad(where, tensor + "has a shape that is not a list of whole numbers");
  }
  if (!ReadNumbers(value["data_offsets"], offsets) || offsets.size() != 2 ||
      offsets[0] > offsets[1]) {
    return Bad(where, tensor + "has data_offsets that are not two ascending whole numbers");
  }
  // As the reference reader does: a product that overflows is refused even when a later extent is
  // 0.
  std::uint64_t bytes = sizeof(float);
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return Bad(where, tensor + "has a shape that multiplies to more than 2^64 bytes");
    }
  }
  if (offsets[1] - offsets[0] != bytes) {
    return Bad(where, tensor + "has " + std::to_string(offsets[1] - offsets[0]) +
                          " bytes, wanted " + std::to_string(bytes) + " for its shape");
  }
  Entry entry;
  entry.name = name;
  entry.shape.assign(shape.begin(), shape.end());
  entry.begin = offsets[0];
  entry.end = offsets[1];
  return entry;
}

Result<Metadata> ReadMetadata(const Json& value, const std::string& where) {
  Metadata metadata;
  if (!value.is_object()) return Bad(where, "__metadata__ is not a JSON object");
  for (const auto& item : value.items()) {
    if (!item.value().is_string()) {
      return Bad(where, "__metadata__ '" + item.key() + "' is not a string");
    }
    metadata[item.key()] = item.value().get<std::string>();
  }
  return metadata;
}

// Sorted by place, the tensors must cover the data exactly.
Status CheckCover(std::vector<Entry>& entries, std::uint64_t size, const std::string& where) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) {
      return Bad(where, "tensor '" + entry.name + "' begins at byte " +
                            std::to_string(entry.begin) + " of the data, wanted " +
                            std::to_string(at));
    }
    at = entry.end;
  }
  if (at != size) {
    return Bad(where, std::to_string(size) + " bytes of data, wanted " + std::to_string(at));
  }
  return {};
}

Result<Json> HeaderOf(ByteView bytes, const std::string& where) {
  if (bytes.size() < kLengthBytes) {
    return Bad(where, std::to_string(bytes.size()) + " bytes, wanted 8 or more");
  }
  const auto length = LoadLittle<std::uint64_t>(bytes.data());
  if (length > kMaxSafetensorsHeader.value || length > bytes.size() - kLengthBytes) {
    return Bad(where, "a header of " + std::to_string(length) + " bytes in a file of " +
                          std::to_string(bytes.size()));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data() + kLengthBytes),
                              static_cast<std::size_t>(length));
  if (!text.starts_with('{')) return Bad(where, "its header doesn't start with {");
  return ParseHeader(text, where);
}

}  // namespace

AlignedBuffer EncodeSafetensors(const tensor::Layout& layout, tensor::ConstVectorView values,
                                const Metadata& metadata) {
  COVEY_CHECK(values.size() == layout.size(), values.size(), layout.size());
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
  for (const tensor::Slice& slice : layout.slices()) {
    COVEY_CHECK(!header.contains(slice.name) && slice.name != kMetadataKey, slice.name);
    const std::size_t begin = slice.offset * sizeof(float);
    Json entry = Json::object();
    entry["dtype"] = "F32";
    entry["shape"] = slice.shape;
    entry["data_offsets"] = {begin, begin + slice.size * sizeof(float)};
    header[slice.name] = std::move(entry);
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  AlignedBuffer file(kLengthBytes + text.size() + values.size_bytes());
  StoreLittle(file.data(), std::uint64_t{text.size()});
  std::memcpy(file.data() + kLengthBytes, text.data(), text.size());
  StoreFloats(values, file.data() + kLengthBytes + text.size());
  return file;
}

Status WriteSafetensors(const std::string& path, const tensor::Layout& layout,
                        tensor::ConstVectorView values, const Metadata& metadata,
                        FileSystem& files) {
  WriteOptions options;
  options.mode = 0644;
  return WriteAtomically(path, EncodeSafetensors(layout, values, metadata).view(), options, files);
}

Result<Tensors> DecodeSafetensors(ByteView bytes, const std::string& where) {
  const Result<Json> header = HeaderOf(bytes, where);
  if (!header) return tl::unexpected<Error>(header.error());
  Tensors tensors;
  std::vector<Entry> entries;
  for (const auto& item : header->items()) {
    if (item.key() == kMetadataKey) {
      Result<Metadata> metadata = ReadMetadata(item.value(), where);
      if (!metadata) return tl::unexpected<Error>(metadata.error());
      tensors.metadata = std::move(*metadata);
      continue;
    }
    Result<Entry> entry = ReadEntry(item.key(), item.value(), where);
    if (!entry) return tl::unexpected<Error>(entry.error());
    entries.push_back(std::move(*entry));
  }
  const std::size_t start =
      kLengthBytes + static_cast<std::size_t>(LoadLittle<std::uint64_t>(bytes.data()));
  if (const Status cover = CheckCover(entries, bytes.size() - start, where); !cover) {
    return tl::unexpected<Error>(cover.error());
  }
  for (Entry& entry : entries) {
    tensors.layout.Append(std::move(entry.name), std::move(entry.shape));
  }
  tensors.values = tensor::FlatVector(tensors.layout.size());
  LoadFloats(bytes.data() + start, tensors.values.view());
  if (const std::size_t bad = FirstNotFinite(tensors.values.view()); bad < tensors.values.size()) {
    return Bad(where, "value " + std::to_string(bad) + " is not finite");
  }
  return tensors;
}

Result<Tensors> ReadSafetensors(const std::string& path) {
  const Result<AlignedBuffer> bytes = ReadFile(path, kMaxModelFileBytes);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  return DecodeSafetensors(bytes->view(), path);
}

}  // namespace covey::store
