#include "covey/wire_pb/membership.h"

#include <gtest/gtest.h>

#include "covey/wire/limits.h"

namespace covey::wire_pb {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

wire::ToldPeer Peer(std::uint8_t number, const std::string& address, Duration age) {
  wire::ToldPeer peer;
  peer.key.bytes.fill(number);
  peer.address = address;
  peer.age = age;
  return peer;
}

TEST(Membership, DecodesWhatWasEncoded) {
  const wire::Membership told{
      "robot-1:7420",
      true,
      {Peer(1, "10.0.0.1:1", seconds(0)), Peer(2, "[::1]:65535", seconds(9))}};
  const auto decoded = DecodeMembership(Encode(told));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, told);
  EXPECT_EQ(*DecodeMembership(Encode(wire::Membership{})), wire::Membership{});
}

TEST(Membership, PeersThatDoNotFitIntoABodyAreLeftOut) {
  wire::Membership told;
  const std::string longest = std::string(wire::kMaxPeerAddress - 2, 'a') + ":1";
  for (std::uint8_t i = 0; i < wire::kMaxToldPeers; ++i) {
    told.peers.push_back(Peer(i, longest, hours(99)));
  }
  const std::vector<std::byte> body = Encode(told);
  EXPECT_LE(body.size(), wire::kMaxStructuredBody);
  const auto decoded = DecodeMembership(body);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->peers.size(), wire::kMaxToldPeers);
  EXPECT_EQ(decoded->peers[0].age, wire::kMaxAge);
}

TEST(Membership, WhatIsNoAddressIsLeftOut) {
  wire::Membership told;
  told.own_address = "no port";
  told.peers = {Peer(1, "a:0", {}), Peer(2, "a:1", {}), Peer(3, "a\nb:1", {})};
  const auto decoded = DecodeMembership(Encode(told));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->own_address, "");
  ASSERT_EQ(decoded->peers.size(), 1u);
  EXPECT_EQ(decoded->peers[0], told.peers[1]);
}

TEST(Membership, RecordsBeyondTheLimitsAreNotRead) {
  wire::Membership told;
  told.records_digest = 0;
  told.records.assign(wire::kMaxToldRecords, std::vector<std::byte>(100, std::byte{7}));
  EXPECT_EQ(*DecodeMembership(Encode(told)), told);
  told.records.assign(3, std::vector<std::byte>(wire::kToldRecordBytes / 2, std::byte{7}));
  auto decoded = DecodeMembership(Encode(told));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->records.size(), 2u);
  // 17 empty ones, as no honest encoder writes them.
  std::vector<std::byte> many;
  for (std::size_t i = 0; i <= wire::kMaxToldRecords; ++i) {
    many.insert(many.end(), {std::byte{0x2A}, std::byte{0}});
  }
  decoded = DecodeMembership(many);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->records.size(), wire::kMaxToldRecords);
}

TEST(Membership, OtherBytesAreRefused) {
  EXPECT_FALSE(DecodeMembership(std::vector<std::byte>(3, std::byte{0xFF})).has_value());
  EXPECT_FALSE(DecodeMembership(std::vector<std::byte>(wire::kMaxStructuredBody + 1)).has_value());
}

TEST(PeerAddress, HasAHostAndAPort) {
  const std::string longest = std::string(wire::kMaxPeerAddress - 2, 'a') + ":1";
  for (const char* good : {"a:1", "10.0.0.1:65535", "[fe80::1%eth0]:7420"}) {
    EXPECT_TRUE(wire::IsPeerAddress(good)) << good;
  }
  EXPECT_TRUE(wire::IsPeerAddress(longest));
  EXPECT_FALSE(wire::IsPeerAddress("a" + longest));
  for (const char* bad : {"", "a", "a:", ":1", "a:0", "a:65536", "a:1x", "a b:1", "a:123456"}) {
    EXPECT_FALSE(wire::IsPeerAddress(bad)) << bad;
  }
}

}  // namespace
}  // namespace covey::wire_pb
