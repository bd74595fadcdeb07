// Consensus Learning at one node as a pure state machine: events in, actions out.
//
// Equation (Algorithm 1 of Crandall & Webb, "Consensus Driven Learning", arXiv 2005.10300):
//   repeat N times: x <- trainOnBatch(x)
//   repeat M times: send (WEIGHTS, x) to a random peer
//   then drain U:
//     (WEIGHTS, q) from j:  d <- gamma (q - x);  send (DELTAS, d) to j;  x <- x + d
//     (DELTAS, d):          x <- x - d
// Invariant: sum_i x_i - sum(DELTAS in flight) = sum_i x_i(0) + sum(local updates), for any
//   interleaving.
// Where we differ: exchanges have ids (a DELTAS is applied once, and only while its exchange is
//   pending), gamma falls with M, the FIFO is drained between mini-batches too (DrainAt), exchanges
//   in flight are limited, a tail of exchanges without training follows the training.
// In flight: at most M+1 own exchanges (M where a reply takes more than three rounds) younger than
//   two rounds or the mean reply time, whichever is longer. Exchanges begun per node and second
//   times their delay must stay below about 1.4 at gamma = 1/2, or averaging diverges
//   (Olfati-Saber & Murray 2004, on time delays); rounds alone do not bound that when they are
//   short against the network. A lost answer never stops a node.
// Of two: the step towards the only peer is gamma / (1 + c), c the young own exchanges with it that
//   are open: at gamma = 1/2 exchanges that cross swap the models instead of averaging them.
// Cost: one pass over x for each received message; no model-sized memory of its own.
// Thread: none; the caller serialises.
// Determinism: a function of settings, stream and the events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "covey/base/random.h"
#include "covey/base/time.h"
#include "covey/consensus/message.h"
#include "covey/consensus/adaptive_round.h"
#include "covey/consensus/settings.h"

namespace covey::consensus {

enum class State : std::uint8_t {
  kJoining,   // waits for a copy of a peer's x
  kTraining,  // Algorithm 1
  kSettling,  // exchanges without training
  kDone,      // initiates nothing, still answers
};

// --- Events ---
struct Started {};
// A Train action has ended after `batches` mini-batches. Fewer than asked: a command interrupted
// it, or, with DrainAt::kBatch, the FIFO holds messages; the rest of the round comes after them.
struct Trained {
  std::uint32_t batches = 0;
};
// The host took `message` from the FIFO and lends x and a reply buffer (EncodedSize bytes of the
// message's segment, 64-byte aligned), which is filled by WEIGHTS that are answered.
struct Received {
  const Message* message = nullptr;
  tensor::VectorView x;
  tensor::Coded<MutableByteView> reply;
};
// The FIFO was found empty after a Drain action.
struct Drained {};
struct PeerUp {
  PeerKey peer;
  tensor::EncodingSet takes{};  // for the host; the core has no use for it
};
struct PeerDown {
  PeerKey peer;
};
// The receiver of our WEIGHTS refused it: the exchange will never be answered.
struct Nacked {
  PeerKey peer;
  ExchangeId exchange;
};
// A newcomer asks for our x.
struct JoinAsked {
  PeerKey peer;
};
// The time of the last Wait action has come.
struct DeadlineReached {};
enum class Command : std::uint8_t { kPause, kResume, kSettle, kStop };
struct Commanded {
  Command command = Command::kPause;
};
using Event = std::variant<Started, Trained, Received, Drained, PeerUp, PeerDown, Nacked, JoinAsked,
                           DeadlineReached, Commanded>;

// --- Actions ---
// Train that many mini-batches, then report Trained. Until then no event lends x.
struct Train {
  std::uint32_t batches = 0;
};
// Report every message of the FIFO as Received, then Drained.
struct Drain {
  bool ends_round = true;  // false: in the middle of a round
};
// Nothing to do before `until` but to report events; a message in the FIFO is reported as Received
// at once.
struct Wait {
  Time until = kNever;
};
// Send (WEIGHTS, x): the host encodes the segment of x as it is now.
struct SendWeights {
  PeerKey peer;
  ExchangeId exchange;
  Segment segment;
  float gamma_max = 1;
  bool copy = false;  // answers JoinAsked; no reply wanted
};
// Send the reply buffer of the Received event that caused this action.
struct SendDeltas {
  PeerKey peer;
  ExchangeId exchange;
  Segment segment;
};
struct AskToJoin {
  PeerKey peer;
};
// Take a snapshot of x: for evaluation, checkpoints, readers.
struct Publish {};
using Action = std::variant<Train, Drain, Wait, SendWeights, SendDeltas, AskToJoin, Publish>;

// Why a received message changed nothing. Each has a counter.
enum class DropReason : std::uint8_t {
  kNotPending,    // DELTAS of no pending exchange, or from another peer or of another segment than
                  // asked: late, repeated or forged
  kDuplicate,     // WEIGHTS seen before
  kJoining,       // WEIGHTS for averaging while we wait for a copy
  kUnwantedCopy,  // a copy while we are not joining
  kWrongSize,     // payload does not fit x; gates before the FIFO should have caught it
  kTooFar,        // beyond Settings::max_distance
  kCount
};

struct Counters {
  std::uint64_t rounds = 0;           // completed, with and without training
  std::uint64_t batches = 0;          // trained
  std::uint64_t weights_started = 0;  // exchanges that we began
  std::uint64_t weights_applied = 0;  // of peers
  std::uint64_t deltas_made = 0;
  std::uint64_t deltas_applied = 0;
  std::uint64_t nacked = 0;
  std::uint64_t expired = 0;       // own exchanges given up
  std::uint64_t held_back = 0;     // sends skipped by the in-flight limit
  std::uint64_t without_peer = 0;  // sends skipped because nobody was reachable
  std::uint64_t dropped[static_cast<std::size_t>(DropReason::kCount)] = {};
};

class Node {
 public:
  // `first_exchange` is drawn anew at each start, so that answers to an earlier life never match.
  Node(const Settings& settings, Stream peers, ExchangeId first_exchange);

  // The one mutating method. Appends to `actions` in the order in which the host must carry them
  // out; exactly one of Train, Drain, Wait is outstanding at any time after Started. Requires:
  // `now` never goes back; Trained and Drained only as answers to their actions.
  void Handle(Time now, const Event& event, std::vector<Action>& actions);

  // Goes on from a checkpoint; before Started.
  void Restore(std::uint64_t batches, std::uint64_t rounds);

  // The shard has grown: what Settings::samples says from now on.
  void SetSamples(std::uint64_t samples) { settings_.samples = samples; }

  State state() const { return state_; }
  bool paused() const { return paused_; }
  const Counters& counters() const { return counters_; }
  const Settings& settings() const { return settings_; }
  // Whether x has been through rounds of the tail that count.
  bool settled() const { return settled_ > 0; }
  std::size_t reachable() const { return peers_.size(); }  // size of the set C
  std::size_t pending() const { return pending_.size(); }
  std::uint32_t batches() const { return round_size_.batches(); }  // N of the next round

 private:
  enum class Phase : std::uint8_t { kNotStarted, kTraining, kDraining, kWaiting };
  struct Pending {
    PeerKey peer;
    Segment segment;
    std::uint64_t round = 0;
    Time sent{};
  };
  using Actions = std::vector<Action>;

  void On(Time now, const Started&, Actions& actions);
  void On(Time now, const Trained& event, Actions& actions);
  void On(Time now, const Received& event, Actions& actions);
  void On(Time now, const Drained&, Actions& actions);
  void On(Time now, const PeerUp& event, Actions& actions);
  void On(Time now, const PeerDown& event, Actions& actions);
  void On(Time now, const Nacked& event, Actions& actions);
  void On(Time now, const JoinAsked& event, Actions& actions);
  void On(Time now, const DeadlineReached&, Actions& actions);
  void On(Time now, const Commanded& event, Actions& actions);

  void ApplyWeights(Time now, const Received& event, Actions& actions);
  void ApplyDeltas(Time now, const Received& event, Actions& actions);
  bool SeenBefore(const Message& message);
  bool TooFar(const Received& event) const;
  void Drop(DropReason reason) { ++counters_.dropped[static_cast<std::size_t>(reason)]; }

  void Proceed(Time now, Actions& actions);
  void SettlingRound(Time now, Actions& actions);
  void EndSettlingRound(Time now, Actions& actions);
  void NoteQuiet(const Message& message);
  bool AskedQuietPeer() const;
  void Answered(Time now, ExchangeId exchange, bool quiet, Actions& actions);
  void Finish(Actions& actions);
  void AskRandomPeer(Time now, Actions& actions);
  void SendToRandomPeers(Time now, Actions& actions);
  void SendCopy(const PeerKey& peer, Actions& actions);
  void WaitUntil(Time until, Actions& actions);
  void Expire(Time now);
  Segment NextSegment(std::uint32_t send);
  float GammaMax() const;
  double Rho(const Message& message) const;
  std::size_t InFlightLimit() const;
  std::size_t YoungInFlight(Time now) const;
  std::size_t CrossingInFlight(Time now, const Message& message) const;
  bool IsYoung(const Pending& pending, Time now) const;

  Settings settings_;
  float gamma_;
  Stream stream_;
  AdaptiveRound round_size_;
  State state_ = State::kTraining;
  Phase phase_ = Phase::kNotStarted;
  bool paused_ = false;
  bool stop_training_ = false;  // by command
  std::uint64_t next_exchange_;
  std::vector<PeerKey> peers_;  // reachable now, sorted
  std::map<ExchangeId, Pending> pending_;
  std::map<PeerKey, std::deque<ExchangeId>> seen_;  // the last WEIGHTS of each peer
  std::vector<std::uint32_t> segments_;             // the order of this round's; empty: S = 1
  std::vector<PeerKey> newcomers_;                  // asked for a copy while x was not ours to send
  std::uint32_t left_ = 0;  // mini-batches of this round that are still to be trained
  std::uint64_t batches_since_publish_ = 0;
  Time train_started_{};
  Duration round_length_{};  // moving average of a training phase: the pace of the tail
  Duration reply_time_{};    // moving average from WEIGHTS to its DELTAS
  Time settle_started_{};
  std::uint32_t settled_ = 0;            // completed rounds of the tail
  std::vector<ExchangeId> settle_open_;  // exchanges of this round not yet answered
  bool settle_quiet_ = false;            // a peer that no longer trains was heard in this round
  bool settle_answered_ = false;         // an answer came in this round
  std::uint32_t settle_deaf_ = 0;        // rounds in a row without any
  std::set<PeerKey> quiet_peers_;        // of peers_: who said last that it no longer trains
  Time deadline_ = kNever;
  Counters counters_;
};

}  // namespace covey::consensus
