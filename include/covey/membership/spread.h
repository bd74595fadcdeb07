// Which records a node tells whom: news at once to everybody with a link, and where two nodes hold
// different sets, all of them, a few a second.
//
// News that come one after the other are told together, every `kNewsEvery` at most.
// Each telling has a hash of the sender's set. Whoever sees another hash than its own goes through
// its set in order, at most kToldRecordBytes each `kTellEvery`; once, and again after `kAgainAfter`
// when that did not help (a set may be full).
// Thread: none, no clock.  Determinism: a function of the calls; peers are walked in key order.
// Source: Demers et al. (1987), Epidemic algorithms for replicated database maintenance: rumours
//   for what is new, anti-entropy for what was missed. Where we differ: a rumour is told once to
//   each link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/time.h"
#include "covey/membership/roster.h"
#include "covey/wire/membership.h"

namespace covey::membership {

class Spread {
 public:
  // Links take four tellings a second from a peer, and there are others than these.
  static constexpr Duration kNewsEvery = std::chrono::milliseconds(500);
  static constexpr Duration kTellEvery = std::chrono::seconds(1);
  static constexpr Duration kAgainAfter = std::chrono::minutes(1);

  void LinkUp(const PeerKey& peer) { peers_.try_emplace(peer); }
  void LinkDown(const PeerKey& peer) { peers_.erase(peer); }

  // What was taken just now, from `by` or from elsewhere.
  void News(const Digest& record, const std::optional<PeerKey>& by);
  // A linked peer told the hash of its set.
  void Compare(Time now, const PeerKey& peer, std::uint64_t theirs, std::uint64_t ours);

  // Returns: tellings that are due, with records and nothing else.
  std::vector<std::pair<PeerKey, wire::Membership>> Tick(Time now, const Roster& roster);
  Time due() const;  // of the next one; kNever

 private:
  struct Peer {
    std::set<Digest> news;
    Time news_due{};
    std::optional<Digest> next;  // going through the set: the first that was not told
    Time due{};
    Time again{};  // not gone through it before
  };

  std::map<PeerKey, Peer> peers_;
};

}  // namespace covey::membership
