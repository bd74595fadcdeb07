#include "covey/membership/book.h"

#include <algorithm>
#include <utility>

#include "covey/base/check.h"

namespace covey::membership {
namespace {

// Who asks is answered once in so long.
constexpr Duration kAnswerEvery = std::chrono::seconds(1);
constexpr Duration kAskFirst = std::chrono::seconds(1);
constexpr Duration kAskMost = std::chrono::minutes(1);
// A loop that is so late makes patience twice as long.
constexpr Duration kLate = std::chrono::milliseconds(200);
constexpr double kMostSlowness = 8;
// Links and attempts beyond `active` that look for peers that were lost.
constexpr std::size_t kProbes = 4;
constexpr Duration kLongestTick = std::chrono::milliseconds(500);

// What addresses of one operator of a network have in common: the first 24 bits of an IPv4 address,
// the first 48 of an IPv6 one as it is written; a name as a whole.
std::string NetworkOf(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  if (!host.empty() && host.front() == '[') {
    std::size_t end = 0;
    for (int group = 0; group < 3 && end != std::string::npos; ++group) {
      end = host.find(':', end + 1);
    }
    return host.substr(0, end);
  }
  const bool numeric = host.find_first_not_of("0123456789.") == std::string::npos;
  return numeric ? host.substr(0, host.rfind('.')) : host;
}

}  // namespace

std::string_view Name(State state) {
  switch (state) {
    case State::kUnknown:
      return "unknown";
    case State::kAlive:
      return "alive";
    case State::kSuspect:
      return "suspect";
    case State::kDead:
      return "dead";
    case State::kLeft:
      return "left";
  }
  return "?";
}

Book::Book(const Settings& settings, Stream stream)
    : settings_(settings), stream_(std::move(stream)), ask_pause_(kAskFirst) {
  COVEY_CHECK(settings.active > 0 && settings.max_peers > 0);
  COVEY_CHECK(settings.told <= wire::kMaxToldPeers, settings.told);
  COVEY_CHECK(settings.gossip_every > Duration::zero());
}

bool Book::Welcome(const PeerKey& key) const {
  return key != settings_.self && (!settings_.allowed || settings_.allowed->contains(key));
}

Book::Peer* Book::Find(Time now, const PeerKey& key) {
  const auto found = peers_.find(key);
  if (found != peers_.end()) return &found->second;
  if (!Welcome(key) || (peers_.size() >= settings_.max_peers && !MakeRoom())) return nullptr;
  Peer& peer = peers_[key];
  peer.since = now;
  ask_pause_ = kAskFirst;
  ask_due_ = std::min(ask_due_, now + ask_pause_);
  return &peer;
}

// Whoever was heard longest ago goes, unless it is a seed or we have to do with it.
bool Book::MakeRoom() {
  auto oldest = peers_.end();
  for (auto entry = peers_.begin(); entry != peers_.end(); ++entry) {
    const Peer& peer = entry->second;
    if (peer.seed || peer.linked || peer.dialling) continue;
    if (oldest == peers_.end() || peer.heard < oldest->second.heard) oldest = entry;
  }
  if (oldest == peers_.end()) return false;
  peers_.erase(oldest);
  return true;
}

void Book::Become(Time now, Peer& peer, State state, std::string reason) {
  if (peer.state != state) peer.since = now;
  peer.state = state;
  peer.reason = std::move(reason);
}

bool Book::HeardLately(Time now, const Peer& peer) const {
  return peer.linked || (peer.heard && now - *peer.heard <= settings_.lately);
}

void Book::Remember(Time now, const PeerKey& key, const std::string& address,
                    std::optional<Duration> age) {
  Peer* peer = Find(now, key);
  if (peer == nullptr || peer->linked || peer->seed) return;
  peer->address = address;
  if (age) peer->heard = std::max(peer->heard, std::optional<Time>(now - *age));
}

void Book::AddSeed(Time now, const PeerKey& key, const std::string& address) {
  Peer* peer = Find(now, key);
  if (peer == nullptr) return;
  peer->seed = true;
  peer->address = address;
}

// --- What happens ---

void Book::LinkUp(Time now, const PeerKey& key, std::vector<Action>& actions) {
  Peer* peer = Find(now, key);
  if (peer == nullptr || peer->linked) return;
  peer->linked = true;
  peer->released = false;
  peer->failures = 0;
  peer->heard = now;
  ++linked_;
  Become(now, *peer, State::kAlive, {});
  TellOne(now, key, actions);
}

void Book::LinkDown(Time now, const PeerKey& key, const std::string& reason, State became) {
  COVEY_CHECK(became == State::kSuspect || became == State::kLeft || became == State::kAlive);
  const auto entry = peers_.find(key);
  if (entry == peers_.end() || !entry->second.linked) return;
  Peer& peer = entry->second;
  peer.linked = false;
  --linked_;
  peer.heard = now;
  peer.give_up = now + settings_.answer_in;  // the host dials it again, if it did before
  if (std::exchange(peer.released, false) && became == State::kSuspect) return;
  Become(now, peer, became, reason);
}

// A peer is believed what it says of itself, and of others what is newer than what we know.
void Book::Told(Time now, const PeerKey& by, const wire::Membership& what,
                std::vector<Action>& actions) {
  Peer* teller = Find(now, by);
  if (teller == nullptr) return;
  teller->heard = now;
  if (!teller->seed) teller->address = what.own_address;
  if (what.wants_peers && (!teller->answered || now - *teller->answered >= kAnswerEvery)) {
    teller->answered = now;
    TellOne(now, by, actions);
  }
  for (const wire::ToldPeer& told : what.peers) {
    if (told.key == by || !Welcome(told.key)) continue;
    const Time heard = now - std::max(told.age, Duration::zero());
    Peer* peer = Find(now, told.key);
    if (peer == nullptr || peer->linked || (peer->heard && *peer->heard >= heard)) continue;
    peer->heard = heard;
    if (!peer->seed &&
        peer->address != told.address) {  // it has moved: the old address will not answer
      peer->address = told.address;
      peer->dial_due = now;
      peer->give_up = now;
    }
    const bool gone = peer->state == State::kDead || peer->state == State::kLeft;
    if (gone && heard > peer->since) Become(now, *peer, State::kUnknown, {});
  }
}

void Book::Allow(Time now, std::optional<std::set<PeerKey>> keys, std::vector<Action>& actions) {
  settings_.allowed = std::move(keys);
  for (auto entry = peers_.begin(); entry != peers_.end();) {
    if (Welcome(entry->first)) {
      ++entry;
      continue;
    }
    if (entry->second.dialling) HangUpOn(entry, actions);
    if (entry->second.linked) --linked_;
    entry = peers_.erase(entry);
  }
  ask_due_ = std::min(ask_due_, now);
}

// --- What is due ---

Time Book::Tick(Time now, Duration late, std::vector<Action>& actions) {
  const double slowness = 1 + std::max(0.0, Seconds(late) / Seconds(kLate));
  slowness_ = std::clamp(slowness, std::max(1.0, 0.9 * slowness_), kMostSlowness);
  Age(now);
  GiveUpAttempts(now, actions);
  RefreshWhenDue(now, actions);
  DialWhenFew(now, actions);
  GossipWhenDue(now, actions);
  return std::min({now + kLongestTick, gossip_due_, ask_due_});
}

void Book::Age(Time now) {
  for (auto entry = peers_.begin(); entry != peers_.end();) {
    Peer& peer = entry->second;
    const Duration patience = FromSeconds(Seconds(settings_.patience) * slowness_);
    if (peer.state == State::kSuspect && now - peer.since >= patience) {
      Become(now, peer, State::kDead, std::exchange(peer.reason, {}));
    }
    if (peer.state == State::kAlive && !HeardLately(now, peer)) {
      Become(now, peer, State::kUnknown, {});
    }
    const Duration silent = now - peer.heard.value_or(peer.since);
    const bool idle = !peer.seed && !peer.linked && !peer.dialling;
    entry = idle && silent > settings_.forgotten_after ? peers_.erase(entry) : std::next(entry);
  }
}

Duration Book::Pause(Time now, const Peer& peer) {
  const Duration most = HeardLately(now, peer) ? settings_.again_known : settings_.again_unknown;
  Duration pause = settings_.again_first;
  for (std::uint32_t i = 1; i < peer.failures && pause < most; ++i) pause *= 2;
  return FromSeconds(Seconds(std::min(pause, most)) * (0.5 + stream_.Uniform() / 2));
}

void Book::HangUpOn(Entry entry, std::vector<Action>& actions) {
  entry->second.dialling = false;
  actions.push_back(HangUp{entry->first});
}

void Book::GiveUpAttempts(Time now, std::vector<Action>& actions) {
  for (auto entry = peers_.begin(); entry != peers_.end(); ++entry) {
    Peer& peer = entry->second;
    if (!peer.dialling || peer.linked || now < peer.give_up) continue;
    ++peer.failures;
    peer.dial_due = now + Pause(now, peer);
    HangUpOn(entry, actions);
  }
}

bool Book::MayDial(Time now, const Peer& peer) const {
  if (peer.linked || peer.dialling || peer.address.empty() || now < peer.dial_due) return false;
  return peer.seed || peer.state != State::kLeft;
}

void Book::DialWhenFew(Time now, std::vector<Action>& actions) {
  std::size_t busy = 0;
  std::size_t ours = 0;
  std::map<std::string, std::size_t> near;  // that we dial, by network
  for (const auto& [key, peer] : peers_) {
    busy += peer.linked || peer.dialling ? 1u : 0u;
    ours += peer.dialling ? 1u : 0u;
    if (peer.dialling) ++near[NetworkOf(peer.address)];
  }
  // Half of the links are for others to dial, or the first ones of a fleet would end with most. The
  // other half is ours, however many dial us: nobody can fill it from outside.
  const std::size_t half = (settings_.active + 1) / 2;
  const std::size_t of_one_network = std::max<std::size_t>(1, half / 4);
  const bool few = ours < half;
  // Whoever was lost is looked for beyond the links that we seek: after a partition each half has
  // filled them with its own.
  const std::size_t most = settings_.active + kProbes;
  std::size_t free = few ? half - ours : most - std::min(busy, most);
  std::vector<Entry> candidates;
  for (auto entry = peers_.begin(); entry != peers_.end(); ++entry) {
    const Peer& peer = entry->second;
    const bool lost =
        (peer.state == State::kSuspect || peer.state == State::kDead) && HeardLately(now, peer);
    if ((few || lost) && MayDial(now, peer)) candidates.push_back(entry);
  }
  for (; free > 0 && !candidates.empty(); --free) {
    // From networks of which we dial few, as long as there are such.
    const auto crowded = std::partition(candidates.begin(), candidates.end(), [&](Entry entry) {
      const auto found = near.find(NetworkOf(entry->second.address));
      return found == near.end() || found->second < of_one_network;
    });
    const auto spread = static_cast<std::size_t>(crowded - candidates.begin());
    const auto drawn =
        static_cast<std::size_t>(stream_.Below(spread > 0 ? spread : candidates.size()));
    const Entry entry = candidates[drawn];
    candidates[drawn] = candidates.back();
    candidates.pop_back();
    ++near[NetworkOf(entry->second.address)];
    entry->second.dialling = true;
    entry->second.give_up = now + settings_.answer_in;
    actions.push_back(Dial{entry->first, entry->second.address});
  }
}

void Book::RefreshWhenDue(Time now, std::vector<Action>& actions) {
  if (settings_.refresh <= Duration::zero() || now < refresh_due_) return;
  const bool first = refresh_due_ == Time{};
  refresh_due_ = now + FromSeconds(Seconds(settings_.refresh) * (0.5 + stream_.Uniform()));
  if (first || linked_ < settings_.active) return;
  std::vector<Entry> ours;
  bool others = linked_ > settings_.active;
  for (auto entry = peers_.begin(); entry != peers_.end(); ++entry) {
    if (entry->second.linked && entry->second.dialling) ours.push_back(entry);
    others |= MayDial(now, entry->second) && HeardLately(now, entry->second);
  }
  if (ours.empty() || !others) return;
  const Entry gone = ours[static_cast<std::size_t>(stream_.Below(ours.size()))];
  gone->second.released = true;
  gone->second.dial_due = now + settings_.refresh;  // another one comes in its place
  HangUpOn(gone, actions);
}

// --- Gossip ---

void Book::TellOne(Time now, const PeerKey& to, std::vector<Action>& actions) {
  wire::Membership what;
  what.own_address = settings_.own_address;
  std::vector<Entry> known;
  for (auto entry = peers_.begin(); entry != peers_.end(); ++entry) {
    const Peer& peer = entry->second;
    const bool gone = peer.state == State::kDead || peer.state == State::kLeft;
    if (gone || peer.address.empty() || entry->first == to || !HeardLately(now, peer)) continue;
    known.push_back(entry);
  }
  while (what.peers.size() < settings_.told && !known.empty()) {
    const auto drawn = static_cast<std::size_t>(stream_.Below(known.size()));
    const Entry entry = std::exchange(known[drawn], known.back());
    known.pop_back();
    const Duration age =
        entry->second.linked ? Duration::zero() : now - entry->second.heard.value_or(now);
    what.peers.push_back({entry->first, entry->second.address, age});
  }
  actions.push_back(Tell{to, std::move(what)});
}

// Too few links, and too few others to choose from.
bool Book::NeedsPeers(Time now) const {
  if (linked_ >= settings_.active) return false;
  std::size_t others = 0;
  for (const auto& [key, peer] : peers_) {
    const bool gone = peer.state == State::kDead || peer.state == State::kLeft;
    others += !peer.linked && !gone && !peer.address.empty() && HeardLately(now, peer) ? 1u : 0u;
  }
  return others < settings_.active;
}

void Book::GossipWhenDue(Time now, std::vector<Action>& actions) {
  const bool asks = now >= ask_due_ && NeedsPeers(now);
  if (now < gossip_due_ && !asks) {
    if (now >= ask_due_) ask_due_ = now + ask_pause_;
    return;
  }
  if (now >= gossip_due_) {
    gossip_due_ = now + FromSeconds(Seconds(settings_.gossip_every) * (0.5 + stream_.Uniform()));
  }
  if (now >= ask_due_) {
    ask_due_ = now + ask_pause_;
    if (linked_ > 0) ask_pause_ = std::min(2 * ask_pause_, kAskMost);
  }
  if (linked_ == 0) return;
  auto drawn = stream_.Below(linked_);
  for (const auto& [key, peer] : peers_) {
    if (!peer.linked || drawn-- > 0) continue;
    TellOne(now, key, actions);
    std::get<Tell>(actions.back()).what.wants_peers = asks;
    return;
  }
}

std::vector<Known> Book::peers() const {
  std::vector<Known> all;
  for (const auto& [key, peer] : peers_) {
    Known known;
    known.key = key;
    known.address = peer.address;
    known.state = peer.state;
    known.reason = peer.reason;
    known.since = peer.since;
    known.heard = peer.heard;
    known.linked = peer.linked;
    known.dialled = peer.dialling;
    all.push_back(std::move(known));
  }
  return all;
}

}  // namespace covey::membership
