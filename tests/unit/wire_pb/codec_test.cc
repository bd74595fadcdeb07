#include "covey/wire_pb/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace covey::wire_pb {
namespace {

const ProtobufCodec kCodec;

std::string Hex(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

wire::Hello ExampleHello() {
  wire::Hello hello;
  hello.protocol_min = 1;
  hello.protocol_max = 2;
  hello.key.bytes.fill(0x11);
  hello.session = SessionId{0x1817161514131211};
  hello.fleet.bytes.fill(0x22);
  hello.model.bytes.fill(0x33);
  hello.model_summary = "mlp";
  hello.max_chunk = 4096;
  hello.credit = 8;
  hello.join = true;
  hello.software = "covey";
  return hello;
}

// Recorded: these bytes must decode for ever.
std::string GoldenOfFirstVersion() {
  return "08011002"
         "1a20" +
         Repeat("11", 32) +
         "211112131415161718"
         "2a20" +
         Repeat("22", 32) + "3220" + Repeat("33", 32) +
         "3a036d6c70"
         "408020"
         "4808"
         "5001"
         "5a05636f766579";
}

TEST(ProtobufCodec, GoldenHello) {
  EXPECT_EQ(Hex(kCodec.Encode(ExampleHello())), GoldenOfFirstVersion() + "80011f");
}

TEST(ProtobufCodec, AHelloThatNamesNoEncodingsReadsFloat32) {
  std::vector<std::byte> body = kCodec.Encode(ExampleHello());
  body.resize(body.size() - 3);
  ASSERT_EQ(Hex(body), GoldenOfFirstVersion());
  const Result<wire::Hello> hello = kCodec.DecodeHello(body);
  ASSERT_TRUE(hello) << hello.error().Format();
  EXPECT_EQ(hello->takes, tensor::EncodingSet());
}

TEST(ProtobufCodec, GoldenBegin) {
  wire::Begin begin;
  begin.kind = consensus::MessageKind::kDeltas;
  begin.encoding = static_cast<tensor::Encoding>(3);
  begin.total = 228968;
  begin.chunk = 262144;
  begin.gamma_max = 0.5f;
  begin.samples = 1u << 20;
  EXPECT_EQ(Hex(kCodec.Encode(begin)),
            "0802"
            "1003"
            "18e8fc0d"
            "20808010"
            "2d0000003f"
            "30808040");
  begin.segment = {3, 4};
  EXPECT_EQ(Hex(kCodec.Encode(begin)),
            "0802"
            "1003"
            "18e8fc0d"
            "20808010"
            "2d0000003f"
            "30808040"
            "3803"
            "4004");
}

TEST(ProtobufCodec, GoldenNack) {
  const wire::Nack nack{wire::Reason::kBusy, consensus::MessageKind::kWeights, "full"};
  EXPECT_EQ(Hex(kCodec.Encode(nack)),
            "0801"
            "1001"
            "1a0466756c6c");
}

TEST(ProtobufCodec, HelloComesBack) {
  const Result<wire::Hello> hello = kCodec.DecodeHello(kCodec.Encode(ExampleHello()));
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(*hello, ExampleHello());
}

TEST(ProtobufCodec, BeginComesBack) {
  wire::Begin begin;
  begin.total = UINT64_MAX;
  begin.chunk = UINT32_MAX;
  begin.gamma_max = 1.0f / 3.0f;
  const Result<wire::Begin> decoded = kCodec.DecodeBegin(kCodec.Encode(begin));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, begin);
}

TEST(ProtobufCodec, NackComesBackWithAndWithoutAMessage) {
  for (const auto kind :
       {std::optional<consensus::MessageKind>(), std::optional(consensus::MessageKind::kDeltas)}) {
    const wire::Nack nack{wire::Reason::kModel, kind, "mlp 12-32-4 against 12-64-4"};
    const Result<wire::Nack> decoded = kCodec.DecodeNack(kCodec.Encode(nack));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, nack);
  }
}

TEST(ProtobufCodec, NanGammaIsForTheCallerToJudge) {
  wire::Begin begin;
  begin.gamma_max = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(kCodec.DecodeBegin(kCodec.Encode(begin))->gamma_max));
}

TEST(ProtobufCodec, UnknownFieldsAreIgnored) {
  std::vector<std::byte> body = kCodec.Encode(ExampleHello());
  for (const int byte : {0xf8, 0x07, 0x2a, 0xfa, 0x07, 0x01, 0x61}) {  // fields 127: 42, "a"
    body.push_back(static_cast<std::byte>(byte));
  }
  const Result<wire::Hello> hello = kCodec.DecodeHello(body);
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(*hello, ExampleHello());
}

TEST(ProtobufCodec, KeysMustHaveThirtyTwoBytes) {
  std::vector<std::byte> body = kCodec.Encode(ExampleHello());
  // A later field of the same number wins: a key of one byte.
  for (const int byte : {0x1a, 0x01, 0x11}) body.push_back(static_cast<std::byte>(byte));
  EXPECT_FALSE(kCodec.DecodeHello(body).has_value());
  EXPECT_FALSE(kCodec.DecodeHello({}).has_value());
}

TEST(ProtobufCodec, BodiesAboveTheLimitAreNotParsed) {
  // Padding in an unknown field, so that only the size differs. Field 127, length-delimited.
  const auto padded = [](std::size_t size) {
    std::vector<std::byte> body = kCodec.Encode(ExampleHello());
    const std::size_t padding = size - body.size() - 4;
    body.push_back(std::byte{0xfa});
    body.push_back(std::byte{0x07});
    body.push_back(static_cast<std::byte>(0x80 | (padding & 0x7f)));
    body.push_back(static_cast<std::byte>(padding >> 7));
    body.resize(size);
    return body;
  };
  EXPECT_TRUE(kCodec.DecodeHello(padded(wire::kMaxStructuredBody)).has_value());
  EXPECT_FALSE(kCodec.DecodeHello(padded(wire::kMaxStructuredBody + 1)).has_value());
}

TEST(ProtobufCodec, TextsAreCutAndCleaned) {
  wire::Hello hello = ExampleHello();
  hello.software = std::string(1000, 'x');
  hello.model_summary = "a\nb";
  const Result<wire::Hello> decoded = kCodec.DecodeHello(kCodec.Encode(hello));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->software.size(), wire::kMaxSoftware);
  EXPECT_EQ(decoded->model_summary, "a?b");
}

TEST(ProtobufCodec, NumbersOutsideAByteAreNoKnownKindOrReason) {
  // kind = 257, encoding = 256: narrowing them to a byte would make WEIGHTS in float32 of them.
  const std::vector<std::byte> begin = {std::byte{0x08}, std::byte{0x81}, std::byte{0x02},
                                        std::byte{0x10}, std::byte{0x80}, std::byte{0x02}};
  const Result<wire::Begin> decoded = kCodec.DecodeBegin(begin);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_NE(decoded->kind, consensus::MessageKind::kWeights);
  EXPECT_FALSE(tensor::IsKnown(decoded->encoding));
  const std::vector<std::byte> nack = {std::byte{0x08}, std::byte{0x81}, std::byte{0x02}};
  EXPECT_EQ(kCodec.DecodeNack(nack)->reason, wire::Reason::kUnknown);
}

}  // namespace
}  // namespace covey::wire_pb
