#include "covey/membership/book.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace covey::membership {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

PeerKey Key(std::uint8_t number) {
  PeerKey key;
  key.bytes.fill(number);
  return key;
}

std::string Address(std::uint8_t number) { return "10.0.0." + std::to_string(number) + ":7420"; }

class BookTest : public testing::Test {
 protected:
  void Make(Settings settings) {
    settings.self = Key(0);
    settings.own_address = Address(0);
    book_ = std::make_unique<Book>(settings, Stream(1, 0, Purpose::kTest));
  }
  std::vector<Action> Tick(Duration step, Duration late = {}) {
    now_ += step;
    std::vector<Action> actions;
    book_->Tick(now_, late, actions);
    return actions;
  }
  std::vector<Action> Up(std::uint8_t number) {
    std::vector<Action> actions;
    book_->LinkUp(now_, Key(number), actions);
    return actions;
  }
  std::vector<Action> Told(std::uint8_t by, std::vector<wire::ToldPeer> peers,
                           bool wants_peers = false) {
    std::vector<Action> actions;
    book_->Told(now_, Key(by), {Address(by), wants_peers, std::move(peers)}, actions);
    return actions;
  }
  Known Of(std::uint8_t number) const {
    for (const Known& known : book_->peers()) {
      if (known.key == Key(number)) return known;
    }
    return {};
  }
  template <class T>
  static std::vector<T> All(const std::vector<Action>& actions) {
    std::vector<T> found;
    for (const Action& action : actions) {
      if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
    }
    return found;
  }

  Time now_ = seconds(1000);
  std::unique_ptr<Book> book_;
};

TEST_F(BookTest, DialsHalfOfTheLinksThatItSeeks) {
  Make({.active = 6, .refresh = {}});
  for (std::uint8_t i = 1; i <= 6; ++i) book_->Remember(now_, Key(i), Address(i), std::nullopt);
  EXPECT_EQ(All<Dial>(Tick(seconds(1))).size(), 3u);
  EXPECT_TRUE(All<Dial>(Tick(seconds(1))).empty());
  for (const Known& known : book_->peers()) {
    if (!known.dialled) continue;
    EXPECT_EQ(All<Tell>(Up(known.key.bytes[0])).size(), 1u);
  }
  EXPECT_EQ(book_->linked(), 3u);
  EXPECT_TRUE(All<Dial>(Tick(seconds(20))).empty());
}

TEST_F(BookTest, WhoDoesNotAnswerGivesWayAndIsTriedAgainForEver) {
  Make({.active = 1, .refresh = {}, .answer_in = seconds(15)});
  book_->AddSeed(now_, Key(1), Address(1));
  EXPECT_EQ(All<Dial>(Tick(seconds(1))).size(), 1u);
  EXPECT_TRUE(All<HangUp>(Tick(seconds(14))).empty());
  EXPECT_EQ(All<HangUp>(Tick(seconds(1))).size(), 1u);
  int dials = 0;
  for (int second = 0; second < 3600; ++second) {
    dials += static_cast<int>(All<Dial>(Tick(seconds(1))).size());
  }
  EXPECT_GE(dials, 3600 / (15 + 61));
  EXPECT_LE(dials, 3600 / (15 + 30) + 8);
}

TEST_F(BookTest, APeerHeardLatelyIsTriedAgainWithinFiveSeconds) {
  Make({.active = 1, .refresh = {}});
  book_->Remember(now_, Key(1), Address(1), minutes(5));
  Time hung_up{};
  Duration longest{};
  for (int tick = 0; tick < 4000; ++tick) {
    const auto actions = Tick(milliseconds(100));
    if (!All<HangUp>(actions).empty()) hung_up = now_;
    if (hung_up != Time{} && !All<Dial>(actions).empty()) {
      longest = std::max(longest, now_ - hung_up);
    }
  }
  EXPECT_GT(longest, seconds(2));
  EXPECT_LE(longest, milliseconds(5100));
}

TEST_F(BookTest, ALostPeerIsSuspectThenDeadAndOneThatSaidGoodbyeHasLeft) {
  Make({.active = 4, .refresh = {}, .patience = seconds(15)});
  Up(1);
  Up(2);
  book_->LinkDown(now_, Key(1), "silent for 20s", State::kSuspect);
  book_->LinkDown(now_, Key(2), "said goodbye", State::kLeft);
  const Time lost = now_;
  EXPECT_EQ(Of(1).state, State::kSuspect);
  EXPECT_EQ(Of(2).state, State::kLeft);
  Tick(milliseconds(14'900));
  EXPECT_EQ(Of(1).state, State::kSuspect);
  EXPECT_EQ(Of(1).since, lost);
  Tick(milliseconds(100));
  EXPECT_EQ(Of(1).state, State::kDead);
  EXPECT_EQ(Of(1).reason, "silent for 20s");
  EXPECT_EQ(Of(1).since, now_);
  Up(1);
  EXPECT_EQ(Of(1).state, State::kAlive);
  EXPECT_EQ(Of(1).reason, "");
}

TEST_F(BookTest, PatienceGrowsWhenOurOwnLoopIsLate) {
  for (const bool late : {false, true}) {
    Make({.active = 1, .refresh = {}, .patience = seconds(15)});
    Up(1);
    book_->LinkDown(now_, Key(1), "gone", State::kSuspect);
    for (int i = 0; i < 20; ++i) Tick(seconds(1), late ? milliseconds(400) : Duration{});
    EXPECT_EQ(Of(1).state, late ? State::kSuspect : State::kDead);
    for (int i = 0; i < 40; ++i) Tick(seconds(1), late ? milliseconds(400) : Duration{});
    EXPECT_EQ(Of(1).state, State::kDead);
  }
}

TEST_F(BookTest, WhoLeftIsNotDialledUntilSomebodyHasHeardIt) {
  Make({.active = 4, .refresh = {}});
  Told(1, {});
  Up(1);
  Told(1, {{Key(2), Address(2), seconds(3)}});
  Up(2);
  book_->LinkDown(now_, Key(2), "said goodbye", State::kLeft);
  Told(1, {{Key(2), Address(2), seconds(0)}});  // as old as its goodbye
  EXPECT_TRUE(All<Dial>(Tick(seconds(30))).empty());
  Told(1, {{Key(2), "10.0.0.2:9999", seconds(1)}});
  const auto dials = All<Dial>(Tick(seconds(1)));
  ASSERT_EQ(dials.size(), 1u);
  EXPECT_EQ(dials[0].address, "10.0.0.2:9999");
}

TEST_F(BookTest, OnlyKeysThatAreAllowedAreTakenIn) {
  Make({.allowed = std::set<PeerKey>{Key(1), Key(2)}, .active = 8, .refresh = {}});
  Up(1);
  Told(1, {{Key(2), Address(2), {}}, {Key(3), Address(3), {}}, {Key(0), Address(9), {}}});
  EXPECT_EQ(book_->peers().size(), 2u);
  const auto dials = All<Dial>(Tick(seconds(1)));
  ASSERT_EQ(dials.size(), 1u);
  EXPECT_EQ(dials[0].peer, Key(2));
}

TEST_F(BookTest, OlderNewsThanOurOwnChangeNothing) {
  Make({.active = 1, .refresh = {}});
  Up(1);
  Told(1, {{Key(2), Address(2), seconds(10)}});
  Told(1, {{Key(2), "elsewhere:1", seconds(20)}});
  EXPECT_EQ(Of(2).address, Address(2));
  Told(1, {{Key(2), "elsewhere:1", seconds(5)}});
  EXPECT_EQ(Of(2).address, "elsewhere:1");
}

TEST_F(BookTest, WhoAsksIsAnsweredOnceASecond) {
  Make({.active = 8, .refresh = {}});
  Up(1);
  EXPECT_EQ(All<Tell>(Told(1, {}, true)).size(), 1u);
  now_ += milliseconds(999);
  EXPECT_TRUE(All<Tell>(Told(1, {}, true)).empty());
  now_ += milliseconds(1);
  EXPECT_EQ(All<Tell>(Told(1, {}, true)).size(), 1u);
}

TEST_F(BookTest, TellsNeitherTheDeadNorTheListenerNorMoreThanItMay) {
  Make({.active = 40, .refresh = {}, .told = 5});
  for (std::uint8_t i = 1; i <= 20; ++i) {
    Told(i, {});
    Up(i);
  }
  for (std::uint8_t i = 1; i <= 10; ++i) {
    book_->LinkDown(now_, Key(i), "gone", i % 2 == 0 ? State::kLeft : State::kSuspect);
  }
  for (int i = 0; i < 60; ++i) {
    for (const Tell& tell : All<Tell>(Tick(seconds(1)))) {
      EXPECT_LE(tell.what.peers.size(), 5u);
      EXPECT_GT(tell.to.bytes[0], 10);
      for (const wire::ToldPeer& told : tell.what.peers) {
        EXPECT_NE(told.key, tell.to);
        EXPECT_GT(told.key.bytes[0], i > 16 ? 10 : 0);
      }
    }
  }
}

TEST_F(BookTest, KnowsAtMostSoManyAndKeepsWhomItNeeds) {
  Make({.active = 1, .refresh = {}, .max_peers = 3});
  book_->AddSeed(now_, Key(1), Address(1));
  Up(2);
  for (std::uint8_t i = 3; i < 50; ++i) {
    Told(2, {{Key(i), Address(i), seconds(60 - i)}});
    EXPECT_LE(book_->peers().size(), 3u);
  }
  EXPECT_EQ(Of(1).address, Address(1));
  EXPECT_TRUE(Of(2).linked);
  EXPECT_EQ(Of(49).address, Address(49));
}

TEST_F(BookTest, OneOfItsOwnLinksIsReplacedNowAndThen) {
  Make({.active = 2, .refresh = minutes(1)});
  for (std::uint8_t i = 1; i <= 2; ++i) book_->Remember(now_, Key(i), Address(i), seconds(1));
  Tick(seconds(1));
  Up(1);
  Up(2);
  EXPECT_TRUE(All<HangUp>(Tick(minutes(2))).empty()) << "there is nobody else";
  Told(1, {{Key(3), Address(3), seconds(1)}});
  const auto actions = Tick(minutes(2));
  const auto gone = All<HangUp>(actions);
  ASSERT_EQ(gone.size(), 1u);
  book_->LinkDown(now_, gone[0].peer, "closed", State::kSuspect);
  EXPECT_EQ(Of(gone[0].peer.bytes[0]).state, State::kAlive) << "it did nothing wrong";
  const auto dials = All<Dial>(actions);
  ASSERT_EQ(dials.size(), 1u);
  EXPECT_EQ(dials[0].peer, Key(3));
}

TEST_F(BookTest, WhoIsNotHeardOfForADayIsForgotten) {
  Make({.active = 1, .refresh = {}});
  book_->AddSeed(now_, Key(1), Address(1));
  book_->Remember(now_, Key(2), Address(2), hours(23));
  Up(3);
  Tick(hours(2));
  Tick(seconds(20));
  EXPECT_TRUE(Of(1).key == Key(1));
  EXPECT_EQ(book_->peers().size(), 2u);
}

TEST_F(BookTest, APeerThatClosedItsLinkIsNotSuspected) {
  Make({});
  Up(1);
  book_->LinkDown(now_, Key(1), "peer said goodbye", State::kAlive);
  EXPECT_EQ(Of(1).state, State::kAlive);
  EXPECT_FALSE(Of(1).linked);
  Tick(minutes(1));
  EXPECT_EQ(Of(1).state, State::kAlive);
  Tick(hours(2));
  EXPECT_EQ(Of(1).state, State::kUnknown);
}

TEST_F(BookTest, WhoIsNotAllowedAnyMoreIsForgottenAndHungUpOn) {
  Make({});
  book_->AddSeed(now_, Key(1), Address(1));
  book_->AddSeed(now_, Key(2), Address(2));
  EXPECT_EQ(All<Dial>(Tick(seconds(1))).size(), 2u);
  Up(1);
  std::vector<Action> actions;
  book_->Allow(now_, std::set<PeerKey>{Key(2)}, actions);
  ASSERT_EQ(All<HangUp>(actions).size(), 1u);
  EXPECT_EQ(All<HangUp>(actions)[0].peer, Key(1));
  EXPECT_EQ(book_->linked(), 0u);
  ASSERT_EQ(book_->peers().size(), 1u);
  Told(2, {{Key(1), Address(1), seconds(1)}});
  EXPECT_EQ(book_->peers().size(), 1u) << "nor learned about again";
}

TEST_F(BookTest, ASeedIsDialledWhereTheOperatorSays) {
  Make({});
  book_->Remember(now_, Key(1), Address(9), seconds(1));
  book_->AddSeed(now_, Key(1), Address(1));
  book_->Remember(now_, Key(1), Address(8), std::nullopt);  // a beacon
  EXPECT_EQ(Of(1).address, Address(1));
  Up(1);
  std::vector<Action> actions;
  book_->Told(now_, Key(1), {"", false, {}}, actions);
  EXPECT_EQ(Of(1).address, Address(1));
  book_->LinkDown(now_, Key(1), "connection ended", State::kSuspect);
  now_ += seconds(5);
  Told(2, {{Key(1), Address(7), seconds(0)}});
  EXPECT_EQ(Of(1).address, Address(1));
}

// Row 45 of the list of faults: somebody has many keys that may take part, in one network.
TEST_F(BookTest, ManyKeysOfOneNetworkGetAQuarterOfTheLinksThatItDials) {
  Make({.active = 16, .refresh = {}});
  const auto is_sybil = [](const PeerKey& key) { return key.bytes[0] >= 100; };
  for (std::uint8_t i = 100; i < 150; ++i) {
    book_->Remember(now_, Key(i), "10.66.6." + std::to_string(i) + ":7420", seconds(1));
  }
  for (std::uint8_t i = 1; i <= 12; ++i) {
    book_->Remember(now_, Key(i), "10.1." + std::to_string(i) + ".1:7420", seconds(1));
  }
  const auto dials = All<Dial>(Tick(seconds(1)));
  EXPECT_EQ(dials.size(), 8u);
  EXPECT_LE(std::count_if(dials.begin(), dials.end(),
                          [&](const Dial& dial) { return is_sybil(dial.peer); }),
            2);
}

TEST_F(BookTest, OneNetworkAloneIsNoReasonToDialLess) {
  Make({.active = 16, .refresh = {}});
  for (const char* network : {"10.66.6.", "robot-", "[2001:db8:1:"}) {
    Make({.active = 16, .refresh = {}});
    const std::string close = network[0] == '[' ? "::1]" : "";
    for (std::uint8_t i = 1; i <= 20; ++i) {
      book_->Remember(now_, Key(i), network + std::to_string(i) + close + ":7420", seconds(1));
    }
    EXPECT_EQ(All<Dial>(Tick(seconds(1))).size(), 8u) << network;
  }
}

// Row 46: whoever dials in, however many, leaves the links that we choose ourselves.
TEST_F(BookTest, LinksFromOutsideDoNotTakeThePlaceOfThoseThatItDials) {
  Make({.active = 16, .refresh = {}});
  for (std::uint8_t i = 100; i < 160; ++i) Up(i);
  for (std::uint8_t i = 1; i <= 12; ++i) {
    book_->Remember(now_, Key(i), "10.1." + std::to_string(i) + ".1:7420", seconds(1));
  }
  const auto dials = All<Dial>(Tick(seconds(1)));
  EXPECT_EQ(dials.size(), 8u);
  for (const Dial& dial : dials) {
    EXPECT_LE(dial.peer.bytes[0], 12);
    Up(dial.peer.bytes[0]);
  }
  EXPECT_TRUE(All<HangUp>(Tick(seconds(30))).empty());
}

}  // namespace
}  // namespace covey::membership
