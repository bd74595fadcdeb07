#include "covey/base/sha256.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace covey {
namespace {

// FIPS 180-4 example messages (NIST CSRC "SHA256.pdf") and the empty message.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(Sha256::Of("").Hex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256::Of("abc").Hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256::Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").Hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256::Of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")
                .Hex(),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(Sha256, OneMillionLetters) {
  Sha256 hash;
  const std::string chunk(1000, 'a');
  for (int i = 0; i < 1000; ++i) hash.Update(chunk);
  EXPECT_EQ(hash.Finish().Hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every length around the block and the padding boundary, cut at every place.
TEST(Sha256, PiecesEqualTheWhole) {
  for (std::size_t length = 0; length <= 130; ++length) {
    std::string text(length, '\0');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i * 7 + length);
    const Digest whole = Sha256::Of(text);
    for (std::size_t cut = 0; cut <= length; ++cut) {
      Sha256 hash;
      hash.Update(std::string_view(text).substr(0, cut));
      hash.Update(std::string_view(text).substr(cut));
      ASSERT_EQ(hash.Finish(), whole) << "length " << length << ", cut " << cut;
    }
  }
}

TEST(Sha256, PrefixIsTheFirstEightBytesLittleEndian) {
  EXPECT_EQ(Sha256::Of("abc").Prefix(), 0xeacf018fbf1678baull);
}

}  // namespace
}  // namespace covey
