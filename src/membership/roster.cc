#include "covey/membership/roster.h"

#include <algorithm>
#include <utility>

#include "covey/base/sha256.h"

namespace covey::membership {
namespace {

constexpr std::string_view kRosterHead = "covey-admissions 1";

void AddKey(Sha256& hash, const PeerKey& key) {
  hash.Update(ByteView(reinterpret_cast<const std::byte*>(key.bytes.data()), key.bytes.size()));
}

Digest IdOf(const Admission& admission) {
  Sha256 hash;
  hash.Update("admission");
  AddKey(hash, admission.terms.id);
  AddKey(hash, admission.key);
  return hash.Finish();
}

Digest IdOf(const Revocation& revocation) {
  Sha256 hash;
  hash.Update("revocation");
  AddKey(hash, revocation.key);
  return hash.Finish();
}

}  // namespace

Roster::Roster(const PeerKey& operator_key, std::string_view fleet)
    : operator_key_(operator_key), fleet_(FleetTag(fleet)) {}

bool Roster::IsOut(const Admission& admission) const {
  return revoked_.contains(admission.key) || revoked_.contains(admission.terms.id);
}

std::size_t Roster::Used(const PeerKey& invitation) const {
  return static_cast<std::size_t>(
      std::count_if(admissions_.begin(), admissions_.end(),
                    [&](const auto& entry) { return entry.second.terms.id == invitation; }));
}

void Roster::Erase(const Digest& id) {
  const auto at = records_.find(id);
  seen_.erase(Sha256::Of(ByteView(at->second)));
  digest_ ^= id.Prefix();
  records_.erase(at);
}

tl::expected<bool, Refusal> Roster::Add(const Record& record, ByteView bytes) {
  Digest id;
  if (const auto* revocation = std::get_if<Revocation>(&record)) {
    id = IdOf(*revocation);
    if (records_.contains(id)) return false;
    if (revoked_.size() >= kMaxRevocations) return tl::unexpected(Refusal::kFull);
    revoked_.insert(revocation->key);
    for (auto entry = admissions_.begin(); entry != admissions_.end();) {
      const bool out = IsOut(entry->second);
      if (out) Erase(entry->first);
      entry = out ? admissions_.erase(entry) : std::next(entry);
    }
  } else {
    const auto& admission = std::get<Admission>(record);
    id = IdOf(admission);
    if (records_.contains(id)) return false;
    if (IsOut(admission)) return tl::unexpected(Refusal::kRevoked);
    if (admissions_.size() >= kMaxAdmissions) return tl::unexpected(Refusal::kFull);
    admissions_.emplace(id, admission);
  }
  records_.emplace(id, RecordBytes(bytes.begin(), bytes.end()));
  seen_.insert(Sha256::Of(bytes));
  digest_ ^= id.Prefix();
  ++version_;
  return true;
}

tl::expected<bool, Refusal> Roster::Take(ByteView record) {
  if (record.size() <= kMaxRecord && seen_.contains(Sha256::Of(record))) return false;
  const auto checked = CheckRecord(record, operator_key_, fleet_);
  if (!checked) return tl::unexpected(checked.error());
  return Add(*checked, record);
}

tl::expected<bool, Refusal> Roster::TakeAtDoor(ByteView record, const PeerKey& key,
                                               std::uint64_t now) {
  const auto checked = CheckRecord(record, operator_key_, fleet_);
  if (!checked) return tl::unexpected(checked.error());
  const auto* admission = std::get_if<Admission>(&*checked);
  if (admission == nullptr) return tl::unexpected(Refusal::kMalformed);
  if (admission->key != key) return tl::unexpected(Refusal::kOtherKey);
  if (IsOut(*admission)) return tl::unexpected(Refusal::kRevoked);
  if (admissions_.contains(IdOf(*admission))) return false;
  const Terms& terms = admission->terms;
  if (now >= terms.expires) return tl::unexpected(Refusal::kExpired);
  if (terms.uses > 0 && Used(terms.id) >= terms.uses) return tl::unexpected(Refusal::kUsedUp);
  return Add(*checked, record);
}

std::set<PeerKey> Roster::members() const {
  std::set<PeerKey> members;
  for (const auto& [id, admission] : admissions_) {
    members.insert(admission.key);
    for (const Door& door : admission.terms.doors) {
      if (!revoked_.contains(door.key)) members.insert(door.key);
    }
  }
  return members;
}

const Admission* Roster::AdmissionOf(const PeerKey& key) const {
  const Admission* latest = nullptr;
  for (const auto& [id, admission] : admissions_) {
    if (admission.key != key) continue;
    if (latest == nullptr || latest->terms.expires < admission.terms.expires) latest = &admission;
  }
  return latest;
}

const RecordBytes* Roster::RecordOf(const PeerKey& key) const {
  const Admission* admission = AdmissionOf(key);
  return admission == nullptr ? nullptr : &records_.at(IdOf(*admission));
}

std::string FormatRoster(const Roster& roster) {
  std::string text(kRosterHead);
  text += '\n';
  for (const auto& [id, record] : roster.records()) text += FormatRecord(record) + '\n';
  return text;
}

std::string ReadRoster(std::string_view text, Roster& roster) {
  std::string problem;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    std::string wrong;
    if (number == 1) {
      if (line != kRosterHead) wrong = "wanted '" + std::string(kRosterHead) + "'";
    } else if (const auto record = ParseRecord(line); !record) {
      wrong = record.error().what;
    } else if (const auto taken = roster.Take(*record); !taken) {
      wrong = Name(taken.error());
    }
    if (problem.empty() && !wrong.empty()) {
      problem = "line " + std::to_string(number) + ": " + wrong;
    }
  }
  return problem;
}

}  // namespace covey::membership
