#include "covey/config/address.h"

#include <gtest/gtest.h>

namespace covey::config {
namespace {

TEST(ParseHostPort, TakesNamesAndBothKindsOfAddresses) {
  EXPECT_EQ(ParseHostPort("127.0.0.1:7420").value(), (HostPort{"127.0.0.1", 7420}));
  EXPECT_EQ(ParseHostPort("robot2.local:65535").value(), (HostPort{"robot2.local", 65535}));
  EXPECT_EQ(ParseHostPort("[::1]:0").value(), (HostPort{"::1", 0}));
  EXPECT_EQ(ParseHostPort("[fec0::1]:7420").value(), (HostPort{"fec0::1", 7420}));
  EXPECT_EQ(ParseHostPort("[fe80::1%wlan0]:7420").value(), (HostPort{"fe80::1%wlan0", 7420}));
}

TEST(ParseHostPort, TextReadsBack) {
  for (const char* text : {"127.0.0.1:7420", "[::1]:7420", "robot-2:1"}) {
    EXPECT_EQ(ParseHostPort(text).value().Text(), text);
  }
}

TEST(ParseHostPort, SaysWhatIsMissing) {
  const auto what = [](const char* text) {
    const auto address = ParseHostPort(text);
    return address ? "accepted" : address.error().what;
  };
  EXPECT_EQ(what("robot2.local"), "'robot2.local' has no port");
  EXPECT_EQ(what("[::1]"), "'[::1]' has no port");
  EXPECT_EQ(what("[::1]x7420"), "'[::1]x7420' has no port");
  EXPECT_EQ(what(":7420"), "':7420' has no host");
  EXPECT_EQ(what("[::1:7420"), "'[::1:7420' has no closing bracket");
  for (const char* link : {"[fe80::1]:7420", "[FEBF:0::2]:0"}) {
    EXPECT_NE(what(link).find("names no interface"), std::string::npos) << link;
  }
  EXPECT_EQ(what("::1:7420"), "'::1:7420' has several colons; put an IPv6 address into brackets");
  EXPECT_EQ(what("tcp://a:1"), "'tcp://a:1' has a scheme; leave out what stands before the host");
  EXPECT_EQ(what("a b:1"), "'a b:1' has a host that is no name or address");
  EXPECT_EQ(what("300.1.1.1:1"), "'300.1.1.1:1' has a host that is no name or address");
  EXPECT_EQ(what("192.168.1:1"), "'192.168.1:1' has a host that is no name or address");
  EXPECT_EQ(what("[127.0.0.1]:1"), "'[127.0.0.1]:1' has a host that is no name or address");
  for (const char* port : {"a:", "a:65536", "a:-1", "a:1x", "a:000001", "a: 1"}) {
    EXPECT_NE(what(port), "accepted") << port;
  }
}

TEST(IsLoopback, IsThisMachineOnly) {
  for (const char* host : {"127.0.0.1", "127.255.0.9", "::1", "localhost"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  // A name that starts like a loopback address may resolve to anything.
  for (const char* host : {"128.0.0.1", "0.0.0.0", "::", "127.0.0.1.evil.example", "127.evil",
                           "localhost.evil.example", "10.127.0.1", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

}  // namespace
}  // namespace covey::config
