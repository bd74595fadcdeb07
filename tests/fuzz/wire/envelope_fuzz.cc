// Any bytes: no crash, and what decodes encodes to the same bytes (but for the reserved ones).
#include <cstdint>
#include <cstring>

#include "covey/base/check.h"
#include "covey/wire/envelope.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace covey;
  const ByteView frame(reinterpret_cast<const std::byte*>(data), size);
  const Result<wire::Envelope> envelope = wire::Decode(frame);
  if (!envelope) return 0;
  COVEY_CHECK(size == wire::kEnvelopeSize + envelope->body_length);
  const wire::EnvelopeBytes again = wire::Encode(*envelope);
  COVEY_CHECK(std::memcmp(again.data(), data, 56) == 0);
  return 0;
}
