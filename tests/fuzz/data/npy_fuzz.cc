// The NPY header: no input may crash it, and what it accepts is within its limits.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "data/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const covey::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto header = covey::data::ParseNpyHeader(bytes, "fuzz");
  if (!header) {
    if (header.error().code != covey::ErrorCode::kData || header.error().what.empty()) std::abort();
    return 0;
  }
  std::uint64_t product = covey::data::BytesOf(header->type);
  for (const std::size_t extent : header->dimensions) product *= extent;
  const bool good = !header->dimensions.empty() &&
                    header->dimensions.size() <= covey::data::kMaxIdxDimensions && product > 0 &&
                    header->header_bytes <= size && header->header_bytes % 16 == 0 &&
                    header->file_bytes == header->header_bytes + product;
  if (!good) std::abort();
  return 0;
}
