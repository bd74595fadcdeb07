// The records that a node goes by: whom the operator's invitations have let in, and who is out for
// good. A set without an order: nodes that have taken the same records, in whatever order, hold the
// same ones, because a revocation removes the admissions that it covers and keeps them out.
//
// File, a text:
//     covey-admissions 1
//     covey-record-1.<base64 of URLs>        one a line
//
// Limits: kMaxAdmissions, kMaxRevocations; the file follows from them. Invitations for a number of
//   nodes are counted by each door among the admissions that it holds: two doors that have not
//   heard of each other yet may let in one more each.
// Trust: a member that tells a record is not believed but checked, and may tell one whose
//   invitation has expired meanwhile; that, and the number, are for doors.
// Thread: none, no clock.  Determinism: a function of the calls; records are walked in the order of
//   their ids.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/ids.h"
#include "covey/membership/invitation.h"

namespace covey::membership {

inline constexpr std::size_t kMaxAdmissions = 1024;
inline constexpr std::size_t kMaxRevocations = 4096;
// Of the file: every record at its longest.
inline constexpr std::size_t kMaxRosterFile = 4 * 1024 * 1024;

class Roster {
 public:
  Roster(const PeerKey& operator_key, std::string_view fleet);

  // Takes in a record that a member told, or that a file holds.
  // Returns: whether it is news. Errors: kMalformed, kOtherFleet, kForged, kRevoked, kFull.
  tl::expected<bool, Refusal> Take(ByteView record);
  // Takes in what a newcomer brings that has proven to own `key`; one that was let in before is let
  // in again. `now`: seconds since 1970.
  // Errors: all of Refusal.
  tl::expected<bool, Refusal> TakeAtDoor(ByteView record, const PeerKey& key, std::uint64_t now);

  // Whoever was let in or is named as a door, but for those who were revoked.
  std::set<PeerKey> members() const;
  bool IsRevoked(const PeerKey& key) const { return revoked_.contains(key); }
  // That of a node, the latest to expire; null: it was not let in by an invitation.
  const Admission* AdmissionOf(const PeerKey& key) const;
  // Its bytes, for a door.
  const RecordBytes* RecordOf(const PeerKey& key) const;

  // By id: a hash of what a record is about.
  const std::map<Digest, RecordBytes>& records() const { return records_; }
  std::size_t admissions() const { return admissions_.size(); }
  std::size_t revocations() const { return revoked_.size(); }
  // The same for the same set of records.
  std::uint64_t digest() const { return digest_; }
  // Grows with each change.
  std::uint64_t version() const { return version_; }

 private:
  tl::expected<bool, Refusal> Add(const Record& record, ByteView bytes);
  bool IsOut(const Admission& admission) const;
  std::size_t Used(const PeerKey& invitation) const;
  void Erase(const Digest& id);

  const PeerKey operator_key_;
  const std::array<std::uint8_t, 16> fleet_;
  std::map<Digest, RecordBytes> records_;
  std::map<Digest, Admission> admissions_;  // by the same id
  std::set<PeerKey> revoked_;               // keys of nodes and ids of invitations
  std::set<Digest> seen_;  // hashes of the bytes in records_: no need to check them again
  std::uint64_t digest_ = 0;
  std::uint64_t version_ = 0;
};

std::string FormatRoster(const Roster& roster);
// Takes every good line of a file.
// Returns: what is wrong with the first bad one; empty: nothing. Bad lines, and a file of another
// version, are passed over: a revocation behind them still counts.
std::string ReadRoster(std::string_view text, Roster& roster);

}  // namespace covey::membership
