#include "covey/transport_zmq/keys.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace covey::transport_zmq {
namespace {

class Keys : public testing::Test {
 protected:
  void Write(const std::string& text) {
    std::filesystem::remove(path_);
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), 0600);
  }
  std::string Text() {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "key";
};

TEST_F(Keys, AreMadeOnceAndReadAgain) {
  const auto made = LoadOrCreateKeys(path_);
  ASSERT_TRUE(made) << made.error().Format();
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1)
      << "nothing beside";
  const auto read = LoadOrCreateKeys(path_);
  ASSERT_TRUE(read) << read.error().Format();
  EXPECT_EQ(read->public_key, made->public_key);
  EXPECT_EQ(read->secret.bytes, made->secret.bytes);
  EXPECT_NE(Text().find("public = " + made->public_key.Hex()), std::string::npos);
}

TEST_F(Keys, OfALooseFileAreRefusedWithTheRemedy) {
  ASSERT_TRUE(LoadOrCreateKeys(path_));
  for (const unsigned mode : {0640u, 0604u, 0620u, 0601u}) {
    ::chmod(path_.c_str(), mode);
    const auto read = LoadOrCreateKeys(path_);
    ASSERT_FALSE(read) << mode;
    EXPECT_EQ(read.error().code, ErrorCode::kNoPermission);
    EXPECT_NE(read.error().hint.find("chmod 600 " + path_), std::string::npos);
  }
  ::chmod(path_.c_str(), 0400);
  EXPECT_TRUE(LoadOrCreateKeys(path_));
}

TEST_F(Keys, ThatDoNotFitAreRefused) {
  const auto made = LoadOrCreateKeys(path_);
  ASSERT_TRUE(made);
  const std::string good = Text();
  const std::string shown = "public = " + made->public_key.Hex() + "\n";
  const std::string secret = good.substr(good.find("\nsecret") + 1);
  Write("\n  # note\n  public=" + made->public_key.Hex() + "  \r\n" + secret);
  EXPECT_TRUE(LoadOrCreateKeys(path_));
  const std::string other = "public = " + KeyPair::Generate().public_key.Hex() + "\n";
  for (const std::string& bad :
       {std::string(), shown, secret, other + secret, shown + shown + secret, shown + secret + "x",
        shown + secret.substr(0, secret.size() - 2), shown + "secret = " + std::string(64, 'g')}) {
    Write(bad);
    const auto read = LoadOrCreateKeys(path_);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, ErrorCode::kData);
    EXPECT_EQ(read.error().Format().find(secret.substr(9, 20)), std::string::npos)
        << "a message must not repeat the secret";
    EXPECT_EQ(Text(), bad) << "a wrong file is left as it is";
  }
}

TEST_F(Keys, NeedAFolder) {
  const auto made = LoadOrCreateKeys(folder_ / "missing/key");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kCantCreate);
}

TEST(KeyPair, FollowsFromItsSecret) {
  // RFC 7748, 6.1: Alice.
  const auto alice =
      PeerKey::FromHex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
  ASSERT_TRUE(alice);
  SecretKey secret;
  secret.bytes = alice->bytes;
  EXPECT_EQ(KeyPair::FromSecret(secret).public_key.Hex(),
            "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  const KeyPair keys = KeyPair::Generate();
  EXPECT_EQ(KeyPair::FromSecret(keys.secret).public_key, keys.public_key);
  EXPECT_NE(KeyPair::Generate().public_key, keys.public_key);
}

TEST(Z85, IsThatOfRfc32) {
  PeerKey key;
  const std::uint8_t hello[] = {0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B};
  for (std::size_t i = 0; i < 32; ++i) key.bytes[i] = hello[i % 8];
  const std::string text = ToZ85(key);
  EXPECT_EQ(text, "HelloWorldHelloWorldHelloWorldHelloWorld");
  EXPECT_EQ(FromZ85(text).value(), key);
  EXPECT_FALSE(FromZ85(text.substr(1)));
  EXPECT_FALSE(FromZ85(text + "Hello"));
  EXPECT_FALSE(FromZ85(""));
  EXPECT_FALSE(FromZ85("\"" + text.substr(1)));
}

}  // namespace
}  // namespace covey::transport_zmq
