// Who is in the fleet, as one node knows it: whom to dial, whom to tell what, and what became of
// everybody.
//
//     told of ---> unknown --link up--> alive --link down--> suspect --patience over--> dead
//                                         \--------------- said goodbye --------------> left
//
// A node seeks `active` links: it dials half of them, at random among those that it knows, and
// leaves the others to be dialled. Of the peers that it dials, at most a quarter are of one network
// (/24, /48) while it knows others. When one does not answer it goes on with others; every so often
// it gives up one link that it dialled for another peer, so that the fleet's graph stays a random
// one. It knows peers from its seeds, from the file of an earlier life, and from gossip: every
// `gossip_every` it tells one linked peer, drawn at random, about `told` others, also drawn at
// random among those that were heard lately. Who has too few links and knows too few others asks
// for more, and is answered. Peers that were lost are looked for beyond the links that are sought.
//
// Limits: peers known; bytes told (`told` entries each `gossip_every`, and as many when a link
//   comes up or asks, which it may once a second). So the traffic does not depend on the size of
//   the fleet.
// Trust: an entry only says whom to dial. A wrong address costs an attempt, because whoever answers
// there must own the key; keys that are not allowed are not taken in.
// Thread: none, no clock.  Determinism: a function of the settings, the stream and the calls; peers
// are walked in key order.
// Source: Jelasity et al. (2007), Gossip-based peer sampling, ACM TOCS 25, for random views that
//   are refreshed; Dadgar et al. (2017), Lifeguard, arXiv 1707.00788, for patience that grows when
//   our own loop is late. Where we differ: links are connections that live long, and they count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/random.h"
#include "covey/base/time.h"
#include "covey/wire/membership.h"

namespace covey::membership {

struct Settings {
  PeerKey self{};
  std::string own_address{};                   // "host:port" where others reach us; empty: nowhere
  std::optional<std::set<PeerKey>> allowed{};  // unset: everybody that the transport lets in
  std::size_t active = 16;                     // links that a node seeks, at least 1
  Duration refresh = std::chrono::minutes(1);  // mean time until one of them is replaced; 0: never
  Duration gossip_every = std::chrono::seconds(2);
  std::size_t told = 8;                           // peers in one telling, at most kMaxToldPeers
  Duration answer_in = std::chrono::seconds(15);  // a peer that is dialled must be up by then
  Duration patience = std::chrono::seconds(15);   // suspect to dead
  // Pauses before a peer that did not answer is dialled again: doubling from the first to the cap,
  // which is the short one for peers heard within `lately`, times an even draw from [0.5, 1].
  Duration again_first = std::chrono::milliseconds(500);
  Duration again_known = std::chrono::seconds(5);
  Duration again_unknown = std::chrono::seconds(60);
  Duration lately = std::chrono::hours(1);
  Duration forgotten_after = std::chrono::hours(24);  // peers not heard of for so long
  std::size_t max_peers = 1024;                       // known, at least 1
};

enum class State : std::uint8_t { kUnknown, kAlive, kSuspect, kDead, kLeft };

// "unknown", "alive", "suspect", "dead", "left".
std::string_view Name(State state);

// What the host has to do.
struct Tell {
  PeerKey to;
  wire::Membership what;
};
// Dial it, and again after losses, until HangUp.
struct Dial {
  PeerKey peer;
  std::string address;
};
// Stop dialling it, and close the link that was dialled to it.
struct HangUp {
  PeerKey peer;
};
using Action = std::variant<Tell, Dial, HangUp>;

// One line of a table, and of the peers file.
struct Known {
  PeerKey key;
  std::string address;  // empty: it can't be dialled
  State state = State::kUnknown;
  std::string reason;         // of suspect, dead and left
  Time since{};               // of the state
  std::optional<Time> heard;  // by us or by somebody who told us
  bool linked = false;
  bool dialled = false;
};

class Book {
 public:
  // Requires: the limits above hold. `stream` is of this node alone.
  Book(const Settings& settings, Stream stream);

  // Of an earlier life, a door or a beacon, which nothing proves; and a seed. A seed is never
  // forgotten, and whatever it tells of itself, it is dialled where the operator says: that may be
  // a forwarded port.
  void Remember(Time now, const PeerKey& peer, const std::string& address,
                std::optional<Duration> age);
  void AddSeed(Time now, const PeerKey& peer, const std::string& address);

  // A link is ready. `dialled`: by us. A second link to the same peer changes nothing.
  void LinkUp(Time now, const PeerKey& peer, std::vector<Action>& actions);
  // Its last link is gone. `became`: kSuspect; kAlive when the peer closed the link, as it does to
  // have another in its place; kLeft when it said that it leaves.
  void LinkDown(Time now, const PeerKey& peer, const std::string& reason, State became);
  void Told(Time now, const PeerKey& by, const wire::Membership& what,
            std::vector<Action>& actions);

  // Does what is due. `late`: how much later than asked for this call is, which makes patience
  // longer (200 ms: twice, up to eight times).
  // Returns: when to be called next.
  Time Tick(Time now, Duration late, std::vector<Action>& actions);

  // Replaces Settings::allowed; whoever is not allowed is forgotten.
  void Allow(Time now, std::optional<std::set<PeerKey>> keys, std::vector<Action>& actions);

  std::vector<Known> peers() const;  // in key order
  std::size_t linked() const { return linked_; }

 private:
  struct Peer {
    std::string address;
    bool seed = false;
    bool linked = false;
    bool dialling = false;  // the host dials it, or has the link that it dialled
    State state = State::kUnknown;
    std::string reason;
    Time since{};
    std::optional<Time> heard;
    Time dial_due{};  // not before
    Time give_up{};   // of the attempt that runs
    std::uint32_t failures = 0;
    std::optional<Time> answered;  // when it was told something because it asked
    bool released = false;         // we hung up: its link goes down for no fault of its own
  };
  using Entry = std::map<PeerKey, Peer>::iterator;

  bool Welcome(const PeerKey& key) const;
  Peer* Find(Time now,
             const PeerKey& key);  // made when it is not known; null: no room, not welcome
  bool MakeRoom();
  void Become(Time now, Peer& peer, State state, std::string reason);
  bool MayDial(Time now, const Peer& peer) const;
  void TellOne(Time now, const PeerKey& to, std::vector<Action>& actions);
  void HangUpOn(Entry entry, std::vector<Action>& actions);
  void GossipWhenDue(Time now, std::vector<Action>& actions);
  void Age(Time now);
  void GiveUpAttempts(Time now, std::vector<Action>& actions);
  void DialWhenFew(Time now, std::vector<Action>& actions);
  void RefreshWhenDue(Time now, std::vector<Action>& actions);
  Duration Pause(Time now, const Peer& peer);
  bool NeedsPeers(Time now) const;
  bool HeardLately(Time now, const Peer& peer) const;

  Settings settings_;
  Stream stream_;
  std::map<PeerKey, Peer> peers_;
  std::size_t linked_ = 0;
  double slowness_ = 1;  // factor of patience
  Time gossip_due_{};
  Time ask_due_{};
  Duration ask_pause_;  // doubles while asking brings nobody new
  Time refresh_due_{};
};

}  // namespace covey::membership
