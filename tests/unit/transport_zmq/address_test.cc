#include "transport_zmq/address.h"

#include "gtest/gtest.h"

namespace covey::transport_zmq {
namespace {

TEST(Address, IsTakenApart) {
  const auto v4 = ParseAddress("tcp://192.168.1.7:7420", AddressUse::kDial);
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->host, "192.168.1.7");
  EXPECT_EQ(v4->port, "7420");
  EXPECT_TRUE(v4->numeric());
  const auto v6 = ParseAddress("tcp://[fe80::1%eth0]:1", AddressUse::kDial);
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "fe80::1%eth0");
  EXPECT_TRUE(v6->numeric());
  EXPECT_EQ(v6->Text(), "tcp://[fe80::1%eth0]:1");
  const auto name = ParseAddress("tcp://robot-7.local:65535", AddressUse::kDial);
  ASSERT_TRUE(name);
  EXPECT_FALSE(name->numeric());
}

TEST(Address, ToListenOnMayTakeAnyPortOrInterface) {
  for (const char* text : {"tcp://127.0.0.1:0", "tcp://127.0.0.1:*"}) {
    const auto address = ParseAddress(text, AddressUse::kListen);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->Text(), "tcp://127.0.0.1:*");
    EXPECT_FALSE(ParseAddress(text, AddressUse::kDial));
  }
  EXPECT_TRUE(ParseAddress("tcp://*:7420", AddressUse::kListen));
  EXPECT_FALSE(ParseAddress("tcp://*:7420", AddressUse::kDial));
}

TEST(Address, ThatIsWrongSaysSo) {
  for (const char* text :
       {"", "tcp://", "tcp://:1", "tcp://a", "udp://a:1", "a:1", "tcp://a:65536", "tcp://a:-1",
        "tcp://a:1x", "tcp://a: 1", "tcp://a:", "tcp://[::1:1", "tcp://::1:1", "tcp://[a]:1",
        "tcp://a b:1", "tcp://a/b:1", "tcp://a:1;eth0", "tcp://a:99999999999999999999"}) {
    const auto address = ParseAddress(text, AddressUse::kDial);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, ErrorCode::kConfig);
    EXPECT_NE(address.error().hint.find("tcp://"), std::string::npos);
  }
  EXPECT_FALSE(ParseAddress("tcp://" + std::string(254, 'a') + ":1", AddressUse::kDial));
  EXPECT_TRUE(ParseAddress("tcp://" + std::string(253, 'a') + ":1", AddressUse::kDial));
}

}  // namespace
}  // namespace covey::transport_zmq
