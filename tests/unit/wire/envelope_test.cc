#include "covey/wire/envelope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace covey::wire {
namespace {

std::string Hex(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

Envelope Example() {
  Envelope envelope;
  envelope.version = 1;
  envelope.kind = FrameKind::kChunk;
  envelope.flags = kFlagNoReply | kFlagTraining;
  envelope.fleet = 0x0807060504030201;
  envelope.session = SessionId{0x1817161514131211};
  envelope.exchange = ExchangeId{0x2827262524232221};
  envelope.index = 0x34333231;
  envelope.count = 0x44434241;
  envelope.body_length = 3;
  envelope.crc = 0x54535251;
  envelope.model = 0x6867666564636261;
  return envelope;
}

std::vector<std::byte> Frame(const Envelope& envelope, std::size_t body) {
  const EnvelopeBytes header = Encode(envelope);
  std::vector<std::byte> frame(kEnvelopeSize + body, std::byte{7});
  std::copy(header.begin(), header.end(), frame.begin());
  return frame;
}

TEST(Envelope, GoldenBytes) {
  EXPECT_EQ(Hex(Encode(Example())),
            "43565931"  // "CVY1"
            "01"
            "03"
            "0500"              // version, kind, flags
            "0102030405060708"  // fleet
            "1112131415161718"  // session
            "2122232425262728"  // exchange
            "31323334"
            "41424344"  // index, count
            "03000000"
            "51525354"          // body length, CRC
            "6162636465666768"  // model
            "0000000000000000");
}

TEST(Envelope, DecodesWhatWasEncoded) {
  const Result<Envelope> decoded = Decode(Frame(Example(), 3));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, Example());
}

TEST(Envelope, LargestBodyPassesAndOneMoreByteFails) {
  Envelope envelope = Example();
  envelope.body_length = kMaxBody;
  EXPECT_TRUE(Decode(Frame(envelope, kMaxBody)).has_value());
  envelope.body_length = kMaxBody + 1;
  EXPECT_FALSE(Decode(Frame(envelope, kMaxBody + 1)).has_value());
}

TEST(Envelope, ShorterThanAnEnvelopeFails) {
  Envelope envelope = Example();
  envelope.body_length = 0;
  std::vector<std::byte> frame = Frame(envelope, 0);
  EXPECT_TRUE(Decode(frame).has_value());
  frame.pop_back();
  EXPECT_FALSE(Decode(frame).has_value());
  EXPECT_FALSE(Decode({}).has_value());
}

TEST(Envelope, BodyLengthMustBeThatOfTheFrame) {
  EXPECT_FALSE(Decode(Frame(Example(), 2)).has_value());
  EXPECT_FALSE(Decode(Frame(Example(), 4)).has_value());
}

TEST(Envelope, AnotherMagicFails) {
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::byte> frame = Frame(Example(), 3);
    frame[i] ^= std::byte{1};
    EXPECT_FALSE(Decode(frame).has_value()) << i;
  }
}

TEST(Envelope, VersionZeroFailsAndLaterVersionsAreForTheCallerToJudge) {
  Envelope envelope = Example();
  envelope.version = 0;
  EXPECT_FALSE(Decode(Frame(envelope, 3)).has_value());
  envelope.version = 255;
  EXPECT_TRUE(Decode(Frame(envelope, 3)).has_value());
}

TEST(Envelope, UnknownKindAndReservedBytesAreIgnored) {
  Envelope envelope = Example();
  envelope.kind = static_cast<FrameKind>(99);
  std::vector<std::byte> frame = Frame(envelope, 3);
  frame[60] = std::byte{1};
  ASSERT_TRUE(Decode(frame).has_value());
  EXPECT_EQ(Name(Decode(frame)->kind), "unknown");
}

TEST(Envelope, TheChecksumCoversEveryBitButItself) {
  Envelope envelope = Example();
  envelope.crc = Checksum(Encode(envelope), std::vector<std::byte>(3, std::byte{7}));
  const std::vector<std::byte> whole = Frame(envelope, 3);
  ASSERT_TRUE(ChecksumHolds(whole));
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<std::byte> frame = whole;
    frame[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(ChecksumHolds(frame)) << bit;
  }
  // Of another field, not of what stood in its own before.
  envelope.crc = 0;
  EXPECT_EQ(Checksum(Encode(envelope), std::vector<std::byte>(3, std::byte{7})),
            LoadLittle<std::uint32_t>(whole.data() + 44));
}

TEST(Envelope, EveryKindHasAName) {
  for (int kind = 1; kind <= 8; ++kind) {
    EXPECT_NE(Name(static_cast<FrameKind>(kind)), "unknown") << kind;
  }
}

}  // namespace
}  // namespace covey::wire
