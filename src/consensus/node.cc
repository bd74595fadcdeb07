#include "covey/consensus/node.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "covey/base/check.h"

namespace covey::consensus {
namespace {

// How many WEIGHTS of one peer are remembered to drop repeated ones.
constexpr std::size_t kRemembered = 32;
// Of how many peers: beyond that, those that are not reachable are forgotten.
constexpr std::size_t kRememberedPeers = 1024;
// So many rounds of the tail in a row without an answer: answers don't come.
constexpr std::uint32_t kDeafRounds = 8;
// AdaptiveRound of the tail when no training round has been timed, and its bounds.
constexpr Duration kDefaultPace = std::chrono::milliseconds(50);
constexpr Duration kMinPace = std::chrono::milliseconds(1);
constexpr Duration kMaxPace = std::chrono::seconds(5);

}  // namespace

Node::Node(const Settings& settings, Stream peers, ExchangeId first_exchange)
    : settings_(settings),
      gamma_(EffectiveGamma(settings)),
      stream_(std::move(peers)),
      round_size_(settings.batches, settings.batches_most),
      next_exchange_(first_exchange.value) {
  COVEY_CHECK(settings.batches > 0, settings.batches);
  COVEY_CHECK(gamma_ > 0 && gamma_ <= 1, gamma_);
  COVEY_CHECK(settings.segments > 0 && settings.segments <= kMaxSegments, settings.segments);
  if (settings.segments > 1) {
    segments_.resize(settings.segments);
    std::iota(segments_.begin(), segments_.end(), 0U);
  }
}

void Node::Restore(std::uint64_t batches, std::uint64_t rounds) {
  COVEY_CHECK(phase_ == Phase::kNotStarted, phase_);
  counters_.batches = batches;
  counters_.rounds = rounds;
  settings_.join = false;  // it has a model of the fleet already
}

void Node::Handle(Time now, const Event& event, std::vector<Action>& actions) {
  std::visit([&](const auto& one) { On(now, one, actions); }, event);
}

void Node::On(Time now, const Started&, Actions& actions) {
  COVEY_CHECK(phase_ == Phase::kNotStarted, phase_);
  phase_ = Phase::kWaiting;
  if (settings_.join) state_ = State::kJoining;
  Proceed(now, actions);
}

void Node::On(Time now, const Trained& event, Actions& actions) {
  COVEY_CHECK(phase_ == Phase::kTraining, phase_);
  COVEY_CHECK(event.batches <= left_, event.batches, left_);
  phase_ = Phase::kDraining;
  counters_.batches += event.batches;
  batches_since_publish_ += event.batches;
  left_ -= event.batches;
  for (const PeerKey& newcomer : std::exchange(newcomers_, {})) SendCopy(newcomer, actions);
  const bool goes_on = !paused_ && !stop_training_ && state_ == State::kTraining;
  if (settings_.drain == DrainAt::kRound || !goes_on) left_ = 0;
  if (left_ > 0) {
    actions.push_back(Drain{.ends_round = false});
    return;
  }
  const Duration length = now - train_started_;
  round_length_ = round_length_ == Duration::zero() ? length : (7 * round_length_ + length) / 8;
  if (!paused_ && state_ == State::kTraining) SendToRandomPeers(now, actions);
  actions.push_back(Drain{.ends_round = true});
}

void Node::On(Time now, const Drained&, Actions& actions) {
  COVEY_CHECK(phase_ == Phase::kDraining, phase_);
  if (left_ > 0 && !paused_ && !stop_training_ && state_ == State::kTraining) {
    phase_ = Phase::kTraining;
    actions.push_back(Train{left_});
    return;
  }
  phase_ = Phase::kWaiting;
  ++counters_.rounds;
  Expire(now);
  if (settings_.publish_batches > 0 && batches_since_publish_ >= settings_.publish_batches) {
    batches_since_publish_ = 0;
    actions.push_back(Publish{});
  }
  Proceed(now, actions);
}

// What comes after a round, a command or the copy of a peer's model.
void Node::Proceed(Time now, Actions& actions) {
  if (paused_) return WaitUntil(kNever, actions);
  const bool trained_enough =
      settings_.until_batches > 0 && counters_.batches >= settings_.until_batches;
  if (state_ == State::kTraining && (trained_enough || stop_training_)) {
    state_ = State::kSettling;
    settle_started_ = now;
  }
  switch (state_) {
    case State::kJoining:
      return AskRandomPeer(now, actions);
    case State::kTraining: {
      std::uint64_t batches = round_size_.batches();
      if (settings_.until_batches > 0) {
        batches = std::min(batches, settings_.until_batches - counters_.batches);
      }
      phase_ = Phase::kTraining;
      train_started_ = now;
      deadline_ = kNever;
      left_ = static_cast<std::uint32_t>(batches);
      actions.push_back(Train{left_});
      return;
    }
    case State::kSettling:
      return SettlingRound(now, actions);
    case State::kDone:
      return WaitUntil(kNever, actions);
  }
}

// --- The tail: exchanges without training ---

void Node::SettlingRound(Time now, Actions& actions) {
  if (settled_ >= settings_.settle_rounds || now - settle_started_ >= settings_.settle_patience) {
    return Finish(actions);
  }
  settle_quiet_ = false;
  settle_answered_ = false;
  settle_open_.clear();
  const std::uint64_t first = next_exchange_;
  SendToRandomPeers(now, actions);
  for (std::uint64_t id = first; id < next_exchange_; ++id) settle_open_.push_back(ExchangeId{id});
  const Duration longest = std::max(round_length_, reply_time_);
  const Duration pace = longest == Duration::zero() ? kDefaultPace : 2 * longest;
  WaitUntil(now + std::clamp(pace, kMinPace, kMaxPace), actions);
}

void Node::EndSettlingRound(Time now, Actions& actions) {
  ++counters_.rounds;
  Expire(now);
  settle_deaf_ = settle_answered_ ? 0 : settle_deaf_ + 1;
  // A round among peers that still train does not bring the fleet to rest: it does not count.
  // Alone, it does; and where answers never come, one that went to a peer at rest.
  if (settle_quiet_ || peers_.empty() || (settle_deaf_ > kDeafRounds && AskedQuietPeer())) {
    ++settled_;
  }
  SettlingRound(now, actions);
}

bool Node::AskedQuietPeer() const {
  return std::any_of(settle_open_.begin(), settle_open_.end(), [this](ExchangeId exchange) {
    const auto pending = pending_.find(exchange);
    return pending != pending_.end() && quiet_peers_.contains(pending->second.peer);
  });
}

void Node::NoteQuiet(const Message& message) {
  if (message.training) {
    quiet_peers_.erase(message.peer);
  } else if (std::binary_search(peers_.begin(), peers_.end(), message.peer)) {
    quiet_peers_.insert(message.peer);
  }
}

void Node::Answered(Time now, ExchangeId exchange, bool quiet, Actions& actions) {
  if (state_ != State::kSettling || phase_ != Phase::kWaiting || paused_) return;
  settle_answered_ = true;
  // An answer from an earlier round counts too: replies may take longer than a round of the tail.
  settle_quiet_ = settle_quiet_ || quiet;
  const bool of_this_round = std::erase(settle_open_, exchange) > 0;
  // Only a quiet round may end early: peers that train are not asked faster than they answer.
  if (of_this_round && settle_open_.empty() && settle_quiet_) EndSettlingRound(now, actions);
}

void Node::Finish(Actions& actions) {
  state_ = State::kDone;
  settle_open_.clear();
  batches_since_publish_ = 0;
  actions.push_back(Publish{});
  WaitUntil(kNever, actions);
}

// --- Messages ---

void Node::On(Time now, const Received& event, Actions& actions) {
  COVEY_CHECK(phase_ == Phase::kDraining || phase_ == Phase::kWaiting, phase_);
  const Message& message = *event.message;
  if (!IsSegmentOf(message.segment, event.x.size()) ||
      (message.copy && message.segment.count > 1)) {
    return Drop(DropReason::kWrongSize);
  }
  const SegmentRange range = RangeOf(message.segment, event.x.size());
  const std::size_t wanted = tensor::EncodedSize(message.encoding, range.size);
  if (!message.payload || message.payload->size() != wanted) return Drop(DropReason::kWrongSize);
  NoteQuiet(message);
  const Received part{event.message, event.x.subspan(range.begin, range.size), event.reply};
  if (message.kind == MessageKind::kWeights) {
    ApplyWeights(now, part, actions);
  } else {
    ApplyDeltas(now, part, actions);
  }
}

void Node::ApplyWeights(Time now, const Received& event, Actions& actions) {
  const Message& message = *event.message;
  if (state_ == State::kJoining) {
    if (!message.copy) return Drop(DropReason::kJoining);
    tensor::Decode(message.encoding, message.payload->view(), event.x);
    ++counters_.weights_applied;
    state_ = State::kTraining;
    return Proceed(now, actions);
  }
  if (message.copy) return Drop(DropReason::kUnwantedCopy);
  if (SeenBefore(message)) return Drop(DropReason::kDuplicate);
  if (TooFar(event)) return Drop(DropReason::kTooFar);
  const float gamma =
      std::min(gamma_, message.gamma_max) / static_cast<float>(1 + CrossingInFlight(now, message));
  const double rho = Rho(message);
  const auto of_sender = static_cast<float>(2 / (1 + rho));  // 1 at rho = 1
  // Of segments only the first is judged: the same coordinates each time.
  const bool judged = message.segment == Segment{0, settings_.segments};
  if (judged) round_size_.BeginPull(event.x);
  tensor::Pull({message.encoding, message.payload->view()}, gamma * of_sender, event.x, event.reply,
               static_cast<float>(rho));
  if (judged) round_size_.EndPull(event.x, static_cast<double>(gamma * of_sender) * rho);
  ++counters_.weights_applied;
  // Its exchange, too, brings both closer to rest.
  if (state_ == State::kSettling && !message.training) settle_quiet_ = true;
  if (!settings_.reply || message.no_reply) return;
  ++counters_.deltas_made;
  actions.push_back(SendDeltas{message.peer, message.exchange, message.segment});
}

void Node::ApplyDeltas(Time now, const Received& event, Actions& actions) {
  const Message& message = *event.message;
  const auto pending = pending_.find(message.exchange);
  if (pending == pending_.end() || pending->second.peer != message.peer ||
      pending->second.segment != message.segment) {
    return Drop(DropReason::kNotPending);
  }
  if (TooFar(event)) return Drop(DropReason::kTooFar);
  const Duration took = now - pending->second.sent;
  reply_time_ = reply_time_ == Duration::zero() ? took : (7 * reply_time_ + took) / 8;
  pending_.erase(pending);
  tensor::Subtract(message.encoding, message.payload->view(), event.x);
  ++counters_.deltas_applied;
  Answered(now, message.exchange, !message.training, actions);
}

bool Node::SeenBefore(const Message& message) {
  std::deque<ExchangeId>& seen = seen_[message.peer];
  if (std::find(seen.begin(), seen.end(), message.exchange) != seen.end()) return true;
  seen.push_back(message.exchange);
  if (seen.size() > kRemembered) seen.pop_front();
  return false;
}

void Node::On(Time now, const Nacked& event, Actions& actions) {
  const auto pending = pending_.find(event.exchange);
  if (pending == pending_.end() || pending->second.peer != event.peer) return;
  pending_.erase(pending);
  ++counters_.nacked;
  Answered(now, event.exchange, false, actions);
}

// --- Peers ---

void Node::On(Time now, const PeerUp& event, Actions& actions) {
  const auto place = std::lower_bound(peers_.begin(), peers_.end(), event.peer);
  if (place != peers_.end() && *place == event.peer) return;
  peers_.insert(place, event.peer);
  const bool asked = deadline_ != kNever;
  if (state_ == State::kJoining && phase_ == Phase::kWaiting && !asked) Proceed(now, actions);
}

void Node::On(Time, const PeerDown& event, Actions&) {
  std::erase(peers_, event.peer);
  std::erase(newcomers_, event.peer);
  quiet_peers_.erase(event.peer);
  // What it sent is remembered: a repetition may come over its next link.
  if (seen_.size() <= kRememberedPeers) return;
  std::erase_if(seen_, [this](const auto& entry) {
    return !std::binary_search(peers_.begin(), peers_.end(), entry.first);
  });
}

void Node::On(Time, const JoinAsked& event, Actions& actions) {
  if (state_ == State::kJoining || phase_ == Phase::kNotStarted) return;
  if (phase_ != Phase::kTraining) return SendCopy(event.peer, actions);
  if (std::find(newcomers_.begin(), newcomers_.end(), event.peer) == newcomers_.end()) {
    newcomers_.push_back(event.peer);
  }
}

void Node::SendCopy(const PeerKey& peer, Actions& actions) {
  actions.push_back(SendWeights{peer, ExchangeId{next_exchange_++}, {}, 1.0f, true});
}

void Node::AskRandomPeer(Time now, Actions& actions) {
  if (peers_.empty()) return WaitUntil(kNever, actions);
  actions.push_back(AskToJoin{peers_[static_cast<std::size_t>(stream_.Below(peers_.size()))]});
  WaitUntil(now + settings_.join_retry, actions);
}

// --- Time and commands ---

void Node::WaitUntil(Time until, Actions& actions) {
  phase_ = Phase::kWaiting;
  deadline_ = until;
  actions.push_back(Wait{until});
}

void Node::On(Time now, const DeadlineReached&, Actions& actions) {
  if (phase_ != Phase::kWaiting || now < deadline_) return;
  if (state_ == State::kSettling && !paused_) return EndSettlingRound(now, actions);
  Proceed(now, actions);
}

void Node::On(Time now, const Commanded& event, Actions& actions) {
  switch (event.command) {
    case Command::kPause:
      paused_ = true;
      break;
    case Command::kResume:
      paused_ = false;
      break;
    case Command::kSettle:
      stop_training_ = true;
      break;
    case Command::kStop:
      state_ = State::kDone;
      break;
  }
  if (phase_ != Phase::kWaiting) return;
  // A settling node keeps its round; only what changes its course starts anew.
  if (event.command == Command::kSettle && state_ != State::kTraining) return;
  Proceed(now, actions);
}

}  // namespace covey::consensus
