// Life of a session: states, time-outs, what its owner asks of it.
#include "covey/session/session.h"

#include <algorithm>
#include <utility>

#include "covey/base/check.h"

namespace covey::session {

using consensus::Message;
using consensus::MessageKind;
using wire::Reason;

static_assert(wire::kMaxBody == transport::kMaxBody);
static_assert(wire::kEnvelopeSize == transport::kHeaderSize);

std::string_view Name(State state) {
  switch (state) {
    case State::kWaiting:
      return "connecting";
    case State::kReady:
      return "ready";
    case State::kRefused:
      return "refused";
    case State::kClosed:
      return "closed";
  }
  return "?";
}

Session::Session(const Settings& settings, const wire::BodyCodec& codec,
                 const transport::LinkInfo& link, Host& host, Budget& budget, Counters& counters,
                 Time now)
    : settings_(settings),
      codec_(codec),
      link_(link),
      host_(host),
      budget_(budget),
      counters_(counters),
      now_(now),
      since_(now),
      last_heard_(now),
      last_ping_(now),
      tells_left_(kMostTells),
      last_told_(now),
      outgoing_(settings.deltas_queue),
      pace_(settings.report_every),
      out_progress_(now),
      reported_at_(now - settings.report_every) {}

Session::~Session() { AbortIncoming(); }

void Session::Start() {
  COVEY_CHECK(state_ == State::kWaiting);
  hello_due_ = link_.dialled;
  Pump();
}

void Session::Become(State state, std::string reason) {
  state_ = state;
  reason_ = std::move(reason);
  since_ = now_;
  if (state == State::kReady || !incoming_.active()) return;
  if (incoming_.received() == 0) return AbortIncoming();
  host_.OnInterrupted(*this, std::exchange(incoming_, Incoming()));
}

void Session::Close(std::string reason) {
  if (state_ == State::kClosed) return;
  Become(State::kClosed, std::move(reason));
  nacks_.clear();
}

void Session::Goodbye(std::string reason, bool leaving) {
  if (state_ == State::kClosed) return;
  PumpControl();
  if (state_ == State::kClosed) return;
  wire::Envelope bye = Header(wire::FrameKind::kBye);
  if (leaving) bye.flags = wire::kFlagLeaving;
  Send(bye, {});
  Close(std::move(reason));
}

void Session::BeginPing() {
  last_ping_ = now_;
  ++ping_nonce_;
  ping_due_ = true;
  pong_awaited_ = true;
}

void Session::Ping(Time now) {
  COVEY_CHECK(state_ == State::kReady);
  now_ = now;
  BeginPing();
  Pump();
}

void Session::Tell(Time now, wire::Membership membership) {
  COVEY_CHECK(state_ == State::kReady);
  now_ = now;
  if (tell_due_) membership.wants_peers |= tell_due_->wants_peers;
  tell_due_ = std::move(membership);
  Pump();
}

void Session::Reject(Reason reason) {
  ++counters_.rejected[static_cast<std::size_t>(reason)];
  host_.OnRejected(*this, reason);
}

void Session::Refuse(Reason reason, std::string text) {
  Reject(reason);
  QueueNack(ExchangeId{}, wire::Nack{reason, std::nullopt, text});
  Become(State::kRefused, text);
  host_.OnRefused(*this, reason, reason_);
}

void Session::Violate(Reason reason, std::string text) {
  Reject(reason);
  if (state_ == State::kClosed) return;
  const bool unknown = state_ == State::kWaiting;
  QueueNack(ExchangeId{}, wire::Nack{reason, std::nullopt, text});
  Goodbye(text);
  if (unknown) host_.OnRefused(*this, reason, reason_);
}

void Session::Enqueue(Time now, Message message) {
  COVEY_CHECK(state_ == State::kReady);
  COVEY_CHECK(message.payload != nullptr && message.payload->size() > 0);
  now_ = now;
  if (outgoing_.empty()) out_progress_ = now;
  const MessageKind kind = message.kind;
  const std::optional<Message> lost = outgoing_.Push(std::move(message));
  if (lost && kind == MessageKind::kDeltas) ++counters_.deltas_refused;
  if (lost && kind == MessageKind::kWeights) {
    ++counters_.replaced;
    host_.OnNacked(*this, MessageKind::kWeights, lost->exchange, Reason::kReplaced);
  }
  Pump();
}

void Session::Resume(Time now, Message message) {
  COVEY_CHECK(state_ == State::kReady);
  now_ = now;
  if (outgoing_.empty()) out_progress_ = now;
  outgoing_.PushInterrupted(std::move(message));
  Pump();
}

std::optional<Incoming> Session::HandOver(MessageKind kind, ExchangeId exchange) {
  if (!incoming_.active() || incoming_.begin().kind != kind ||
      incoming_.envelope().exchange != exchange) {
    return std::nullopt;
  }
  skipping_ = exchange;
  return std::exchange(incoming_, Incoming());
}

void Session::AskToJoin(Time now) {
  COVEY_CHECK(state_ == State::kReady);
  now_ = now;
  join_due_ = true;
  Pump();
}

void Session::Nack(Time now, MessageKind kind, ExchangeId exchange, Reason reason) {
  if (state_ != State::kReady) return;
  now_ = now;
  QueueNack(exchange, wire::Nack{reason, kind, {}});
  Pump();
}

void Session::Tick(Time now) {
  now_ = now;
  if (state_ == State::kClosed) return;
  if (state_ == State::kWaiting && now >= since_ + settings_.hello_timeout) {
    ++counters_.timeouts;
    Goodbye("no hello within " + FormatDuration(settings_.hello_timeout));
    return;
  }
  if (state_ == State::kRefused && now >= since_ + settings_.refused_for) {
    Goodbye(reason_);
    return;
  }
  if (state_ == State::kReady) {
    if (now >= last_heard_ + settings_.timeout) {
      ++counters_.timeouts;
      Goodbye("silent for " + FormatDuration(settings_.timeout));
      return;
    }
    CheckTransfers();
    if (state_ == State::kClosed) return;
    if (now >= last_ping_ + settings_.ping_every) {
      BeginPing();
      // What a damaged report or answer said is said again, in case the peer waits for it.
      if (taken_ != std::exchange(repeated_, taken_)) ReportBy(now_);
      answer_due_ = answer_.has_value();
    }
  }
  Pump();
}

// Gives up a transfer of the peer that drips or stopped, and a link on which ours does not move.
void Session::CheckTransfers() {
  if (incoming_.active()) {
    const double seconds = Seconds(now_ - incoming_.started() - settings_.progress_timeout);
    const auto arrived = static_cast<double>(incoming_.received() - incoming_.resumed());
    const bool slow = arrived < seconds * static_cast<double>(settings_.slowest.value);
    if (slow || now_ >= incoming_.progress() + settings_.progress_timeout) {
      ++counters_.timeouts;
      RejectMessage(Reason::kUnfinished, incoming_.envelope(), incoming_.begin().kind);
    }
  }
  if (!outgoing_.empty() && now_ >= OutgoingDeadline()) {
    ++counters_.timeouts;
    Goodbye("took nothing for " + FormatDuration(settings_.progress_timeout));
  }
}

Time Session::NextDeadline() const {
  if (state_ == State::kClosed) return now_;
  Time next = kNever;
  if (blocked_) next = now_ + settings_.retry;
  if (state_ == State::kWaiting) return std::min(next, since_ + settings_.hello_timeout);
  if (state_ == State::kRefused) return std::min(next, since_ + settings_.refused_for);
  next = std::min({next, last_heard_ + settings_.timeout, last_ping_ + settings_.ping_every});
  if (!blocked_) next = std::min(next, report_due_);
  if (incoming_.active()) next = std::min(next, incoming_.progress() + settings_.progress_timeout);
  if (!outgoing_.empty()) {
    next = std::min(next, OutgoingDeadline());
    if (held_until_ > now_) next = std::min(next, held_until_);
  }
  return next;
}

// What our own budget holds back is not the peer's fault.
Time Session::OutgoingDeadline() const {
  return std::max(out_progress_, held_until_) + settings_.progress_timeout;
}

void Session::AbortIncoming() {
  if (!incoming_.active()) return;
  host_.Release(static_cast<std::size_t>(incoming_.begin().total));
  incoming_.Abort();
}

}  // namespace covey::session
