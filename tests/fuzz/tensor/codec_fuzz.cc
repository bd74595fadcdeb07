// Payloads of every encoding: what passes the gate decodes to finite numbers, is subtracted and
// averaged without harm, and what a reply holds is what x moved by.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "covey/base/check.h"
#include "covey/tensor/codec.h"

namespace {

using covey::AlignedBuffer;
using covey::tensor::Encoding;
using covey::tensor::FlatVector;

constexpr float kBound = 0x1p64f;

FlatVector Ramp(std::size_t n) {
  FlatVector x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.25f * static_cast<float>(i % 7) - 0.5f;
  return x;
}

void PullInto(Encoding sent, covey::ByteView bytes, Encoding replied, std::size_t n) {
  const FlatVector before = Ramp(n);
  FlatVector x = before.Clone();
  AlignedBuffer reply(covey::tensor::EncodedSize(replied, n));
  covey::tensor::Pull({sent, bytes}, 0.5f, x.view(), {replied, reply.view()});
  FlatVector d(n);
  covey::tensor::Decode(replied, reply.view(), d.view());
  for (std::size_t i = 0; i < n; ++i) COVEY_CHECK(x[i] == before[i] + d[i]);
}

}  // namespace

// Input: encoding, size of the vector (2 bytes, little-endian), payload.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto encoding = static_cast<Encoding>(data[0]);
  const std::size_t n = data[1] + 256U * data[2];
  AlignedBuffer payload(size - 3);
  if (size > 3) std::memcpy(payload.data(), data + 3, size - 3);
  if (!covey::tensor::AllFinite(encoding, payload.view(), n)) return 0;
  FlatVector x(n);
  covey::tensor::Decode(encoding, payload.view(), x.view());
  for (const float value : x.view()) COVEY_CHECK(std::isfinite(value) && std::fabs(value) < kBound);
  const FlatVector ramp = Ramp(n);
  FlatVector rest = ramp.Clone();
  covey::tensor::Subtract(encoding, payload.view(), rest.view());
  for (std::size_t i = 0; i < n; ++i) COVEY_CHECK(rest[i] == ramp[i] - x[i]);
  if (!covey::tensor::FitsWeights(encoding)) return 0;
  for (std::uint8_t reply = 0; reply < covey::tensor::kEncodings; ++reply) {
    PullInto(encoding, payload.view(), static_cast<Encoding>(reply), n);
  }
  return 0;
}
