// Reads bytes twice, with the product's codec and with an independent one: both take or refuse
// them, and both see the same.
#pragma once

#include <cstring>

#include "covey/base/check.h"
#include "covey/wire_pb/codec.h"
#include "support/second_codec.h"

namespace covey::test {

// As a frame, and its body, or all of it, as each structured body.
inline void CompareCodecs(ByteView bytes) {
  const wire_pb::ProtobufCodec codec;

  const Result<wire::Envelope> envelope = wire::Decode(bytes);
  const auto second_envelope = SecondCodec::Header(bytes);
  COVEY_CHECK(envelope.has_value() == second_envelope.has_value());
  if (envelope) COVEY_CHECK(*envelope == *second_envelope);

  // The body of a frame, or all of it.
  const ByteView body = envelope ? bytes.subspan(wire::kEnvelopeSize) : bytes;
  const Result<wire::Hello> hello = codec.DecodeHello(body);
  const auto second_hello = SecondCodec::Hello(body);
  COVEY_CHECK(hello.has_value() == second_hello.has_value());
  if (hello) COVEY_CHECK(*hello == *second_hello);

  const Result<wire::Begin> begin = codec.DecodeBegin(body);
  const auto second_begin = SecondCodec::Begin(body);
  COVEY_CHECK(begin.has_value() == second_begin.has_value());
  if (begin) {
    // Bits, because gamma may be NaN.
    COVEY_CHECK(std::memcmp(&begin->gamma_max, &second_begin->gamma_max, sizeof(float)) == 0);
    COVEY_CHECK(begin->kind == second_begin->kind && begin->encoding == second_begin->encoding);
    COVEY_CHECK(begin->total == second_begin->total && begin->chunk == second_begin->chunk);
    COVEY_CHECK(begin->samples == second_begin->samples);
    COVEY_CHECK(begin->segment == second_begin->segment);
  }

  const Result<wire::Nack> nack = codec.DecodeNack(body);
  const auto second_nack = SecondCodec::Nack(body);
  COVEY_CHECK(nack.has_value() == second_nack.has_value());
  if (nack) COVEY_CHECK(*nack == *second_nack);
}

}  // namespace covey::test
