// How buffers by feature are padded.
#pragma once

#include <cstddef>

namespace covey::tensor {

inline constexpr std::size_t kBatchAlignment = 16;  // one vector of the widest level

// Returns: columns of a buffer by feature for a batch.
constexpr std::size_t PaddedBatch(std::size_t batch) {
  return (batch + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
}

}  // namespace covey::tensor
