#include "covey/base/ids.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace covey {
namespace {

PeerKey Counting() {
  PeerKey key;
  for (std::size_t i = 0; i < key.bytes.size(); ++i)
    key.bytes[i] = static_cast<std::uint8_t>(i * 8);
  return key;
}

TEST(PeerKey, HexIsLowerCaseAndParsesBack) {
  const PeerKey key = Counting();
  const std::string hex = "0008101820283038404850586068707880889098a0a8b0b8c0c8d0d8e0e8f0f8";
  EXPECT_EQ(key.Hex(), hex);
  EXPECT_EQ(key.Short(), "00081018");
  EXPECT_EQ(PeerKey::FromHex(hex).value(), key);
}

TEST(PeerKey, TakesUpperCase) {
  std::string hex = Counting().Hex();
  for (char& c : hex) {
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
  }
  EXPECT_EQ(PeerKey::FromHex(hex).value(), Counting());
}

TEST(PeerKey, RefusesEverythingElse) {
  const std::string good = Counting().Hex();
  for (const std::string& text :
       {std::string(), good.substr(1), good + "0", good + " ", std::string(63, '0') + "g",
        "g" + std::string(63, '0'), "0x" + std::string(62, '0'), std::string(64, '\0')}) {
    const Result<PeerKey> got = PeerKey::FromHex(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, ErrorCode::kConfig);
  }
}

// The message about a refused key stays short, however long the text was.
TEST(PeerKey, ErrorIsBounded) {
  const Result<PeerKey> got = PeerKey::FromHex(std::string(1000000, 'x'));
  ASSERT_FALSE(got);
  EXPECT_LT(got.error().Format().size(), 250u);
}

TEST(PeerKey, OrderIsThatOfTheBytes) {
  PeerKey a;
  PeerKey b;
  b.bytes[31] = 1;
  EXPECT_LT(a, b);
  a.bytes[0] = 1;
  EXPECT_GT(a, b);
}

}  // namespace
}  // namespace covey
