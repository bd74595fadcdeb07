#include "covey/membership/spread.h"

#include <algorithm>
#include <utility>

namespace covey::membership {
namespace {

// More news than this at a time: then the whole set is gone through.
constexpr std::size_t kMostNews = 64;

bool HasRoom(const wire::Membership& what, std::size_t bytes, const RecordBytes& record) {
  return what.records.size() < wire::kMaxToldRecords &&
         bytes + record.size() <= wire::kToldRecordBytes;
}

}  // namespace

void Spread::News(const Digest& record, const std::optional<PeerKey>& by) {
  for (auto& [key, peer] : peers_) {
    if (key == by) continue;
    peer.news.insert(record);
    if (peer.news.size() <= kMostNews) continue;
    peer.news.clear();
    peer.next = Digest{};
  }
}

void Spread::Compare(Time now, const PeerKey& key, std::uint64_t theirs, std::uint64_t ours) {
  const auto at = peers_.find(key);
  if (at == peers_.end()) return;
  Peer& peer = at->second;
  if (theirs == ours) {
    peer.next.reset();
    peer.again = now;
  } else if (!peer.next && now >= peer.again) {
    peer.next = Digest{};
    peer.again = now + kAgainAfter;
  }
}

std::vector<std::pair<PeerKey, wire::Membership>> Spread::Tick(Time now, const Roster& roster) {
  std::vector<std::pair<PeerKey, wire::Membership>> tellings;
  for (auto& [key, peer] : peers_) {
    wire::Membership what;
    std::size_t bytes = 0;
    const bool tells_news = now >= peer.news_due && !peer.news.empty();
    if (tells_news) peer.news_due = now + kNewsEvery;
    while (tells_news && !peer.news.empty()) {
      const auto record = roster.records().find(*peer.news.begin());
      if (record != roster.records().end()) {  // it may have been revoked meanwhile
        if (!HasRoom(what, bytes, record->second)) break;
        bytes += record->second.size();
        what.records.push_back(record->second);
      }
      peer.news.erase(peer.news.begin());
    }
    if (peer.next && now >= peer.due) {
      peer.due = now + kTellEvery;
      auto record = roster.records().lower_bound(*peer.next);
      for (; record != roster.records().end() && HasRoom(what, bytes, record->second); ++record) {
        bytes += record->second.size();
        what.records.push_back(record->second);
      }
      if (record == roster.records().end()) {
        peer.next.reset();
      } else {
        peer.next = record->first;
      }
    }
    if (!what.records.empty()) tellings.emplace_back(key, std::move(what));
  }
  return tellings;
}

Time Spread::due() const {
  Time due = kNever;
  for (const auto& [key, peer] : peers_) {
    if (!peer.news.empty()) due = std::min(due, peer.news_due);
    if (peer.next) due = std::min(due, peer.due);
  }
  return due;
}

}  // namespace covey::membership
