// Fleets of membership books on a virtual clock: links come up and go down as in a network, what
// the books tell each other is encoded and counted.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <queue>
#include <set>

#include "covey/membership/book.h"
#include "covey/wire/limits.h"
#include "covey/wire_pb/membership.h"

namespace covey::membership {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kStep = milliseconds(100);
constexpr Duration kSilence = seconds(20);  // until a link that carries nothing is closed

PeerKey KeyOf(std::size_t number) {
  PeerKey key;
  key.bytes[0] = static_cast<std::uint8_t>(number >> 8);
  key.bytes[1] = static_cast<std::uint8_t>(number);
  key.bytes[2] = 1;
  return key;
}

std::size_t NumberOf(const PeerKey& key) { return key.bytes[0] * 256u + key.bytes[1]; }

// Nodes that dial each other. A dialled peer is up in the next step, if it is there, its address is
// the present one and no partition lies between; otherwise in a later step, until hung up.
class Fleet {
 public:
  explicit Fleet(std::size_t count) : nodes_(count) {}

  void Start(std::size_t i, const std::vector<Known>& remembered = {}) {
    Node& node = nodes_[i];
    Settings settings;
    settings.self = KeyOf(i);
    settings.own_address = AddressOf(i);
    node.book = std::make_unique<Book>(
        settings, Stream(7 + node.life++, static_cast<std::uint32_t>(i), Purpose::kTest));
    for (const Known& peer : remembered) {
      if (!peer.address.empty()) node.book->Remember(now_, peer.key, peer.address, seconds(10));
    }
    if (i > 0) node.book->AddSeed(now_, KeyOf(0), AddressOf(0));
  }

  std::vector<Known> Kill(std::size_t i) {
    std::vector<Known> known = nodes_[i].book->peers();
    nodes_[i].book.reset();
    nodes_[i].dials.clear();
    for (std::size_t j = 0; j < nodes_.size(); ++j) Cut(i, j, "connection ended");
    return known;
  }

  void Move(std::size_t i) { ++nodes_[i].port; }
  void Partition(bool on) {
    partition_ = on;
    partition_since_ = now_;
  }

  void Run(Duration length) {
    for (const Time end = now_ + length; now_ < end;) {
      now_ += kStep;
      Dials();
      if (partition_ && now_ - partition_since_ == kSilence) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) {
            if (!Reach(i, j)) Cut(i, j, "silent for 20s");
          }
        }
      }
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].book) continue;
        if (now_ < nodes_[i].due) continue;
        std::vector<Action> actions;
        nodes_[i].due = nodes_[i].book->Tick(now_, {}, actions);
        Follow(i, actions);
      }
    }
  }

  std::size_t Linked(std::size_t i) const { return nodes_[i].book->linked(); }
  std::size_t Acquainted(std::size_t i) const { return nodes_[i].book->peers().size(); }
  std::size_t LinksAcross() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::size_t j : nodes_[i].links) count += Half(i) != Half(j) ? 1u : 0u;
    }
    return count / 2;
  }
  bool Connected() const {
    std::set<std::size_t> seen = {0};
    std::queue<std::size_t> next;
    next.push(0);
    for (; !next.empty(); next.pop()) {
      for (const std::size_t j : nodes_[next.front()].links) {
        if (seen.insert(j).second) next.push(j);
      }
    }
    return seen.size() == nodes_.size();
  }
  // Bytes that a node has sent since the last call, the largest of all nodes.
  std::uint64_t MostSent() {
    std::uint64_t most = 0;
    for (Node& node : nodes_) most = std::max(most, std::exchange(node.sent, 0));
    return most;
  }
  Time now() const { return now_; }

 private:
  struct Node {
    std::unique_ptr<Book> book;
    std::map<std::size_t, std::string> dials;
    std::set<std::size_t> links;
    std::uint64_t sent = 0;
    std::uint64_t life = 0;
    Time due{};
    unsigned port = 1;
  };

  std::string AddressOf(std::size_t i) const {
    return "node" + std::to_string(i) + ":" + std::to_string(nodes_[i].port);
  }
  bool Half(std::size_t i) const { return 2 * i < nodes_.size(); }
  bool Reach(std::size_t i, std::size_t j) const { return !partition_ || Half(i) == Half(j); }

  void Dials() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto dials = nodes_[i].dials;
      for (const auto& [j, address] : dials) {
        if (!nodes_[j].book || address != AddressOf(j) || !Reach(i, j)) continue;
        if (!nodes_[i].links.insert(j).second) continue;
        nodes_[j].links.insert(i);
        std::vector<Action> actions;
        nodes_[i].book->LinkUp(now_, KeyOf(j), actions);
        Follow(i, actions);
        actions.clear();
        nodes_[j].book->LinkUp(now_, KeyOf(i), actions);
        Follow(j, actions);
      }
    }
  }

  void Cut(std::size_t i, std::size_t j, const char* reason) {
    if (nodes_[i].links.erase(j) == 0) return;
    nodes_[j].links.erase(i);
    if (nodes_[i].book) nodes_[i].book->LinkDown(now_, KeyOf(j), reason, State::kSuspect);
    if (nodes_[j].book) nodes_[j].book->LinkDown(now_, KeyOf(i), reason, State::kSuspect);
  }

  void Follow(std::size_t i, const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      if (const auto* dial = std::get_if<Dial>(&action)) {
        nodes_[i].dials[NumberOf(dial->peer)] = dial->address;
      } else if (const auto* hang_up = std::get_if<HangUp>(&action)) {
        const std::size_t j = NumberOf(hang_up->peer);
        nodes_[i].dials.erase(j);
        if (!nodes_[j].dials.contains(i)) Cut(i, j, "closed");
      } else {
        Deliver(i, std::get<Tell>(action));
      }
    }
  }

  void Deliver(std::size_t from, const Tell& tell) {
    const std::vector<std::byte> body = wire_pb::Encode(tell.what);
    nodes_[from].sent += body.size() + wire::kEnvelopeSize;
    const std::size_t to = NumberOf(tell.to);
    if (!nodes_[from].links.contains(to) || !Reach(from, to)) return;
    const auto what = wire_pb::DecodeMembership(body);
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->peers.size(), tell.what.peers.size());
    std::vector<Action> actions;
    nodes_[to].book->Told(now_, KeyOf(from), *what, actions);
    Follow(to, actions);
  }

  std::vector<Node> nodes_;
  Time now_ = seconds(100);
  bool partition_ = false;
  Time partition_since_{};
};

// Node 0 is the seed of all; they start one after the other within ten seconds.
void StartAll(Fleet& fleet, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    fleet.Start(i);
    if (i % std::max<std::size_t>(1, count / 90) == 0) fleet.Run(kStep);
  }
}

TEST(Gossip, FiftyNodesThatKnowOneSeedKnowEnoughPeersInFifteenSeconds) {
  Fleet fleet(50);
  StartAll(fleet, 50);
  fleet.Run(seconds(15) - (fleet.now() - seconds(100)));
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_GE(fleet.Linked(i), 8u) << i;
    EXPECT_GE(fleet.Acquainted(i), 24u) << i;
  }
  EXPECT_TRUE(fleet.Connected());
}

TEST(Gossip, TrafficDoesNotGrowWithTheFleet) {
  for (const std::size_t count : {10u, 50u, 200u}) {
    Fleet fleet(count);
    StartAll(fleet, count);
    fleet.Run(minutes(1));
    fleet.MostSent();
    fleet.Run(minutes(1));
    const std::uint64_t rate = fleet.MostSent() / 60;
    RecordProperty("bytes_per_second_" + std::to_string(count), std::to_string(rate));
    EXPECT_LT(rate, 1000u) << count;
    EXPECT_TRUE(fleet.Connected()) << count;
    for (std::size_t i = 1; i < count; ++i) {
      EXPECT_GE(fleet.Linked(i), 8u) << i;
      EXPECT_LE(fleet.Linked(i), 40u) << i;
    }
  }
}

TEST(Gossip, ARestartedNodeIsLinkedAgainInFiveSecondsAlsoWithoutItsSeed) {
  Fleet fleet(50);
  StartAll(fleet, 50);
  fleet.Run(seconds(60));
  const auto remembered = fleet.Kill(30);
  fleet.Kill(0);
  fleet.Run(seconds(3));
  fleet.Start(30, remembered);
  fleet.Run(seconds(5));
  EXPECT_GE(fleet.Linked(30), 8u);
}

TEST(Gossip, ANodeWithANewPortIsLinkedAgainInFifteenSeconds) {
  Fleet fleet(50);
  StartAll(fleet, 50);
  fleet.Run(seconds(60));
  fleet.Kill(30);
  fleet.Move(30);
  fleet.Run(seconds(40));  // dead to all by then
  fleet.Start(30);         // and it has forgotten whom it knew
  fleet.Run(seconds(15));
  EXPECT_GE(fleet.Linked(30), 8u);
}

TEST(Gossip, AfterAPartitionOfAMinuteTheHalvesAreLinkedInFifteenSeconds) {
  Fleet fleet(50);
  StartAll(fleet, 50);
  fleet.Run(seconds(60));
  const std::size_t before = fleet.LinksAcross();
  fleet.Partition(true);
  fleet.Run(seconds(60));
  EXPECT_EQ(fleet.LinksAcross(), 0u);
  fleet.Partition(false);
  fleet.Run(seconds(15));
  EXPECT_GE(fleet.LinksAcross(), 50u);
  EXPECT_GE(fleet.LinksAcross(), before / 8);
  EXPECT_TRUE(fleet.Connected());
}

}  // namespace
}  // namespace covey::membership
