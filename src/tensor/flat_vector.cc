#include "covey/tensor/flat_vector.h"

#include <cstring>
#include <utility>

namespace covey::tensor {
namespace {

constexpr std::size_t kPaddingBytes = 64;

}  // namespace

FlatVector::FlatVector(std::size_t size)
    : memory_(size * sizeof(float) + kPaddingBytes), size_(size) {
  std::memset(memory_.data(), 0, memory_.size());
}

FlatVector FlatVector::Clone() const {
  FlatVector copy(size_);
  if (size_ > 0) std::memcpy(copy.data(), data(), size_ * sizeof(float));
  return copy;
}

std::size_t Layout::Append(std::string name, std::vector<std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  const std::size_t offset = size_;
  slices_.push_back(Slice{std::move(name), std::move(shape), offset, count});
  size_ += count;
  return offset;
}

const Slice* Layout::Find(std::string_view name) const {
  for (const Slice& slice : slices_) {
    if (slice.name == name) return &slice;
  }
  return nullptr;
}

std::string Layout::Describe() const {
  std::string text;
  for (const Slice& slice : slices_) {
    text += slice.name;
    for (const std::size_t extent : slice.shape) text += " " + std::to_string(extent);
    text += "\n";
  }
  return text;
}

}  // namespace covey::tensor
