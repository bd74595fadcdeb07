#include "covey/membership/invitation.h"

#include <gtest/gtest.h>

#include "covey/wire/membership.h"
#include "support/operator.h"

namespace covey::membership::invitation_test {

using test::KeyOf;
using test::Operator;

tl::expected<Record, Refusal> Check(const Operator& by, const RecordBytes& record) {
  return CheckRecord(record, by.key.Public(), FleetTag(by.fleet));
}

TEST(Invitation, TravelsAsAText) {
  const Operator by;
  const Invitation invitation = by.Invite(3);
  const std::string text = FormatInvitation(invitation);
  EXPECT_EQ(text.find_first_of(" \n+/="), std::string::npos) << text;
  const auto read = ParseInvitation(text);
  ASSERT_TRUE(read.has_value()) << read.error().Format();
  EXPECT_EQ(read->terms, invitation.terms);
  EXPECT_EQ(read->issuer, by.key.Public());
  const auto checked = Check(by, Admit(*read, KeyOf(5)));
  ASSERT_TRUE(checked.has_value()) << Name(checked.error());
  EXPECT_EQ(std::get<Admission>(*checked), (Admission{invitation.terms, KeyOf(5)}));
}

TEST(Invitation, CutOrChangedAnywhereIsRefused) {
  const std::string text = FormatInvitation(Operator().Invite());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ParseInvitation(text.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(ParseInvitation(text + "A").has_value());
  EXPECT_FALSE(ParseInvitation(text + " ").has_value());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = changed[at] == 'B' ? 'C' : 'B';
    EXPECT_FALSE(ParseInvitation(changed).has_value()) << at;
  }
}

TEST(Invitation, TermsHaveLimits) {
  const Operator by;
  Terms terms = by.Invite().terms;
  terms.name.assign(kMaxInvitedName, 'x');
  const std::string longest = std::string(wire::kMaxPeerAddress - 2, 'a') + ":1";
  terms.doors.assign(kMaxDoors, Door{KeyOf(1), longest});
  const auto most = Invite(terms, by.key);
  ASSERT_TRUE(most.has_value());
  const RecordBytes record = Admit(*most, KeyOf(2));
  EXPECT_LE(record.size(), kMaxRecord);
  EXPECT_TRUE(Check(by, record).has_value());
  EXPECT_TRUE(ParseInvitation(FormatInvitation(*most)).has_value());
  const auto refused = [&](auto change) {
    Terms wrong = terms;
    change(wrong);
    return !Invite(wrong, by.key).has_value();
  };
  EXPECT_TRUE(refused([](Terms& t) { t.name += 'x'; }));
  EXPECT_TRUE(refused([](Terms& t) { t.name = "two\nlines"; }));
  EXPECT_TRUE(refused([](Terms& t) { t.doors.push_back(t.doors[0]); }));
  EXPECT_TRUE(refused([](Terms& t) { t.doors[0].address += 'x'; }));
  EXPECT_TRUE(refused([](Terms& t) { t.doors[0].address = "nowhere"; }));
}

TEST(Records, ChangedOrCutAnywhereAreRefused) {
  const Operator by;
  for (const RecordBytes& record : {by.Admission(5), by.Revocation(KeyOf(5))}) {
    ASSERT_TRUE(Check(by, record).has_value());
    for (std::size_t size = 0; size < record.size(); ++size) {
      EXPECT_FALSE(Check(by, RecordBytes(record.begin(), record.begin() + std::ptrdiff_t(size))));
    }
    for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
      RecordBytes changed = record;
      changed[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_FALSE(Check(by, changed).has_value()) << bit;
    }
    RecordBytes longer = record;
    longer.push_back(std::byte{0});
    EXPECT_EQ(Check(by, longer).error(), Refusal::kMalformed);
  }
  EXPECT_EQ(Check(by, RecordBytes(kMaxRecord + 1, std::byte{1})).error(), Refusal::kMalformed);
}

TEST(Records, OfAnotherOperatorOrFleetAreRefused) {
  const Operator by;
  const Operator other;
  Operator elsewhere = by;
  elsewhere.fleet = "boats";
  for (const Operator* wrong : {&other, static_cast<const Operator*>(&elsewhere)}) {
    const Refusal why = wrong == &other ? Refusal::kForged : Refusal::kOtherFleet;
    EXPECT_EQ(Check(by, wrong->Admission(5)).error(), why);
    EXPECT_EQ(Check(by, wrong->Revocation(KeyOf(5))).error(), why);
  }
}

TEST(Records, AnAdmissionLetsNoOtherKeyIn) {
  // Whoever has seen an admission has everything in it but the secret of its invitation.
  const Operator by;
  const Invitation invitation = by.Invite();
  RecordBytes record = Admit(invitation, KeyOf(5));
  Invitation guessed = invitation;
  guessed.secret = SigningKey::Generate();
  EXPECT_EQ(Check(by, Admit(guessed, KeyOf(6))).error(), Refusal::kForged);
  for (std::size_t i = 0; i < 32; ++i) record[record.size() - 96 + i] = std::byte{6};
  EXPECT_EQ(Check(by, record).error(), Refusal::kForged);
}

TEST(Records, TravelAsATextToo) {
  const RecordBytes record = Operator().Revocation(KeyOf(5));
  EXPECT_EQ(*ParseRecord(FormatRecord(record)), record);
  for (const char* wrong : {"", "covey-record-1.", "covey-record-2.AAAA", "covey-record-1.A A"}) {
    EXPECT_FALSE(ParseRecord(wrong).has_value()) << wrong;
  }
}

ByteView BytesOfText(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(DoorAnswer, SaysWhereOrWhyNot) {
  for (const char* address : {"*:7420", "10.0.0.1:7420", ""}) {
    EXPECT_EQ(ParseAnswer(BytesOfText(FormatAnswer(std::string(address)))), std::string(address));
  }
  EXPECT_EQ(ParseAnswer(BytesOfText(FormatAnswer(tl::unexpected(Refusal::kUsedUp)))).error(),
            "refused used_up");
  for (const char* wrong : {"", "admitted", "admitted nowhere", "refused ", "refused \x1b[2J"}) {
    const auto answer = ParseAnswer(BytesOfText(wrong));
    ASSERT_FALSE(answer.has_value()) << wrong;
    EXPECT_EQ(answer.error(), "an answer that this version does not know");
  }
}

}  // namespace covey::membership::invitation_test
