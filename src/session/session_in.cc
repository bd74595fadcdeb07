// What a session makes of the frames of its peer: hello and the gates before the FIFO.
#include <algorithm>
#include <string>
#include <utility>

#include "covey/base/check.h"
#include "covey/session/session.h"
#include "covey/tensor/codec.h"
#include "hello_gate.h"

namespace covey::session {

using consensus::MessageKind;
using wire::Envelope;
using wire::FrameKind;
using wire::Reason;

namespace {

// Chunks that are reported at once, however large the credit.
constexpr std::uint32_t kReportAfter = 4;

bool IsStructured(FrameKind kind) {
  return kind == FrameKind::kHello || kind == FrameKind::kBegin || kind == FrameKind::kNack ||
         kind == FrameKind::kMembership;
}

}  // namespace

void Session::OnFrame(Time now, ByteView frame) {
  if (state_ == State::kClosed) return;
  now_ = now;
  ++counters_.frames_in;
  counters_.bytes_in += frame.size();
  const Result<Envelope> envelope = wire::Decode(frame);
  if (!envelope) {
    Violate(Reason::kMalformed, envelope.error().what);
    return;
  }
  last_heard_ = now;
  if (settings_.checksum && !wire::ChecksumHolds(frame)) {
    OnDamaged(*envelope);
  } else {
    Handle(*envelope, frame.subspan(wire::kEnvelopeSize));
  }
  Pump();
}

// Nothing that such a frame says counts. Before hello the link begins anew: damage is no refusal.
// A chunk uses up its credit, and the message under way suffers, whatever the frame claims to
// belong to.
void Session::OnDamaged(const Envelope& envelope) {
  if (state_ == State::kWaiting) {
    Reject(Reason::kChecksum);
    return Goodbye("damaged hello");
  }
  if (state_ == State::kReady && envelope.kind == FrameKind::kChunk) {
    if (!TakeCredit()) return;
    if (!incoming_.active()) return Reject(Reason::kChecksum);
    return RejectMessage(Reason::kChecksum, Envelope(incoming_.envelope()), incoming_.begin().kind);
  }
  if (state_ == State::kReady && envelope.kind == FrameKind::kBegin) {
    skipping_.reset();
    return RejectMessage(Reason::kChecksum, envelope, std::nullopt);
  }
  Reject(Reason::kChecksum);
}

// Returns: false when the peer has sent more chunks than it may, which ends the link.
bool Session::TakeCredit() {
  ++taken_;
  taken_at_ = now_;
  answer_.reset();
  answer_due_ = false;
  // Few small frames for many chunks, and the peer neither runs dry nor waits long.
  const bool many =
      taken_ - reported_ >= std::clamp<std::uint32_t>(settings_.credit / 2, 1, kReportAfter);
  ReportBy(many ? now_ : reported_at_ + settings_.report_every);
  if (taken_ - reported_ <= settings_.credit) return true;
  Violate(Reason::kCredit, "more chunks than granted");
  return false;
}

void Session::Handle(const Envelope& envelope, ByteView body) {
  const FrameKind kind = envelope.kind;
  if (kind == FrameKind::kBye) {
    const bool leaves = (envelope.flags & wire::kFlagLeaving) != 0;
    parting_ = leaves ? Parting::kLeft : Parting::kClosed;
    Close(state_ == State::kRefused ? reason_ : "peer said goodbye");
    return;
  }
  if (IsStructured(kind) && body.size() > wire::kMaxStructuredBody) {
    Violate(Reason::kTooLarge, "body of " + std::to_string(body.size()) + " bytes");
    return;
  }
  if (kind == FrameKind::kHello) return OnHello(envelope, body);
  if (kind == FrameKind::kNack) return OnNack(envelope, body);
  if (state_ == State::kWaiting) return Violate(Reason::kNoHello, "hello comes first");
  switch (kind) {
    case FrameKind::kPing:
      return OnPing(envelope);
    case FrameKind::kPong:
      return OnPong(envelope);
    case FrameKind::kBegin:
    case FrameKind::kChunk:
    case FrameKind::kCredit:
    case FrameKind::kMembership:
      break;
    default:
      return Reject(Reason::kFrameKind);
  }
  if (state_ != State::kReady) return;  // refused: nothing is exchanged
  if (kind == FrameKind::kBegin) return OnBegin(envelope, body);
  if (kind == FrameKind::kChunk) return OnChunk(envelope, body);
  if (kind == FrameKind::kMembership) return OnMembership(envelope, body);
  OnCredit(envelope);
}

void Session::OnHello(const Envelope& envelope, ByteView body) {
  if (state_ == State::kRefused) return;
  Result<wire::Hello> hello = codec_.DecodeHello(body);
  if (!hello) return Violate(Reason::kMalformed, hello.error().Format());
  if (state_ == State::kReady) return OnLaterHello(*hello);
  OnFirstHello(envelope, std::move(*hello));
}

void Session::OnFirstHello(const Envelope& envelope, wire::Hello hello) {
  const HelloVerdict verdict = JudgeHello(settings_, link_, envelope, hello);
  if (verdict.reason) {
    if (verdict.broken) return Violate(*verdict.reason, verdict.text);
    return Refuse(*verdict.reason, verdict.text);
  }
  peer_ = std::move(hello);
  version_ = static_cast<std::uint8_t>(std::min(peer_.protocol_max, wire::kProtocolMax));
  hello_due_ = !link_.dialled;
  // Hello leaves before the owner may send anything.
  Become(State::kReady, {});
  last_ping_ = now_;
  Pump();
  if (state_ != State::kReady) return;
  const bool join = peer_.join;
  host_.OnReady(*this);
  if (join && state_ == State::kReady) OnLaterHello(peer_);
}

// On a link that is up, hello can only ask for a copy.
void Session::OnLaterHello(const wire::Hello& hello) {
  if (hello.key != peer_.key) return Violate(Reason::kKey, "hello names another key than before");
  if (hello.session != peer_.session) return Violate(Reason::kSession, "hello of another session");
  if (!hello.join) return;
  if (joined_ && now_ < last_join_ + settings_.join_every) return Reject(Reason::kTooOften);
  joined_ = true;
  last_join_ = now_;
  host_.OnJoinAsked(*this);
}

// Frames that carry or steer a message belong to this fleet, model and life of the peer.
std::optional<Reason> Session::AddressGate(const Envelope& envelope) const {
  if (envelope.version != version_) return Reason::kVersion;
  if (envelope.fleet != settings_.fleet.Prefix()) return Reason::kFleet;
  if (envelope.session != peer_.session) return Reason::kSession;
  if (envelope.model != settings_.model.Prefix()) return Reason::kModel;
  return std::nullopt;
}

std::optional<Reason> Session::ReplyGate(ExchangeId exchange) const {
  switch (host_.Expects(peer_.key, exchange)) {
    case Expected::kNo:
      return Reason::kUnsolicited;
    case Expected::kAnswered:
      return Reason::kRepeated;
    case Expected::kYes:
      break;
  }
  return std::nullopt;
}

std::optional<Reason> Session::BeginGate(const Envelope& envelope, const wire::Begin& begin) const {
  if (begin.kind != MessageKind::kWeights && begin.kind != MessageKind::kDeltas) {
    return Reason::kMessageKind;
  }
  const bool weights = begin.kind == MessageKind::kWeights;
  if (!tensor::IsKnown(begin.encoding) || (weights && !tensor::FitsWeights(begin.encoding))) {
    return Reason::kEncoding;
  }
  const bool whole = begin.segment.count == 1;
  if (!consensus::IsSegmentOf(begin.segment, settings_.vector_size) ||
      (!whole && (envelope.flags & wire::kFlagCopy) != 0)) {
    return Reason::kSegment;
  }
  const std::size_t size = consensus::RangeOf(begin.segment, settings_.vector_size).size;
  if (begin.total != tensor::EncodedSize(begin.encoding, size)) return Reason::kSize;
  if (begin.chunk < wire::kMinChunk || begin.chunk > settings_.max_chunk ||
      envelope.count != ChunkCount(begin.total, begin.chunk)) {
    return Reason::kChunks;
  }
  if (!weights) return ReplyGate(envelope.exchange);
  if (!(begin.gamma_max > 0 && begin.gamma_max <= 1)) {  // NaN fails too
    return Reason::kGamma;
  }
  return std::nullopt;
}

// Counts, tells the peer, and skips the chunks that are still on their way.
void Session::RejectMessage(Reason reason, const Envelope& envelope,
                            std::optional<MessageKind> kind) {
  Reject(reason);
  AbortIncoming();
  skipping_ = envelope.exchange;
  QueueNack(envelope.exchange, wire::Nack{reason, kind.value_or(MessageKind::kWeights), {}});
}

void Session::OnBegin(const Envelope& envelope, ByteView body) {
  if (incoming_.active()) {
    Reject(Reason::kUnfinished);
    AbortIncoming();
  }
  skipping_.reset();
  answer_.reset();
  answer_due_ = false;
  if (const std::optional<Reason> reason = AddressGate(envelope)) {
    return RejectMessage(*reason, envelope, std::nullopt);
  }
  const Result<wire::Begin> begin = codec_.DecodeBegin(body);
  if (!begin) return RejectMessage(Reason::kMalformed, envelope, std::nullopt);
  if (const std::optional<Reason> reason = BeginGate(envelope, *begin)) {
    return RejectMessage(*reason, envelope, begin->kind);
  }
  if ((envelope.flags & wire::kFlagResume) != 0) return GoOn(envelope, *begin);
  if (!host_.Reserve(static_cast<std::size_t>(begin->total))) {
    return RejectMessage(Reason::kBusy, envelope, begin->kind);
  }
  incoming_.Start(now_, envelope, *begin);
}

// An earlier link broke in the middle of this message: tells its sender how many chunks are held.
void Session::GoOn(const Envelope& envelope, const wire::Begin& begin) {
  Envelope plain = envelope;
  plain.flags = static_cast<std::uint16_t>(plain.flags & ~wire::kFlagResume);
  Held held = host_.TakeHeld(*this, begin.kind, envelope.exchange);
  if (held.part &&
      (held.part->begin().encoding != begin.encoding || held.part->begin().total != begin.total ||
       held.part->begin().segment != begin.segment)) {
    host_.Release(static_cast<std::size_t>(held.part->begin().total));
    held.part.reset();
  }
  std::uint32_t chunks = held.whole ? envelope.count : 0;
  if (held.part) {
    incoming_ = std::move(*held.part);
    chunks = incoming_.Resume(now_, plain, begin);
    ++counters_.resumed_in;
  } else if (!held.whole) {
    if (!host_.Reserve(static_cast<std::size_t>(begin.total))) {
      return RejectMessage(Reason::kBusy, envelope, begin.kind);
    }
    incoming_.Start(now_, plain, begin);
  }
  answer_ = Header(FrameKind::kCredit);
  answer_->flags = wire::kFlagResume;
  answer_->exchange = envelope.exchange;
  answer_->count = chunks;
  answer_due_ = true;
}

void Session::OnChunk(const Envelope& envelope, ByteView body) {
  if (!TakeCredit()) return;
  if (skipping_ == envelope.exchange && !incoming_.active()) return;
  if (!incoming_.active()) {
    return RejectMessage(Reason::kNoTransfer, envelope, std::nullopt);
  }
  // The message under way is the one that suffers, whatever the frame says it belongs to.
  const Envelope& begun = incoming_.envelope();
  std::optional<Reason> reason = AddressGate(envelope);
  if (!reason) reason = incoming_.Take(now_, envelope, body);
  if (reason) return RejectMessage(*reason, Envelope(begun), incoming_.begin().kind);
  if (incoming_.complete()) Finish();
}

void Session::Finish() {
  const Envelope envelope = incoming_.envelope();
  const wire::Begin begin = incoming_.begin();
  // Its sender keeps a message of several chunks until it knows.
  if (envelope.count > 1) ReportBy(now_);
  auto payload = std::make_shared<AlignedBuffer>(incoming_.Finish());
  host_.Release(payload->size());
  const std::size_t size = consensus::RangeOf(begin.segment, settings_.vector_size).size;
  if (!tensor::AllFinite(begin.encoding, payload->view(), size)) {
    return RejectMessage(Reason::kNotFinite, envelope, begin.kind);
  }
  if (begin.kind == MessageKind::kDeltas) {
    // Again, because the same reply may have come over another link in the meantime.
    if (const std::optional<Reason> reason = ReplyGate(envelope.exchange)) {
      return RejectMessage(*reason, envelope, begin.kind);
    }
  }
  consensus::Message message;
  message.kind = begin.kind;
  message.peer = peer_.key;
  message.exchange = envelope.exchange;
  message.gamma_max = begin.kind == MessageKind::kWeights ? begin.gamma_max : 1.0f;
  message.samples = begin.samples;
  message.no_reply = (envelope.flags & wire::kFlagNoReply) != 0;
  message.copy = (envelope.flags & wire::kFlagCopy) != 0;
  message.training = (envelope.flags & wire::kFlagTraining) != 0;
  message.segment = begin.segment;
  message.encoding = begin.encoding;
  message.payload = std::move(payload);
  ++(begin.kind == MessageKind::kWeights ? counters_.weights_in : counters_.deltas_in);
  last_message_ = now_;
  host_.OnMessage(*this, std::move(message));
}

void Session::OnCredit(const Envelope& envelope) {
  if (const std::optional<Reason> reason = AddressGate(envelope)) return Reject(*reason);
  // Mod 2^32: a report lies between the last one and what was sent.
  if (envelope.index - acknowledged_ > sent_ - acknowledged_) {
    return Violate(Reason::kCredit, "credit for chunks that were never sent");
  }
  if (envelope.index != acknowledged_) {
    out_progress_ = now_;
    const bool tells_when = (envelope.flags & wire::kFlagResume) == 0;
    pace_.Taken(now_, envelope.index - acknowledged_, tells_when ? envelope.count : 0);
    acknowledged_ = envelope.index;
  }
  if ((envelope.flags & wire::kFlagResume) != 0) OnHeld(envelope);
}

void Session::OnHeld(const Envelope& envelope) {
  // Of a message that was refused or forgotten meanwhile: nothing to go on with.
  if (!asked_ || outgoing_.front().exchange != envelope.exchange) return;
  if (envelope.count > outgoing_.count()) {
    return Violate(Reason::kChunks, "holds more chunks than there are");
  }
  asked_ = false;
  out_progress_ = now_;
  if (envelope.count > 0) ++counters_.resumed_out;
  outgoing_.SkipTo(envelope.count);
}

void Session::OnNack(const Envelope& envelope, ByteView body) {
  const Result<wire::Nack> nack = codec_.DecodeNack(body);
  if (!nack) return Violate(Reason::kMalformed, nack.error().Format());
  ++counters_.nacks[static_cast<std::size_t>(nack->reason)];
  if (!nack->kind) {
    if (state_ == State::kRefused) return;
    Become(State::kRefused, nack->text);
    host_.OnRefused(*this, nack->reason, "peer refused us: " + reason_);
    return;
  }
  if (state_ != State::kReady) return;
  outgoing_.Cancel(*nack->kind, envelope.exchange);
  if (!outgoing_.begun()) asked_ = false;
  if (outgoing_.empty()) out_progress_ = now_;
  host_.OnNacked(*this, *nack->kind, envelope.exchange, nack->reason);
}

void Session::OnPing(const Envelope& envelope) { pong_due_ = envelope.exchange.value; }

void Session::OnPong(const Envelope& envelope) {
  if (envelope.exchange.value != ping_nonce_ || ping_due_ || !pong_awaited_) return;
  pong_awaited_ = false;
  ++pongs_;
  rtt_ = now_ - last_ping_;
  pace_.RoundTrip(*rtt_);
}

void Session::OnMembership(const Envelope& envelope, ByteView body) {
  if (const std::optional<Reason> reason = AddressGate(envelope)) return Reject(*reason);
  tells_left_ = std::min(kMostTells, tells_left_ + Seconds(now_ - last_told_) * kTellsPerSecond);
  last_told_ = now_;
  if (tells_left_ < 1) return Reject(Reason::kTooOften);
  tells_left_ -= 1;
  Result<wire::Membership> membership = codec_.DecodeMembership(body);
  if (!membership) return Violate(Reason::kMalformed, membership.error().Format());
  host_.OnTold(*this, std::move(*membership));
}

}  // namespace covey::session
