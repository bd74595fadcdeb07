// The product's reader of frames and bodies against an independent one, on bodies that the product
// wrote and what damage makes of them. A difference ends the program.
#include <gtest/gtest.h>

#include "covey/base/random.h"
#include "support/compare_codecs.h"

namespace covey::wire_pb {
namespace {

constexpr int kRuns = 4000;

std::string DrawText(Stream& stream) {
  std::string text(static_cast<std::size_t>(stream.Below(40)), ' ');
  for (char& c : text) c = static_cast<char>(stream.Below(256));
  return text;
}

template <class Array>
void Draw(Stream& stream, Array& array) {
  for (auto& byte : array) byte = static_cast<std::uint8_t>(stream.Below(256));
}

std::vector<std::byte> DrawBody(Stream& stream, const ProtobufCodec& codec) {
  const std::uint64_t which = stream.Below(3);
  if (which == 0) {
    wire::Hello hello;
    Draw(stream, hello.key.bytes);
    Draw(stream, hello.fleet.bytes);
    Draw(stream, hello.model.bytes);
    if (stream.Chance(0.5)) Draw(stream, hello.labels.bytes);
    hello.session.value = stream.Next64();
    hello.model_summary = DrawText(stream);
    hello.software = DrawText(stream);
    hello.credit = static_cast<std::uint32_t>(stream.Next64());
    hello.join = stream.Chance(0.5);
    return codec.Encode(hello);
  }
  if (which == 1) {
    wire::Begin begin;
    begin.kind = static_cast<consensus::MessageKind>(stream.Below(4));
    begin.encoding = static_cast<tensor::Encoding>(stream.Below(8));
    begin.total = stream.Next64() >> stream.Below(64);
    begin.chunk = static_cast<std::uint32_t>(stream.Next64() >> stream.Below(64));
    begin.samples = stream.Next64() >> stream.Below(64);
    begin.segment.index = static_cast<std::uint32_t>(stream.Below(4));
    begin.segment.count = static_cast<std::uint32_t>(stream.Below(4));
    return codec.Encode(begin);
  }
  wire::Nack nack;
  nack.reason = static_cast<wire::Reason>(stream.Below(40));
  if (stream.Chance(0.5)) nack.kind = consensus::MessageKind::kDeltas;
  nack.text = DrawText(stream);
  return codec.Encode(nack);
}

void Damage(Stream& stream, std::vector<std::byte>& bytes) {
  for (std::uint64_t i = stream.Below(4); i > 0 && !bytes.empty(); --i) {
    const auto at = static_cast<std::ptrdiff_t>(stream.Below(bytes.size()));
    switch (stream.Below(4)) {
      case 0:
        bytes[static_cast<std::size_t>(at)] = static_cast<std::byte>(stream.Below(256));
        break;
      case 1:
        bytes.erase(bytes.begin() + at);
        break;
      case 2:
        bytes.insert(bytes.begin() + at, static_cast<std::byte>(stream.Below(256)));
        break;
      default:
        bytes.resize(static_cast<std::size_t>(at));
    }
  }
}

TEST(TwoCodecs, SeeTheSameInBodiesAndWhatDamageMakesOfThem) {
  const ProtobufCodec codec;
  Stream stream(11, 0, Purpose::kTest);
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::byte> body = DrawBody(stream, codec);
    if (run % 4 != 0) Damage(stream, body);
    test::CompareCodecs(body);
  }
}

TEST(TwoCodecs, SeeTheSameInFrames) {
  const ProtobufCodec codec;
  Stream stream(12, 0, Purpose::kTest);
  for (int run = 0; run < kRuns; ++run) {
    const std::vector<std::byte> body = DrawBody(stream, codec);
    wire::Envelope envelope;
    envelope.version = static_cast<std::uint8_t>(stream.Below(3));
    envelope.kind = static_cast<wire::FrameKind>(stream.Below(12));
    envelope.flags = static_cast<std::uint16_t>(stream.Below(65536));
    envelope.fleet = stream.Next64();
    envelope.session.value = stream.Next64();
    envelope.exchange.value = stream.Next64();
    envelope.index = static_cast<std::uint32_t>(stream.Next64());
    envelope.count = static_cast<std::uint32_t>(stream.Next64());
    envelope.model = stream.Next64();
    envelope.body_length = static_cast<std::uint32_t>(body.size());
    const wire::EnvelopeBytes header = wire::Encode(envelope);
    std::vector<std::byte> frame(header.begin(), header.end());
    frame.insert(frame.end(), body.begin(), body.end());
    if (run % 2 != 0) Damage(stream, frame);
    test::CompareCodecs(frame);
  }
}

TEST(TwoCodecs, SeeTheSameInGroupsOfAnyDepth) {
  for (const std::size_t depth : {1u, 99u, 100u, 101u, 2000u}) {
    std::vector<std::byte> body;  // fields number 20
    for (std::size_t i = 0; i < depth; ++i) {
      body.push_back(std::byte{0xa3});
      body.push_back(std::byte{0x01});
    }
    for (std::size_t i = 0; i < depth && body.size() < 4096; ++i) {
      body.push_back(std::byte{0xa4});
      body.push_back(std::byte{0x01});
    }
    test::CompareCodecs(body);
  }
}

}  // namespace
}  // namespace covey::wire_pb
