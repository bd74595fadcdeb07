#include "covey/membership/roster.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "covey/membership/spread.h"
#include "support/operator.h"

namespace covey::membership::roster_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::KeyOf;
using test::Operator;

constexpr std::uint64_t kBefore = Operator::kExpires - 1;

class RosterTest : public testing::Test {
 protected:
  Roster Fresh() const { return Roster(by_.key.Public(), by_.fleet); }
  static bool IsNews(const tl::expected<bool, Refusal>& taken) { return taken && *taken; }
  static bool IsKnown(const tl::expected<bool, Refusal>& taken) { return taken && !*taken; }

  Operator by_;
  Roster roster_ = Fresh();
};

TEST_F(RosterTest, WhoeverIsAdmittedOrNamedIsAMember) {
  EXPECT_TRUE(IsNews(roster_.Take(by_.Admission(5))));
  EXPECT_EQ(roster_.members(), (std::set<PeerKey>{KeyOf(5), KeyOf(201), KeyOf(202)}));
  ASSERT_NE(roster_.AdmissionOf(KeyOf(5)), nullptr);
  EXPECT_EQ(roster_.AdmissionOf(KeyOf(5))->terms.name, "crawler 7");
  EXPECT_EQ(roster_.AdmissionOf(KeyOf(6)), nullptr);
  EXPECT_EQ(*roster_.RecordOf(KeyOf(5)), roster_.records().begin()->second);
}

TEST_F(RosterTest, TheSameTwiceIsNoNews) {
  const RecordBytes record = by_.Admission(5);
  EXPECT_TRUE(IsNews(roster_.Take(record)));
  const std::uint64_t version = roster_.version();
  EXPECT_TRUE(IsKnown(roster_.Take(record)));
  EXPECT_EQ(roster_.version(), version);
}

TEST_F(RosterTest, ARevocationOutweighsAdmissionsInWhateverOrder) {
  const Invitation wide = by_.Invite(0);
  const std::vector<RecordBytes> records = {by_.Admission(5), Admit(wide, KeyOf(6)),
                                            Admit(wide, KeyOf(7)), by_.Revocation(KeyOf(5)),
                                            by_.Revocation(wide.terms.id)};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  std::optional<std::uint64_t> digest;
  do {
    Roster roster = Fresh();
    for (const std::size_t i : order) (void)roster.Take(records[i]);
    EXPECT_TRUE(roster.members().empty());
    EXPECT_EQ(roster.records().size(), 2u);
    if (!digest) digest = roster.digest();
    EXPECT_EQ(roster.digest(), *digest);
    EXPECT_EQ(roster.Take(records[0]).error(), Refusal::kRevoked);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_NE(*digest, 0u);
}

TEST_F(RosterTest, ANamedMemberThatIsRevokedIsNone) {
  (void)roster_.Take(by_.Admission(5));
  EXPECT_TRUE(IsNews(roster_.Take(by_.Revocation(KeyOf(201)))));
  EXPECT_EQ(roster_.members(), (std::set<PeerKey>{KeyOf(5), KeyOf(202)}));
  EXPECT_TRUE(roster_.IsRevoked(KeyOf(201)));
}

TEST_F(RosterTest, TheDoorTakesWhoIsInvited) {
  EXPECT_TRUE(IsNews(roster_.TakeAtDoor(by_.Admission(5), KeyOf(5), kBefore)));
  EXPECT_TRUE(roster_.members().contains(KeyOf(5)));
}

TEST_F(RosterTest, TheDoorRefusesAnotherKeyThanTheAdmitted) {
  EXPECT_EQ(roster_.TakeAtDoor(by_.Admission(5), KeyOf(6), kBefore).error(), Refusal::kOtherKey);
  EXPECT_TRUE(roster_.members().empty());
}

TEST_F(RosterTest, TheDoorRefusesWhatHasExpiredButNotWhomItKnows) {
  const RecordBytes record = by_.Admission(5);
  EXPECT_EQ(roster_.TakeAtDoor(record, KeyOf(5), Operator::kExpires).error(), Refusal::kExpired);
  EXPECT_TRUE(IsNews(roster_.TakeAtDoor(record, KeyOf(5), kBefore)));
  EXPECT_TRUE(IsKnown(roster_.TakeAtDoor(record, KeyOf(5), Operator::kExpires + 1)));
}

TEST_F(RosterTest, TheDoorCountsUses) {
  const Invitation two = by_.Invite(2);
  for (const std::uint8_t node : {std::uint8_t{5}, std::uint8_t{6}}) {
    EXPECT_TRUE(IsNews(roster_.TakeAtDoor(Admit(two, KeyOf(node)), KeyOf(node), kBefore)));
  }
  EXPECT_EQ(roster_.TakeAtDoor(Admit(two, KeyOf(7)), KeyOf(7), kBefore).error(), Refusal::kUsedUp);
  EXPECT_TRUE(IsKnown(roster_.TakeAtDoor(Admit(two, KeyOf(6)), KeyOf(6), kBefore)));
  const Invitation any = by_.Invite(0);
  for (std::uint8_t node = 10; node < 20; ++node) {
    EXPECT_TRUE(IsNews(roster_.TakeAtDoor(Admit(any, KeyOf(node)), KeyOf(node), kBefore)));
  }
}

TEST_F(RosterTest, TheDoorRefusesRevokedKeysAndInvitationsAndWhatIsNoAdmission) {
  const Invitation invitation = by_.Invite(0);
  (void)roster_.Take(by_.Revocation(KeyOf(5)));
  EXPECT_EQ(roster_.TakeAtDoor(Admit(invitation, KeyOf(5)), KeyOf(5), kBefore).error(),
            Refusal::kRevoked);
  (void)roster_.Take(by_.Revocation(invitation.terms.id));
  EXPECT_EQ(roster_.TakeAtDoor(Admit(invitation, KeyOf(6)), KeyOf(6), kBefore).error(),
            Refusal::kRevoked);
  EXPECT_EQ(roster_.TakeAtDoor(by_.Revocation(KeyOf(6)), KeyOf(6), kBefore).error(),
            Refusal::kMalformed);
  EXPECT_EQ(roster_.TakeAtDoor({}, KeyOf(6), kBefore).error(), Refusal::kMalformed);
}

TEST_F(RosterTest, HasRoomForSoManyAndNoMore) {
  const Invitation any = by_.Invite(0);
  PeerKey key;
  const auto next = [&] {
    if (++key.bytes[0] == 0) ++key.bytes[1];
    return Admit(any, key);
  };
  for (std::size_t i = 0; i < kMaxAdmissions; ++i) ASSERT_TRUE(roster_.Take(next()).has_value());
  EXPECT_EQ(roster_.Take(next()).error(), Refusal::kFull);
  EXPECT_TRUE(IsNews(roster_.Take(by_.Revocation(key))));  // revocations have room of their own
  EXPECT_LE(FormatRoster(roster_).size(), kMaxRosterFile);
}

TEST_F(RosterTest, SurvivesAsAFile) {
  (void)roster_.Take(by_.Admission(5));
  (void)roster_.Take(by_.Revocation(KeyOf(6)));
  Roster again = Fresh();
  EXPECT_EQ(ReadRoster(FormatRoster(roster_), again), "");
  EXPECT_EQ(again.records(), roster_.records());
  EXPECT_TRUE(again.IsRevoked(KeyOf(6)));
}

TEST_F(RosterTest, ABadLineOfAFileCostsNoOther) {
  (void)roster_.Take(by_.Revocation(KeyOf(6)));
  const std::string good = FormatRoster(roster_);
  const std::string forged = FormatRecord(Operator().Revocation(KeyOf(7)));
  const std::string head = good.substr(0, good.find('\n') + 1);
  const std::string rest = good.substr(head.size());
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
           {"covey-admissions 2\n" + rest, "line 1: wanted 'covey-admissions 1'"},
           {head + "noise\n" + rest, "line 2: begins differently"},
           {head + forged + '\n' + rest, "line 2: forged"}}) {
    Roster again = Fresh();
    EXPECT_EQ(ReadRoster(text, again), problem);
    EXPECT_TRUE(again.IsRevoked(KeyOf(6)));
    EXPECT_FALSE(again.IsRevoked(KeyOf(7)));
  }
}

// --- Who is told ---

class SpreadTest : public RosterTest {
 protected:
  // Takes a record in as news. Returns: its id.
  void Take(const RecordBytes& record, std::optional<PeerKey> by = std::nullopt) {
    std::set<Digest> before;
    for (const auto& [id, bytes] : roster_.records()) before.insert(id);
    ASSERT_TRUE(IsNews(roster_.Take(record)));
    for (const auto& [id, bytes] : roster_.records()) {
      if (!before.contains(id)) spread_.News(id, by);
    }
  }

  Spread spread_;
};

TEST_F(SpreadTest, NewsGoToEverybodyButWhoBroughtThem) {
  for (std::uint8_t peer = 1; peer <= 3; ++peer) spread_.LinkUp(KeyOf(peer));
  spread_.LinkDown(KeyOf(3));
  const RecordBytes record = by_.Revocation(KeyOf(9));
  EXPECT_EQ(spread_.due(), kNever);
  Take(record, KeyOf(1));
  EXPECT_EQ(spread_.due(), Time{});
  const auto tellings = spread_.Tick(seconds(5), roster_);
  ASSERT_EQ(tellings.size(), 1u);
  EXPECT_EQ(tellings[0].first, KeyOf(2));
  EXPECT_EQ(tellings[0].second.records, std::vector<RecordBytes>{record});
  EXPECT_TRUE(spread_.Tick(seconds(6), roster_).empty());
}

TEST_F(SpreadTest, WhereSetsDifferAllIsToldAFewASecond) {
  for (std::uint8_t node = 10; node < 40; ++node) (void)roster_.Take(by_.Admission(node));
  spread_.LinkUp(KeyOf(1));
  spread_.Compare(seconds(1), KeyOf(1), 7, roster_.digest());
  std::set<RecordBytes> told;
  Time now = seconds(1);
  int tellings = 0;
  for (; spread_.due() != kNever; now += milliseconds(100)) {
    for (const auto& [to, what] : spread_.Tick(now, roster_)) {
      ++tellings;
      std::size_t bytes = 0;
      for (const RecordBytes& record : what.records) {
        EXPECT_TRUE(told.insert(record).second);
        bytes += record.size();
      }
      EXPECT_LE(bytes, wire::kToldRecordBytes);
      EXPECT_LE(what.records.size(), wire::kMaxToldRecords);
    }
  }
  EXPECT_EQ(told.size(), 30u);
  EXPECT_GE(now, seconds(1) + (tellings - 1) * Spread::kTellEvery);
  // Not again at once when the other side can't take them.
  spread_.Compare(now, KeyOf(1), 7, roster_.digest());
  EXPECT_EQ(spread_.due(), kNever);
  spread_.Compare(seconds(1) + Spread::kAgainAfter, KeyOf(1), 7, roster_.digest());
  EXPECT_NE(spread_.due(), kNever);
  spread_.Compare(seconds(70), KeyOf(1), roster_.digest(), roster_.digest());
  EXPECT_EQ(spread_.due(), kNever);
}

TEST_F(SpreadTest, ManyNewsAtOnceAreBounded) {
  spread_.LinkUp(KeyOf(1));
  for (std::uint8_t node = 10; node < 110; ++node) Take(by_.Revocation(KeyOf(node)));
  std::set<RecordBytes> told;
  for (Time now = seconds(1); spread_.due() != kNever; now += seconds(1)) {
    const auto tellings = spread_.Tick(now, roster_);
    ASSERT_LE(tellings.size(), 1u);
    if (tellings.empty()) continue;
    EXPECT_LE(tellings[0].second.records.size(), wire::kMaxToldRecords);
    told.insert(tellings[0].second.records.begin(), tellings[0].second.records.end());
  }
  EXPECT_EQ(told.size(), 100u);
}

}  // namespace covey::membership::roster_test
