#include "covey/learner/interrupted.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace covey::learner {
namespace {

using consensus::Message;
using consensus::MessageKind;

template <class Map>
auto Oldest(Map& map) {
  return std::min_element(map.begin(), map.end(), [](const auto& a, const auto& b) {
    return a.second.since < b.second.since;
  });
}

std::size_t BytesOf(const session::Incoming& part) {
  return static_cast<std::size_t>(part.begin().total);
}

}  // namespace

std::size_t KeptParts::Keep(Time now, const PeerKey& peer, SessionId life, session::Incoming part) {
  const auto older = parts_.find(peer);
  const std::size_t freed = older == parts_.end() ? 0 : BytesOf(older->second.incoming);
  parts_.insert_or_assign(peer, Part{std::move(part), life, now});
  return freed;
}

std::optional<session::Incoming> KeptParts::Take(const PeerKey& peer, SessionId life,
                                                 MessageKind kind, ExchangeId exchange) {
  const auto found = parts_.find(peer);
  if (found == parts_.end() || found->second.life != life ||
      found->second.incoming.begin().kind != kind ||
      found->second.incoming.envelope().exchange != exchange) {
    return std::nullopt;
  }
  std::optional<session::Incoming> part = std::move(found->second.incoming);
  parts_.erase(found);
  return part;
}

std::size_t KeptParts::DropOldest() {
  const auto oldest = Oldest(parts_);
  if (oldest == parts_.end()) return 0;
  const std::size_t freed = BytesOf(oldest->second.incoming);
  parts_.erase(oldest);
  return freed;
}

std::size_t KeptParts::Expire(Time now) {
  std::size_t freed = 0;
  while (due() <= now) freed += DropOldest();
  return freed;
}

Time KeptParts::due() const {
  const auto oldest = Oldest(parts_);
  return oldest == parts_.end() ? kNever : oldest->second.since + age_;
}

std::vector<Message> KeptMessages::Keep(Time now, const PeerKey& peer, KeptFor kept) {
  std::vector<Message> lost = std::move(Take(peer).messages);
  const auto fits = [this](const Message& message) {
    if (bytes_ + message.payload->size() > most_) return false;
    bytes_ += message.payload->size();
    return true;
  };
  const auto end = std::find_if_not(kept.messages.begin(), kept.messages.end(), fits);
  std::move(end, kept.messages.end(), std::back_inserter(lost));
  kept.messages.erase(end, kept.messages.end());
  if (!kept.messages.empty()) kept_.emplace(peer, Entry{std::move(kept), now});
  return lost;
}

bool KeptMessages::Add(Time now, SessionId life, const Message& message, std::size_t most) {
  if (bytes_ + message.payload->size() > most_) return false;
  Entry& entry =
      kept_.try_emplace(message.peer, Entry{KeptFor{{}, false, life}, now}).first->second;
  if (entry.kept.life != life || entry.kept.messages.size() >= most) return false;
  bytes_ += message.payload->size();
  entry.kept.messages.push_back(message);
  return true;
}

KeptFor KeptMessages::Take(const PeerKey& peer) {
  const auto found = kept_.find(peer);
  if (found == kept_.end()) return {};
  KeptFor kept = std::move(found->second.kept);
  for (const Message& message : kept.messages) bytes_ -= message.payload->size();
  kept_.erase(found);
  return kept;
}

std::vector<Message> KeptMessages::Expire(Time now) {
  std::vector<Message> lost;
  while (due() <= now) {
    std::vector<Message> old = Take(Oldest(kept_)->first).messages;
    std::move(old.begin(), old.end(), std::back_inserter(lost));
  }
  return lost;
}

Time KeptMessages::due() const {
  const auto oldest = Oldest(kept_);
  return oldest == kept_.end() ? kNever : oldest->second.since + age_;
}

void LastWhole::Note(const PeerKey& peer, SessionId life, MessageKind kind, ExchangeId exchange) {
  if (last_.size() >= most_ && !last_.contains(peer)) last_.erase(last_.begin());
  last_.insert_or_assign(peer, Entry{life, kind, exchange});
}

std::optional<SessionId> LastWhole::Life(const PeerKey& peer) const {
  const auto found = last_.find(peer);
  return found == last_.end() ? std::nullopt : std::optional(found->second.life);
}

bool LastWhole::Is(const PeerKey& peer, SessionId life, MessageKind kind,
                   ExchangeId exchange) const {
  const auto found = last_.find(peer);
  return found != last_.end() && found->second == Entry{life, kind, exchange};
}

}  // namespace covey::learner
