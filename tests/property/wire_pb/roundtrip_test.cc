// Whatever is written comes back; whatever is read does not crash, and what it gives is within its
// limits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/wire/envelope.h"
#include "covey/wire_pb/codec.h"

namespace covey::wire_pb {
namespace {

const ProtobufCodec kCodec;

std::string RandomText(Stream& stream, std::size_t most) {
  std::string text(static_cast<std::size_t>(stream.Below(most + 1)), ' ');
  for (char& c : text) c = static_cast<char>(' ' + stream.Below(95));
  return text;
}

template <class Array>
void Fill(Stream& stream, Array& bytes) {
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(stream.Next32());
}

wire::Hello RandomHello(Stream& stream) {
  wire::Hello hello;
  hello.protocol_min = stream.Next32();
  hello.protocol_max = stream.Next32();
  Fill(stream, hello.key.bytes);
  Fill(stream, hello.fleet.bytes);
  Fill(stream, hello.model.bytes);
  hello.session = SessionId{stream.Next64()};
  hello.model_summary = RandomText(stream, wire::kMaxText);
  hello.software = RandomText(stream, wire::kMaxSoftware);
  Fill(stream, hello.normalization.bytes);
  hello.normalization_summary = RandomText(stream, wire::kMaxText);
  Fill(stream, hello.labels.bytes);
  hello.labels_summary = RandomText(stream, wire::kMaxText);
  hello.max_chunk = stream.Next32();
  hello.credit = stream.Next32();
  hello.join = stream.Chance(0.5);
  hello.takes = tensor::EncodingSet::FromBits(stream.Next32());
  return hello;
}

TEST(RoundTrip, Envelopes) {
  Stream stream(1, 0, Purpose::kTest);
  for (int i = 0; i < 500; ++i) {
    wire::Envelope envelope;
    envelope.version = static_cast<std::uint8_t>(1 + stream.Below(255));
    envelope.kind = static_cast<wire::FrameKind>(stream.Below(256));
    envelope.flags = static_cast<std::uint16_t>(stream.Next32());
    envelope.fleet = stream.Next64();
    envelope.session = SessionId{stream.Next64()};
    envelope.exchange = ExchangeId{stream.Next64()};
    envelope.index = stream.Next32();
    envelope.count = stream.Next32();
    envelope.crc = stream.Next32();
    envelope.model = stream.Next64();
    const auto body = static_cast<std::size_t>(stream.Below(100));
    envelope.body_length = static_cast<std::uint32_t>(body);
    const wire::EnvelopeBytes header = wire::Encode(envelope);
    std::vector<std::byte> frame(wire::kEnvelopeSize + body);
    for (std::size_t at = 0; at < header.size(); ++at) frame[at] = header[at];
    const Result<wire::Envelope> decoded = wire::Decode(frame);
    ASSERT_TRUE(decoded.has_value());
    ASSERT_EQ(*decoded, envelope);
  }
}

TEST(RoundTrip, Bodies) {
  Stream stream(2, 0, Purpose::kTest);
  for (int i = 0; i < 500; ++i) {
    const wire::Hello hello = RandomHello(stream);
    ASSERT_EQ(*kCodec.DecodeHello(kCodec.Encode(hello)), hello);
    wire::Begin begin;
    begin.kind = static_cast<consensus::MessageKind>(1 + stream.Below(2));
    begin.encoding = static_cast<tensor::Encoding>(stream.Below(255));
    begin.total = stream.Next64();
    begin.chunk = stream.Next32();
    begin.gamma_max = stream.Uniform(-2.0f, 2.0f);
    begin.samples = stream.Below(~0ULL);
    begin.segment.count = 1 + static_cast<std::uint32_t>(stream.Below(9));
    begin.segment.index = static_cast<std::uint32_t>(stream.Below(9));
    ASSERT_EQ(*kCodec.DecodeBegin(kCodec.Encode(begin)), begin);
    wire::Nack nack;
    nack.reason = static_cast<wire::Reason>(stream.Below(wire::kReasons));
    if (stream.Chance(0.5)) nack.kind = consensus::MessageKind::kDeltas;
    nack.text = RandomText(stream, wire::kMaxText);
    ASSERT_EQ(*kCodec.DecodeNack(kCodec.Encode(nack)), nack);
  }
}

TEST(RoundTrip, DamagedBodiesNeverCrashAndStayWithinLimits) {
  Stream stream(3, 0, Purpose::kTest);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> body = kCodec.Encode(RandomHello(stream));
    const std::uint64_t changes = 1 + stream.Below(4);
    for (std::uint64_t change = 0; change < changes; ++change) {
      body[static_cast<std::size_t>(stream.Below(body.size()))] =
          static_cast<std::byte>(stream.Next32());
    }
    body.resize(static_cast<std::size_t>(stream.Below(body.size() + 1)));
    if (const Result<wire::Hello> hello = kCodec.DecodeHello(body)) {
      ASSERT_LE(hello->model_summary.size(), wire::kMaxText);
      ASSERT_LE(hello->software.size(), wire::kMaxSoftware);
    }
    (void)kCodec.DecodeBegin(body);
    if (const Result<wire::Nack> nack = kCodec.DecodeNack(body)) {
      ASSERT_LT(nack->reason, wire::Reason::kCount);
    }
  }
}

}  // namespace
}  // namespace covey::wire_pb
