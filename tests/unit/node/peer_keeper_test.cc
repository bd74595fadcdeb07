#include "node/peer_keeper.h"

#include <gtest/gtest.h>

namespace covey::node {
namespace {

using Kind = config::Advertise::Kind;

TEST(AddressToTell, IsWhereTheNodeListens) {
  EXPECT_EQ(AddressToTell({}, "tcp://10.0.0.7:7420"), "10.0.0.7:7420");
  EXPECT_EQ(AddressToTell({}, "tcp://[2001:db8::7]:7420"), "[2001:db8::7]:7420");
}

TEST(AddressToTell, OnEveryInterfaceIsLeftToWhoHearsIt) {
  EXPECT_EQ(AddressToTell({}, "tcp://0.0.0.0:7420"), "*:7420");
  EXPECT_EQ(AddressToTell({}, "tcp://[::]:7420"), "*:7420");
}

TEST(AddressToTell, IsWhatIsAdvertised) {
  EXPECT_EQ(AddressToTell({Kind::kAddress, {"gate.example", 7000}}, "tcp://10.0.0.7:7420"),
            "gate.example:7000");
  EXPECT_EQ(AddressToTell({Kind::kNone, {}}, "tcp://10.0.0.7:7420"), "");
  EXPECT_EQ(AddressToTell({}, ""), "") << "does not listen";
}

}  // namespace
}  // namespace covey::node
