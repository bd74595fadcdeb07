// The IDX reader, plain and through gzip: no input may crash it, make it unpack more than its
// header says, or pass with a wrong size.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "covey/base/check.h"
#include "data/convert.h"
#include "data/gunzip.h"
#include "data/idx.h"

namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;

void CheckHeader(const covey::data::IdxHeader& header) {
  COVEY_CHECK(!header.dimensions.empty());
  COVEY_CHECK(header.dimensions.size() <= covey::data::kMaxIdxDimensions);
  std::uint64_t product = covey::data::BytesOf(header.type);
  for (const std::size_t extent : header.dimensions) product *= extent;
  COVEY_CHECK(product > 0 && header.file_bytes == header.header_bytes + product);
}

void Plain(covey::ByteView bytes) {
  const auto header = covey::data::ParseIdxHeader(
      bytes.first(std::min(bytes.size(), covey::data::kMaxIdxHeaderBytes)), "fuzz");
  if (header) {
    CheckHeader(*header);
  } else {
    COVEY_CHECK(header.error().code == covey::ErrorCode::kData && !header.error().what.empty());
  }
}

// A file of any type becomes a copy of exactly the size that was announced, or is refused.
void Converted(covey::ByteView bytes) {
  const auto header = covey::data::ParseIdxHeader(
      bytes.first(std::min(bytes.size(), covey::data::kMaxIdxHeaderBytes)), "fuzz");
  if (!header || header->file_bytes != bytes.size()) return;
  for (const auto use :
       {covey::data::Use::kSamples, covey::data::Use::kLabels, covey::data::Use::kTargets}) {
    const auto element = covey::data::ElementFor(header->type, use);
    std::uint64_t taken = 0;
    const auto take = covey::data::Converting(
        *header, element,
        [&taken](covey::ByteView part) -> covey::Status {
          taken += part.size();
          return {};
        },
        "fuzz");
    bool refused = false;
    for (std::size_t at = 0; at < bytes.size() && !refused; at += 7) {
      refused = !take(bytes.subspan(at, std::min<std::size_t>(7, bytes.size() - at)));
    }
    COVEY_CHECK(refused || taken == covey::data::SizeOfCopy(*header, element));
  }
}

void Gzipped(covey::ByteView bytes) {
  std::size_t at = 0;
  std::uint64_t taken = 0;
  const covey::data::ReadBytes read =
      [&](covey::MutableByteView buffer) -> covey::Result<std::size_t> {
    const std::size_t count = std::min(buffer.size(), bytes.size() - at);
    if (count > 0) std::memcpy(buffer.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
  const covey::data::TakeBytes take = [&](covey::ByteView unpacked) -> covey::Status {
    taken += unpacked.size();
    COVEY_CHECK(taken <= kLimit);
    return {};
  };
  const auto header = covey::data::GunzipIdx(read, take, covey::ByteCount{kLimit}, "fuzz");
  if (!header) return;
  CheckHeader(*header);
  COVEY_CHECK(taken == header->file_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const covey::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  Plain(bytes);
  Converted(bytes);
  Gzipped(bytes);
  return 0;
}
