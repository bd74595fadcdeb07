#include "node/admissions.h"

#include <algorithm>

#include "covey/log/log.h"

namespace covey::node {

using membership::Refusal;

Admissions::Admissions(AdmissionsPlan plan, const PeerKey& self)
    : plan_(std::move(plan)), self_(self) {
  for (const auto& [id, record] : plan_.roster.records()) told_.insert(id);
}

std::set<PeerKey> Admissions::allowed() const {
  std::set<PeerKey> keys = plan_.roster.members();
  keys.insert(plan_.configured.begin(), plan_.configured.end());
  std::erase_if(keys, [this](const PeerKey& key) { return plan_.roster.IsRevoked(key); });
  return keys;
}

void Admissions::Refuse(Refusal why, const std::string& who, bool at_door) {
  ++counts_.refused[static_cast<std::size_t>(why)];
  const std::string reason(membership::Name(why));
  log::WriteLimited(log::Level::kInfo, log::Category::kNetwork, "record " + reason + ' ' + who,
                    at_door ? "refused a newcomer" : "refused what a peer told of admissions",
                    {{"peer", who}, {"reason", reason}});
}

bool Admissions::Changed(std::uint64_t before, const std::optional<PeerKey>& by) {
  if (plan_.roster.version() == before) return false;
  std::erase_if(told_, [this](const Digest& id) { return !plan_.roster.records().contains(id); });
  for (const auto& [id, record] : plan_.roster.records()) {
    if (told_.insert(id).second) spread_.News(id, by);
  }
  if (plan_.keep) plan_.keep(membership::FormatRoster(plan_.roster));
  return true;
}

bool Admissions::Take(const std::vector<membership::RecordBytes>& records,
                      const std::optional<PeerKey>& by) {
  const std::uint64_t before = plan_.roster.version();
  for (const membership::RecordBytes& record : records) {
    const auto taken = plan_.roster.Take(record);
    if (taken || taken.error() == Refusal::kRevoked) continue;  // it may not have heard of it yet
    Refuse(taken.error(), by ? by->Short() : "local", false);
    break;
  }
  return Changed(before, by);
}

std::string Admissions::AnswerAtDoor(const PeerKey& key, ByteView record,
                                     const std::string& own_address, std::uint64_t now,
                                     bool* changed) {
  const std::uint64_t before = plan_.roster.version();
  const auto taken = plan_.roster.TakeAtDoor(record, key, now);
  *changed = Changed(before, std::nullopt);
  if (!taken) {
    Refuse(taken.error(), key.Short(), true);
    return membership::FormatAnswer(tl::unexpected(taken.error()));
  }
  if (*taken) {
    ++counts_.let_in;
    log::Info(log::Category::kNetwork, "let a newcomer in",
              {{"peer", key.Short()}, {"invited_as", plan_.roster.AdmissionOf(key)->terms.name}});
  }
  return membership::FormatAnswer(own_address);
}

AdmissionsReport Admissions::report() const {
  AdmissionsReport report = counts_;
  report.admitted = plan_.roster.admissions();
  report.revoked = plan_.roster.revocations();
  return report;
}

}  // namespace covey::node
