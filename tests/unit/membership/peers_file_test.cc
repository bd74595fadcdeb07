#include "covey/membership/peers_file.h"

#include <gtest/gtest.h>

namespace covey::membership {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

Known Peer(std::uint8_t number, const std::string& address, std::optional<Time> heard) {
  Known known;
  known.key.bytes.fill(number);
  known.address = address;
  known.heard = heard;
  return known;
}

std::string Problem(const std::string& text) {
  const auto peers = ParsePeers(text);
  return peers ? "" : peers.error().where + ": " + peers.error().what;
}

TEST(PeersFile, ReadsWhatWasWrittenTheLatestFirst) {
  std::vector<Known> known = {Peer(1, "10.0.0.1:7420", seconds(5)), Peer(2, "", seconds(90)),
                              Peer(3, "[::1]:7420", seconds(80)),
                              Peer(4, "robot:7420", std::nullopt)};
  known.push_back(Peer(5, "10.0.0.5:1", std::nullopt));
  known.back().linked = true;
  const auto peers = ParsePeers(FormatPeers(known, seconds(100)));
  ASSERT_TRUE(peers.has_value());
  ASSERT_EQ(peers->size(), 3u);
  EXPECT_EQ((*peers)[0], (StoredPeer{known[4].key, "10.0.0.5:1", seconds(0)}));
  EXPECT_EQ((*peers)[1], (StoredPeer{known[2].key, "[::1]:7420", seconds(20)}));
  EXPECT_EQ((*peers)[2], (StoredPeer{known[0].key, "10.0.0.1:7420", seconds(95)}));
}

TEST(PeersFile, SaysWhichLineIsWrong) {
  const std::string head = "covey-peers 1\n";
  const std::string key(64, 'a');
  EXPECT_EQ(Problem(head), "");
  EXPECT_EQ(Problem(head + key + " a:1 4294967295\n"), "");
  EXPECT_NE(Problem("").find("line 1"), std::string::npos);
  EXPECT_NE(Problem("covey-peers 2\n").find("line 1"), std::string::npos);
  for (const char* bad : {"", "x", " a:1", " a 1", " :1 1", " a:0 1", " a:65536 1", " a b:1 1",
                          " a:1 -1", " a:1 4294967296", " a:1 1 "}) {
    EXPECT_NE(Problem(head + key + bad + "\n").find("line 2"), std::string::npos) << bad;
  }
  EXPECT_NE(Problem(head + std::string(63, 'a') + "g a:1 1\n").find("line 2"), std::string::npos);
}

TEST(PeersFile, HasLimits) {
  std::vector<Known> known;
  for (std::size_t i = 0; i < kMaxStoredPeers + 5; ++i) {
    known.push_back(Peer(1, "a:1", seconds(1)));
    known.back().key.bytes[0] = static_cast<std::uint8_t>(i);
    known.back().key.bytes[1] = static_cast<std::uint8_t>(i >> 8);
  }
  const std::string text = FormatPeers(known, hours(100));
  EXPECT_LE(text.size(), kMaxPeersFile);
  const auto peers = ParsePeers(text);
  ASSERT_TRUE(peers.has_value());
  EXPECT_LE(peers->size(), kMaxStoredPeers);
  EXPECT_EQ(peers->front().age, wire::kMaxAge);
  EXPECT_NE(Problem(std::string(kMaxPeersFile + 1, 'x')), "");
}

}  // namespace
}  // namespace covey::membership
