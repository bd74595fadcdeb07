// A mini-batch of samples that still lie in their data set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace covey::tensor {

enum class Element : std::uint8_t { kUint8, kInt16, kFloat32 };  // in the machine's byte order

constexpr std::size_t BytesOf(Element element) {
  return element == Element::kUint8 ? 1 : element == Element::kInt16 ? 2 : 4;
}

// Equation: value of feature f of sample b = rows[b][f] * scale + offset.
// Shapes: PaddedBatch(batch) pointers to rows of features elements each (past the batch: any
// readable row). Rows are at any alignment and not followed by padding.
struct RowInput {
  const std::uint8_t* const* rows = nullptr;
  Element element = Element::kUint8;
  float scale = 1;
  float offset = 0;
};

}  // namespace covey::tensor
