// Any bytes as each body: no crash, texts within their limits, and what decodes survives another
// round.
#include <cstdint>
#include <cstring>

#include "covey/base/check.h"
#include "covey/wire_pb/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace covey;
  const wire_pb::ProtobufCodec codec;
  const ByteView body(reinterpret_cast<const std::byte*>(data), size);
  if (const Result<wire::Hello> hello = codec.DecodeHello(body)) {
    COVEY_CHECK(size <= wire::kMaxStructuredBody);
    COVEY_CHECK(hello->model_summary.size() <= wire::kMaxText);
    COVEY_CHECK(hello->software.size() <= wire::kMaxSoftware);
    COVEY_CHECK(*codec.DecodeHello(codec.Encode(*hello)) == *hello);
  }
  if (const Result<wire::Begin> begin = codec.DecodeBegin(body)) {
    const Result<wire::Begin> again = codec.DecodeBegin(codec.Encode(*begin));
    // Bits, because gamma may be NaN.
    COVEY_CHECK(std::memcmp(&again->gamma_max, &begin->gamma_max, sizeof(float)) == 0);
    COVEY_CHECK(again->total == begin->total && again->chunk == begin->chunk);
    COVEY_CHECK(again->kind == begin->kind && again->encoding == begin->encoding);
  }
  if (const Result<wire::Nack> nack = codec.DecodeNack(body)) {
    COVEY_CHECK(nack->text.size() <= wire::kMaxText && nack->reason < wire::Reason::kCount);
    COVEY_CHECK(codec.DecodeNack(codec.Encode(*nack))->text == nack->text);
  }
  return 0;
}
