// What a session sends: control frames first, then chunks as far as credit, budget and
// transport allow.
#include <algorithm>
#include <utility>

#include "covey/base/check.h"
#include "covey/session/session.h"

namespace covey::session {
namespace {

// Answers that wait while the transport is full. A peer that provokes more loses them.
constexpr std::size_t kMaxNacks = 16;

std::uint16_t FlagsOf(const consensus::Message& message) {
  return static_cast<std::uint16_t>((message.no_reply ? wire::kFlagNoReply : 0) |
                                    (message.copy ? wire::kFlagCopy : 0) |
                                    (message.training ? wire::kFlagTraining : 0));
}

// As CREDIT tells it: units of this node's clock, never 0.
std::uint32_t MomentOf(Time time) {
  const auto units = static_cast<std::uint32_t>(time / Pace::kUnit);
  return std::max(units, 1u);
}

}  // namespace

wire::Envelope Session::Header(wire::FrameKind kind) const {
  wire::Envelope envelope;
  envelope.version = version_;
  envelope.kind = kind;
  envelope.fleet = settings_.fleet.Prefix();
  envelope.session = settings_.session;
  envelope.model = settings_.model.Prefix();
  return envelope;
}

// Returns: whether the frame left. Otherwise the transport is full (blocked_) or the link gone
// (closed).
bool Session::Send(wire::Envelope envelope, ByteView body) {
  envelope.body_length = static_cast<std::uint32_t>(body.size());
  wire::EnvelopeBytes header = wire::Encode(envelope);
  if (settings_.checksum) {
    envelope.crc = wire::Checksum(header, body);
    header = wire::Encode(envelope);
  }
  switch (host_.SendFrame(link_.id, header, body)) {
    case transport::SendResult::kSent:
      ++counters_.frames_out;
      counters_.bytes_out += header.size() + body.size();
      budget_.Spend(now_, header.size() + body.size());
      return true;
    case transport::SendResult::kFull:
      ++counters_.full;
      blocked_ = true;
      return false;
    case transport::SendResult::kGone:
      break;
  }
  Close("link lost");
  return false;
}

bool Session::SendControl(wire::FrameKind kind, ExchangeId exchange, std::uint32_t index,
                          ByteView body) {
  wire::Envelope envelope = Header(kind);
  envelope.exchange = exchange;
  envelope.index = index;
  return Send(envelope, body);
}

bool Session::SendHello() {
  wire::Hello hello;
  hello.key = settings_.self;
  hello.session = settings_.session;
  hello.fleet = settings_.fleet;
  hello.model = settings_.model;
  hello.model_summary = settings_.model_summary;
  hello.max_chunk = settings_.max_chunk;
  hello.credit = settings_.credit;
  hello.join = join_due_;
  hello.software = settings_.software;
  hello.normalization = settings_.normalization;
  hello.normalization_summary = settings_.normalization_summary;
  hello.labels = settings_.labels;
  hello.labels_summary = settings_.labels_summary;
  return SendControl(wire::FrameKind::kHello, ExchangeId{}, 0, codec_.Encode(hello));
}

void Session::QueueNack(ExchangeId exchange, wire::Nack nack) {
  if (nacks_.size() == kMaxNacks) {
    ++counters_.nacks_lost;
    return;
  }
  nacks_.push_back(PendingNack{exchange, std::move(nack)});
}

void Session::ReportBy(Time due) { report_due_ = std::min(report_due_, due); }

bool Session::HeldBack(Time until) {
  if (until <= now_) return false;
  held_until_ = until;
  return true;
}

void Session::Pump() {
  if (state_ == State::kClosed) return;
  blocked_ = false;
  if (!PumpControl()) return;
  while (state_ == State::kReady && !outgoing_.empty()) {
    if (!PumpFront()) return;
  }
}

// Returns: whether all of it left.
bool Session::PumpControl() {
  if (hello_due_ || join_due_) {
    if (!SendHello()) return false;
    hello_due_ = false;
    join_due_ = false;
  }
  while (!nacks_.empty()) {
    const PendingNack& next = nacks_.front();
    if (!SendControl(wire::FrameKind::kNack, next.exchange, 0, codec_.Encode(next.nack))) {
      return false;
    }
    nacks_.pop_front();
  }
  if (!PumpReports()) return false;
  if (tell_due_) {
    if (!SendControl(wire::FrameKind::kMembership, ExchangeId{}, 0, codec_.Encode(*tell_due_))) {
      return false;
    }
    tell_due_.reset();
  }
  if (pong_due_) {
    if (!SendControl(wire::FrameKind::kPong, ExchangeId{*pong_due_}, 0, {})) return false;
    pong_due_.reset();
  }
  if (ping_due_) {
    if (!SendControl(wire::FrameKind::kPing, ExchangeId{ping_nonce_}, 0, {})) return false;
    ping_due_ = false;
  }
  return true;
}

// Tells how many chunks were taken, and where a message goes on.
bool Session::PumpReports() {
  if (state_ != State::kReady) return true;
  if (report_due_ > now_ && !answer_due_) return true;
  wire::Envelope report = answer_due_ ? *answer_ : Header(wire::FrameKind::kCredit);
  if (!answer_due_) report.count = MomentOf(taken_at_);
  report.index = taken_;
  if (!Send(report, {})) return false;
  answer_due_ = false;
  reported_ = taken_;
  reported_at_ = now_;
  report_due_ = kNever;
  return true;
}

// Announces the first message. Returns: whether its chunks may follow.
bool Session::PumpBegin() {
  // An unbegun WEIGHTS may still give way to a newer one.
  if (available() == 0 || !pace_.MayBegin() || HeldBack(budget_.MessageFrom(now_))) return false;
  const consensus::Message& message = outgoing_.front();
  const bool interrupted = outgoing_.front_interrupted();
  wire::Begin begin;
  begin.kind = message.kind;
  begin.encoding = message.encoding;
  begin.total = message.payload->size();
  // Where one link broke the next may: little is lost with short chunks.
  const std::uint32_t pace = interrupted ? Pace::kShortest : pace_.chunk();
  begin.chunk = std::min({settings_.max_chunk, peer_.max_chunk, budget_.longest_chunk(), pace});
  begin.gamma_max = message.gamma_max;
  begin.samples = message.samples;
  begin.segment = message.segment;
  wire::Envelope envelope = Header(wire::FrameKind::kBegin);
  envelope.flags = FlagsOf(message);
  if (interrupted) envelope.flags |= wire::kFlagResume;
  envelope.exchange = message.exchange;
  envelope.count = ChunkCount(begin.total, begin.chunk);
  if (!Send(envelope, codec_.Encode(begin))) return false;
  outgoing_.Begin(begin.chunk);
  asked_ = interrupted;
  return !asked_;
}

// Sends what it can of the first message. Returns: whether all of it left, and the next one may.
bool Session::PumpFront() {
  if (!outgoing_.begun() && !PumpBegin()) return false;
  if (asked_) return false;
  if (outgoing_.all_left()) {
    if (sent_ != acknowledged_) return false;
    outgoing_.Confirm();
    return true;
  }
  const consensus::Message& message = outgoing_.front();
  wire::Envelope envelope = Header(wire::FrameKind::kChunk);
  envelope.flags = FlagsOf(message);
  envelope.exchange = message.exchange;
  envelope.count = outgoing_.count();
  const bool is_weights = message.kind == consensus::MessageKind::kWeights;
  const bool is_copy = message.copy;
  for (bool done = false; !done;) {
    const ByteView chunk = outgoing_.chunk();
    if (available() == 0 || !pace_.MaySend(chunk.size()) || HeldBack(budget_.ChunkFrom(now_))) {
      return false;
    }
    envelope.index = outgoing_.next();
    if (!Send(envelope, chunk)) return false;
    ++sent_;
    pace_.Sent(now_, chunk.size());
    out_progress_ = now_;
    done = outgoing_.Advance();
  }
  ++(is_weights ? counters_.weights_out : counters_.deltas_out);
  if (is_weights && is_copy) ++counters_.copies_out;
  return true;
}

}  // namespace covey::session
