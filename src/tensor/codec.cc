#include "covey/tensor/codec.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "covey/base/check.h"
#include "tensor/passes.h"

namespace covey::tensor {
namespace {

static_assert(std::endian::native == std::endian::little,
              "payloads are little-endian floats; a big-endian machine needs a swapping codec");

constexpr std::size_t kAlignment = 64;

bool Aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kAlignment == 0;
}

void CheckSize(Encoding encoding, std::size_t bytes, std::size_t n) {
  COVEY_CHECK(IsKnown(encoding), encoding);
  COVEY_CHECK(bytes == EncodedSize(encoding, n), bytes, n);
}

}  // namespace

bool IsKnown(Encoding encoding) { return encoding == Encoding::kFloat32; }

std::string_view Name(Encoding encoding) {
  return encoding == Encoding::kFloat32 ? "f32" : "unknown";
}

std::size_t EncodedSize(Encoding encoding, std::size_t n) {
  COVEY_CHECK(IsKnown(encoding), encoding);
  return n * sizeof(float);
}

void Encode(Encoding encoding, ConstVectorView x, MutableByteView out) {
  CheckSize(encoding, out.size(), x.size());
  if (!x.empty()) std::memcpy(out.data(), x.data(), out.size());
}

void Decode(Encoding encoding, ByteView bytes, VectorView x) {
  CheckSize(encoding, bytes.size(), x.size());
  if (!x.empty()) std::memcpy(x.data(), bytes.data(), bytes.size());
}

void Pull(Encoding encoding, ByteView q, float gamma, VectorView x, MutableByteView reply) {
  CheckSize(encoding, q.size(), x.size());
  CheckSize(encoding, reply.size(), x.size());
  COVEY_CHECK(Aligned(q.data()) && Aligned(reply.data()));
  PullFloats(reinterpret_cast<const float*>(q.data()), gamma, x.size(), x.data(),
             reinterpret_cast<float*>(reply.data()));
}

void Subtract(Encoding encoding, ByteView d, VectorView x) {
  CheckSize(encoding, d.size(), x.size());
  COVEY_CHECK(reinterpret_cast<std::uintptr_t>(d.data()) % alignof(float) == 0);
  SubtractFloats(reinterpret_cast<const float*>(d.data()), x.size(), x.data());
}

bool AllFinite(Encoding encoding, ByteView bytes) {
  COVEY_CHECK(IsKnown(encoding), encoding);
  if (bytes.size() % sizeof(float) != 0) return false;
  COVEY_CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0);
  return BoundedFloats(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
}

}  // namespace covey::tensor
