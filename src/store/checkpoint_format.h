// Parts of the checkpoint format that both its codec and the folder's keeper need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "covey/base/bytes.h"
#include "covey/base/result.h"

namespace covey::store {

inline constexpr std::string_view kMagic = "COVEYCKP";
inline constexpr std::size_t kPrefixBytes = 16;  // magic, version, header length
inline constexpr std::size_t kCrcBytes = 4;

// Returns: where the sections begin, told by the first kPrefixBytes.
// Errors: kData, kProtocol as DecodeCheckpoint.
Result<std::size_t> CheckpointHeaderEnd(ByteView start, const std::string& where);

// Returns: the batch count in the header. `start` reaches at least to CheckpointHeaderEnd.
// Errors: the same, and a wrong checksum.
Result<std::uint64_t> CheckpointBatches(ByteView start, const std::string& where);

}  // namespace covey::store
