// The checkpoint reader. Checksums would stop nearly every input at the door, so half of the work
// happens with them put right.
#include <cstdint>
#include <cstring>
#include <vector>

#include "covey/base/check.h"
#include "covey/base/sha256.h"
#include "covey/store/checkpoint.h"
#include "store/checkpoint_format.h"

namespace {

void Decode(covey::ByteView bytes) {
  const auto checkpoint = covey::store::DecodeCheckpoint(bytes, "fuzz");
  if (!checkpoint) {
    COVEY_CHECK(!checkpoint.error().what.empty());
    return;
  }
  COVEY_CHECK(checkpoint->x.size() > 0);
  // What was read can be written, and reads the same.
  const auto again = covey::store::EncodeCheckpoint(*checkpoint);
  COVEY_CHECK(again.has_value());
  const auto second = covey::store::DecodeCheckpoint(again->view(), "fuzz");
  COVEY_CHECK(second.has_value() && second->batches == checkpoint->batches &&
              second->x.size() == checkpoint->x.size());
}

// Sets the checksum of the header and the trailer to what the content says.
void Repair(std::vector<std::byte>& bytes) {
  const auto end = covey::store::CheckpointHeaderEnd(bytes, "fuzz");
  if (!end || bytes.size() < *end + 32) return;
  const std::size_t sum_at = *end - covey::store::kCrcBytes;
  covey::StoreLittle(&bytes[sum_at], covey::Crc32c(covey::ByteView(bytes).first(sum_at)));
  const covey::Digest digest = covey::Sha256::Of(covey::ByteView(bytes).first(bytes.size() - 32));
  std::memcpy(&bytes[bytes.size() - 32], digest.bytes.data(), 32);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(begin, begin + size);
  Decode(bytes);
  Repair(bytes);
  Decode(bytes);
  return 0;
}
