// Who may take part by the operator's word: what peers tell of it, what newcomers bring to the
// door, and whom this node tells.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "covey/membership/roster.h"
#include "covey/membership/spread.h"
#include "covey/node/report.h"
#include "covey/wire/membership.h"

namespace covey::node {

struct AdmissionsPlan {
  membership::Roster roster;       // of earlier lives
  std::set<PeerKey> configured{};  // who may take part by this node's own configuration
  // Told the text of the file (FormatRoster) whenever it changes.
  std::function<void(std::string)> keep{};
};

// Thread: that of the links.
class Admissions {
 public:
  Admissions(AdmissionsPlan plan, const PeerKey& self);

  // Whoever is configured or admitted, but for those who were revoked.
  std::set<PeerKey> allowed() const;

  // Takes in what a peer told, or what came through the local API. What is wrong with a record is
  // counted and logged; the rest of that telling is left alone.
  // Returns: whether `allowed` may be another one now.
  bool Take(const std::vector<membership::RecordBytes>& records, const std::optional<PeerKey>& by);

  // What a newcomer that owns `key` is answered (membership::FormatAnswer). `now`: seconds since
  // 1970. Sets `changed` as Take returns.
  std::string AnswerAtDoor(const PeerKey& key, ByteView record, const std::string& own_address,
                           std::uint64_t now, bool* changed);

  // This node's own admission; null: it came in otherwise.
  const membership::Admission* own() const { return plan_.roster.AdmissionOf(self_); }
  const membership::RecordBytes* own_record() const { return plan_.roster.RecordOf(self_); }

  void LinkUp(const PeerKey& peer) { spread_.LinkUp(peer); }
  void LinkDown(const PeerKey& peer) { spread_.LinkDown(peer); }
  void Compare(Time now, const PeerKey& peer, std::uint64_t digest) {
    spread_.Compare(now, peer, digest, plan_.roster.digest());
  }
  std::uint64_t digest() const { return plan_.roster.digest(); }
  std::vector<std::pair<PeerKey, wire::Membership>> Tellings(Time now) {
    return spread_.Tick(now, plan_.roster);
  }
  Time due() const { return spread_.due(); }

  AdmissionsReport report() const;

 private:
  void Refuse(membership::Refusal why, const std::string& who, bool at_door);
  bool Changed(std::uint64_t before, const std::optional<PeerKey>& by);

  AdmissionsPlan plan_;
  const PeerKey self_;
  membership::Spread spread_;
  std::set<Digest> told_;  // ids of the records of which everybody was told
  AdmissionsReport counts_;
};

}  // namespace covey::node
