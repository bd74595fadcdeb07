#include "covey/wire/membership.h"

#include <gtest/gtest.h>

namespace covey::wire {
namespace {

constexpr const char* kFar = "tcp://10.0.0.7:41873";
constexpr const char* kHere = "tcp://127.0.0.1:41873";

TEST(Membership, EveryInterfaceMeansTheOneThatIsSeen) {
  EXPECT_EQ(AddressSeenFrom(kFar, "*:7420"), "10.0.0.7:7420");
  EXPECT_EQ(AddressSeenFrom("tcp://[fe80::1]:9", "*:7420"), "[fe80::1]:7420");
  EXPECT_EQ(AddressSeenFrom("", "*:7420"), "") << "a network without addresses";
}

TEST(Membership, LoopbackMeansNothingElsewhere) {
  for (const char* told : {"127.0.0.1:7420", "localhost:7420", "[::1]:7420"}) {
    EXPECT_EQ(AddressSeenFrom(kFar, told), "") << told;
    EXPECT_EQ(AddressSeenFrom(kHere, told), told);
  }
}

TEST(Membership, OtherAddressesAreTakenAsTheyAre) {
  EXPECT_EQ(AddressSeenFrom(kFar, "robot2.local:7420"), "robot2.local:7420");
  EXPECT_EQ(AddressSeenFrom(kHere, "10.0.0.9:7420"), "10.0.0.9:7420");
  EXPECT_EQ(AddressSeenFrom(kFar, ""), "");
}

}  // namespace
}  // namespace covey::wire
