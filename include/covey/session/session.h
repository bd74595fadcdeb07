// One link to a peer: hello, chunks under credit, gates, reassembly, time-outs. No I/O, no clock,
// no thread.
//
//   waiting --hello passed--> ready --+--> closed
//      \---- refused (version, fleet, model, key) --/
//
// The dialling side says hello first, the listening side answers. Whoever finds that the other does
// not fit answers NACK with reason and text instead; nothing is exchanged on that link then.
// Credit: a peer may have `credit` chunks under way. CREDIT reports how many were taken since the
// link came up, so that a report which is lost is made good by the next. How long chunks are and
// how many leave ahead of their reports follows the measured pace (session/pace.h).
// Broken links: the owner keeps what had arrived of a message (OnInterrupted) and what had begun to
// leave (TakeUnsent); on a later link the sender asks where to go on (Resume, Host::Held).
// Limits: one incoming message at a time, its buffer from the host's budget; queues as in Outgoing.
// Errors: whatever a peer does wrong is counted in Counters::rejected under its own reason. A
// message that fails a gate is answered NACK and skipped; a peer that breaks the protocol is
// answered NACK and BYE, and the session closes.
// Thread: none; the caller serialises.  Determinism: a function of the settings and the calls.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "covey/consensus/message.h"
#include "covey/session/budget.h"
#include "covey/session/counters.h"
#include "covey/session/incoming.h"
#include "covey/session/outgoing.h"
#include "covey/session/pace.h"
#include "covey/session/settings.h"
#include "covey/transport/transport.h"
#include "covey/wire/bodies.h"
#include "covey/wire/envelope.h"

namespace covey::session {

enum class State : std::uint8_t {
  kWaiting,  // for the peer's hello
  kReady,
  kRefused,  // one side refused the other; held for a while so that it is not dialled again at once
  kClosed,   // to be thrown away
};

std::string_view Name(State state);

class Session;

// What there is of a message that a peer wants to go on with.
struct Held {
  std::optional<Incoming> part = {};  // its buffer stays reserved
  bool whole = false;                 // it was delivered
};

// How a link ended.
enum class Parting : std::uint8_t {
  kLost,    // silence, a broken connection, or we closed it
  kClosed,  // the peer closed this link
  kLeft,    // the peer leaves the fleet
};

// Whether a DELTAS may come.
enum class Expected : std::uint8_t { kNo, kYes, kAnswered };

// What a session asks and tells its owner, who may call Enqueue, AskToJoin and Nack of any session
// from within, but destroy none.
class Host {
 public:
  virtual ~Host() = default;

  virtual transport::SendResult SendFrame(transport::LinkId link, ByteView header,
                                          ByteView body) = 0;
  virtual Expected Expects(const PeerKey& peer, ExchangeId exchange) = 0;
  // Takes `bytes` for a reassembly buffer from the budget. Returns: false when there is no room
  // now.
  virtual bool Reserve(std::size_t bytes) = 0;
  virtual void Release(std::size_t bytes) = 0;
  // The link ends in the middle of a message of the peer, whose buffer stays reserved: the owner
  // keeps it or releases that.
  virtual void OnInterrupted(Session& session, Incoming part) = 0;
  // Hands out what is held of a message of this life of the peer, from wherever it is.
  virtual Held TakeHeld(Session& session, consensus::MessageKind kind, ExchangeId exchange) = 0;

  virtual void OnReady(Session& session) = 0;
  virtual void OnRefused(Session& session, wire::Reason reason, const std::string& text) = 0;
  // Something that the peer sent was refused and counted.
  virtual void OnRejected(Session& session, wire::Reason reason) = 0;
  virtual void OnJoinAsked(Session& session) = 0;
  // A message that passed every gate.
  virtual void OnMessage(Session& session, consensus::Message message) = 0;
  // The peer refused what we sent, or (kReplaced) we overtook it ourselves.
  virtual void OnNacked(Session& session, consensus::MessageKind kind, ExchangeId exchange,
                        wire::Reason reason) = 0;
  // What the peer says of itself and others.
  virtual void OnTold(Session&, wire::Membership) {}
};

class Session {
 public:
  // Requires: Validate(settings). All references outlive the session.
  Session(const Settings& settings, const wire::BodyCodec& codec, const transport::LinkInfo& link,
          Host& host, Budget& budget, Counters& counters, Time now);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Says hello when we dialled. Once, before all else.
  void Start();
  void OnFrame(Time now, ByteView frame);
  // Does what is due: retries, pings, time-outs.
  void Tick(Time now);
  // Returns: when Tick has something to do next.
  Time NextDeadline() const;

  // Requires: ready; payload = EncodedSize bytes.
  void Enqueue(Time now, consensus::Message message);
  // The same for a message that an earlier link to this life of the peer broke off: it asks where
  // to go on.
  void Resume(Time now, consensus::Message message);
  // Gives up the message that is arriving, if it is this one: another link goes on with it.
  std::optional<Incoming> HandOver(consensus::MessageKind kind, ExchangeId exchange);
  // Repeats hello with `join`. Requires: ready.
  void AskToJoin(Time now);
  // Tells the peer that a message of it was refused after its delivery.
  void Nack(Time now, consensus::MessageKind kind, ExchangeId exchange, wire::Reason reason);
  // Sends a PING now instead of later. Requires: ready.
  void Ping(Time now);
  // Tells the peer who is there; what did not leave yet gives way to it. Requires: ready.
  void Tell(Time now, wire::Membership membership);
  // Says BYE, best effort, and closes. `leaving`: the node leaves, not only this link ends.
  void Goodbye(std::string reason, bool leaving = false);
  // Closes without a word; what waits stays for TakeUnsent.
  void Close(std::string reason);
  Outgoing::Unsent TakeUnsent() { return outgoing_.TakeAll(); }

  State state() const { return state_; }
  const transport::LinkInfo& link() const { return link_; }
  const wire::Hello& peer() const { return peer_; }  // its hello; requires: ready now or before
  Time since() const { return since_; }              // of the present state
  std::optional<Duration> rtt() const { return rtt_; }
  const Pace& pace() const { return pace_; }
  std::uint64_t pings() const { return ping_nonce_; }    // sent, or about to be
  std::uint64_t pongs() const { return pongs_; }         // of them answered, and before the next
  Time last_message() const { return last_message_; }    // delivered; 0: none
  const std::string& reason() const { return reason_; }  // why refused or closed
  Parting parting() const { return parting_; }

 private:
  struct PendingNack {
    ExchangeId exchange;
    wire::Nack nack;
  };

  void Become(State state, std::string reason);
  void Reject(wire::Reason reason);  // counts and tells
  void RejectMessage(wire::Reason reason, const wire::Envelope& envelope,
                     std::optional<consensus::MessageKind> kind);
  void Refuse(wire::Reason reason, std::string text);  // the peer does not fit: NACK, kRefused
  void Violate(wire::Reason reason,
               std::string text);  // the peer broke the protocol: NACK, BYE, closed

  void Handle(const wire::Envelope& envelope, ByteView body);
  void OnDamaged(const wire::Envelope& envelope);
  bool TakeCredit();
  void OnHello(const wire::Envelope& envelope, ByteView body);
  void OnFirstHello(const wire::Envelope& envelope, wire::Hello hello);
  void OnLaterHello(const wire::Hello& hello);
  void OnBegin(const wire::Envelope& envelope, ByteView body);
  void GoOn(const wire::Envelope& envelope, const wire::Begin& begin);
  void OnHeld(const wire::Envelope& envelope);
  void OnChunk(const wire::Envelope& envelope, ByteView body);
  void OnCredit(const wire::Envelope& envelope);
  void OnNack(const wire::Envelope& envelope, ByteView body);
  void OnPing(const wire::Envelope& envelope);
  void OnPong(const wire::Envelope& envelope);
  void OnMembership(const wire::Envelope& envelope, ByteView body);
  void Finish();
  void AbortIncoming();

  std::optional<wire::Reason> ReplyGate(ExchangeId exchange) const;
  std::optional<wire::Reason> AddressGate(const wire::Envelope& envelope) const;
  std::optional<wire::Reason> BeginGate(const wire::Envelope& envelope,
                                        const wire::Begin& begin) const;

  void Pump();
  bool PumpControl();
  bool PumpFront();
  bool PumpBegin();
  bool PumpReports();
  bool SendControl(wire::FrameKind kind, ExchangeId exchange, std::uint32_t index, ByteView body);
  bool SendHello();
  bool Send(wire::Envelope envelope, ByteView body);
  wire::Envelope Header(wire::FrameKind kind) const;
  void QueueNack(ExchangeId exchange, wire::Nack nack);
  std::uint32_t available() const { return peer_.credit - (sent_ - acknowledged_); }
  void ReportBy(Time due);
  bool HeldBack(Time until);
  Time OutgoingDeadline() const;
  void CheckTransfers();
  void BeginPing();

  const Settings& settings_;
  const wire::BodyCodec& codec_;
  const transport::LinkInfo link_;
  Host& host_;
  Budget& budget_;  // of the node
  Counters& counters_;

  State state_ = State::kWaiting;
  std::string reason_;
  Parting parting_ = Parting::kLost;
  Time now_{};
  Time since_{};
  Time last_heard_{};
  Time last_ping_{};
  Time last_message_{};
  Time last_join_{};
  bool joined_ = false;
  std::optional<Duration> rtt_;
  std::uint64_t ping_nonce_ = 0;
  std::uint64_t pongs_ = 0;
  bool pong_awaited_ = false;
  wire::Hello peer_;
  std::uint8_t version_ = wire::kProtocolMax;

  double tells_left_;  // of the peer's MEMBERSHIP frames, at last_told_
  Time last_told_{};

  // Frames to be sent besides messages.
  std::optional<wire::Membership> tell_due_;
  bool hello_due_ = false;
  bool ping_due_ = false;
  bool join_due_ = false;
  std::optional<std::uint64_t> pong_due_;
  std::optional<wire::Envelope> answer_;  // to BEGIN with kFlagResume, until chunks come
  bool answer_due_ = false;
  std::deque<PendingNack> nacks_;
  bool blocked_ = false;  // the transport was full

  // Chunks of ours.
  Outgoing outgoing_;
  Pace pace_;
  bool asked_ = false;              // where to go on with the front message
  std::uint32_t sent_ = 0;          // since the link came up, mod 2^32
  std::uint32_t acknowledged_ = 0;  // of these, taken by the peer
  Time out_progress_{};             // last chunk that left, or the queue was empty
  Time held_until_{};               // by the budget

  // Chunks of the peer.
  Incoming incoming_;
  std::optional<ExchangeId> skipping_;  // a refused message, whose chunks are still arriving
  std::uint32_t taken_ = 0;
  Time taken_at_{};             // the last of them
  std::uint32_t reported_ = 0;  // of these, told to the peer
  std::uint32_t repeated_ = 0;  // taken_ at our last ping
  Time reported_at_;            // long ago at first
  Time report_due_ = kNever;
};

}  // namespace covey::session
