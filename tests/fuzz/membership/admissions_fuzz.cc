// Any bytes as an invitation, a record and a file of admissions: no crash, limits hold, nothing
// passes that the operator has not signed, and what was read survives another round.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "covey/base/check.h"
#include "covey/membership/roster.h"
#include "covey/wire/membership.h"

namespace {

using namespace covey;

// Of the corpus: 32 bytes of 1, its operator's seed.
PeerKey OperatorKey() {
  membership::SigningKey key;
  key.seed.fill(1);
  return key.Public();
}

void TryInvitation(std::string_view text) {
  const auto invitation = membership::ParseInvitation(text);
  if (!invitation) return;
  COVEY_CHECK(invitation->terms.doors.size() <= membership::kMaxDoors);
  for (const membership::Door& door : invitation->terms.doors) {
    COVEY_CHECK(wire::IsPeerAddress(door.address));
  }
  const auto again = membership::ParseInvitation(membership::FormatInvitation(*invitation));
  COVEY_CHECK(again && again->terms == invitation->terms);
  const auto record = membership::Admit(*invitation, PeerKey{});
  COVEY_CHECK(record.size() <= membership::kMaxRecord);
  COVEY_CHECK(membership::CheckRecord(record, invitation->issuer, invitation->terms.fleet));
}

void TryFile(std::string_view text) {
  membership::Roster roster(OperatorKey(), "fuzz");
  (void)membership::ReadRoster(text, roster);
  COVEY_CHECK(roster.records().size() == roster.admissions() + roster.revocations());
  membership::Roster again(OperatorKey(), "fuzz");
  COVEY_CHECK(membership::ReadRoster(membership::FormatRoster(roster), again).empty());
  COVEY_CHECK(again.digest() == roster.digest() && again.members() == roster.members());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TryInvitation(text);
  TryFile(text);
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto record = membership::CheckRecord(bytes, OperatorKey(), membership::FleetTag("fuzz"));
  membership::Roster roster(OperatorKey(), "fuzz");
  COVEY_CHECK(roster.Take(bytes).has_value() == record.has_value());
  return 0;
}
