// The flat parameter vector and its named slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/bytes.h"

namespace covey::tensor {

using VectorView = std::span<float>;
using ConstVectorView = std::span<const float>;

// A contiguous float32 vector, 64-byte aligned, followed by at least 64 bytes of zero padding that
// kernels may read (never write). Owns its memory.
class FlatVector {
 public:
  FlatVector() = default;
  explicit FlatVector(std::size_t size);  // zeros
  FlatVector(FlatVector&&) noexcept = default;
  FlatVector& operator=(FlatVector&&) noexcept = default;

  FlatVector Clone() const;

  std::size_t size() const { return size_; }
  float* data() { return reinterpret_cast<float*>(memory_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(memory_.data()); }
  VectorView view() { return {data(), size_}; }
  ConstVectorView view() const { return {data(), size_}; }
  float& operator[](std::size_t i) { return data()[i]; }
  float operator[](std::size_t i) const { return data()[i]; }

 private:
  AlignedBuffer memory_;
  std::size_t size_ = 0;
};

// One named part of the flat vector: a tensor in row-major order.
struct Slice {
  std::string name;                // "dense1.weight"
  std::vector<std::size_t> shape;  // {72, 784}
  std::size_t offset = 0;          // floats from the start
  std::size_t size = 0;            // product of shape
};

// The slices of a vector in order, contiguous, without gaps.
class Layout {
 public:
  // Appends a slice behind the others. Returns: its offset.
  std::size_t Append(std::string name, std::vector<std::size_t> shape);

  std::size_t size() const { return size_; }
  const std::vector<Slice>& slices() const { return slices_; }
  const Slice* Find(std::string_view name) const;  // nullptr when there is none

  // One line a slice, "name shape": what the model fingerprint hashes.
  std::string Describe() const;

 private:
  std::vector<Slice> slices_;
  std::size_t size_ = 0;
};

}  // namespace covey::tensor
