// The links of a node: everything between the network and its FIFO, shared by daemon and simulator.
//
//   network -> Transport -> (ByteFaults) -> Session, one a link -> LinkEvents -> FIFO
//   core -> Send -> MessageFaults -> Session -> (ByteFaults) -> Transport -> network
//
// A peer is up while it has a ready link. With two links to one life of a peer (both dialled each
// other) both sides use the one that the smaller key dialled, and go over to the other one when it
// dies. A hello of a newer life of a peer closes the links of the older one.
// A message of several chunks that a broken link interrupts goes on where it stopped, over the next
// link to the same life of the peer; both sides keep what they have of it for `resume_for`.
// Limits: links, links of one key, exchanges remembered, delayed messages, bytes under reassembly,
// bytes of own interrupted messages.
// Thread: one, that of the transport.  Determinism: peers and links are walked in key and id order;
// a function of the settings and the calls.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covey/base/time.h"
#include "covey/consensus/message.h"
#include "covey/faults/byte_faults.h"
#include "covey/faults/message_faults.h"
#include "covey/faults/settings.h"
#include "covey/learner/exchanges.h"
#include "covey/learner/interrupted.h"
#include "covey/session/budget.h"
#include "covey/session/session.h"
#include "covey/session/settings.h"
#include "covey/transport/transport.h"

namespace covey::learner {

// Called from within the methods of Links; may call Send, Busy, AskToJoin and Tell, nothing else.
// PeerUp, PeerDown, Told, Nacked and JoinAsked come when the method that caused them is about to
// return, in the order of their causes, so that a Send from within one never runs into another.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  virtual void PeerUp(const PeerKey& peer, const wire::Hello& hello) = 0;
  virtual void PeerDown(const PeerKey& peer, const std::string& reason,
                        session::Parting parting) = 0;
  // What a peer says of itself and others; addresses as they look from here (AddressSeenFrom).
  virtual void Told(const PeerKey&, const wire::Membership&) {}
  // A message that passed every gate before the FIFO.
  virtual void Deliver(consensus::Message message) = 0;
  // A WEIGHTS of ours will not be answered: refused by the peer, overtaken by a newer one
  // (kReplaced), or its link was down (kLinkLost). Only for exchanges that wanted a reply; each at
  // most once.
  virtual void Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason reason) = 0;
  virtual void JoinAsked(const PeerKey& peer) = 0;
  // Something that a peer sent was refused and counted: `who` is its short key, or its address
  // before its hello. Comes at once, as often as peers like; may call nothing.
  virtual void Rejected(const std::string& who, wire::Reason reason) = 0;
  // A link that will not exchange anything, once a link; `text` is printable and bounded.
  virtual void Refused(const std::string& address, wire::Reason reason,
                       const std::string& text) = 0;
};

struct LinkSettings {
  session::Settings session;
  session::BudgetSettings budget;
  faults::Settings faults;
  std::uint64_t seed = 0;  // of the node's streams
  std::uint32_t node = 0;
  std::size_t max_links = 256;
  std::size_t max_exchanges = 4096;                // own exchanges remembered
  Duration exchanges_for = std::chrono::hours(1);  // a DELTAS that comes later is unsolicited
  std::size_t max_delayed = 1024;                  // messages that wait for the fault `delay`
  ByteCount reassembly{256ull << 20};              // all links together; one message always fits
  Duration resume_for = std::chrono::seconds(60);  // what a broken link left is kept so long
};

Status Validate(const LinkSettings& settings);

struct LinkCounters {
  session::Counters session;
  faults::MessageCounters faults;
  faults::ByteCounters bytes;
  std::uint64_t links_up = 0;       // ready
  std::uint64_t links_refused = 0;  // by us, above max_links
  std::uint64_t links_down = 0;     // ready before
  std::uint64_t weights_lost = 0;   // no link to their peer, or it went down first
  std::uint64_t deltas_lost = 0;
  std::uint64_t delayed_lost = 0;  // more than max_delayed
  std::uint64_t busy = 0;          // messages answered BUSY for the FIFO
};

// One line of a status table.
struct PeerInfo {
  std::optional<PeerKey> key;  // unset: unknown before its hello
  std::string address;
  session::State state = session::State::kWaiting;
  bool dialled = false;
  Time since{};  // of the state
  SessionId session;
  std::optional<Duration> rtt;
  std::uint64_t pings = 0;
  std::uint64_t pongs = 0;
  std::string software;
  std::string summary;  // of its model
  std::optional<Time> last_message;
  std::string reason;  // why refused
};

class Links final : public transport::Sink, private session::Host {
 public:
  // Requires: Validate(settings). `transport`, `codec` and `events` outlive this object.
  Links(const LinkSettings& settings, transport::Transport& transport, const wire::BodyCodec& codec,
        LinkEvents& events);
  ~Links() override;

  // Before any other call of a turn. Requires: never goes back.
  void SetTime(Time now);
  // Does what is due. Returns: when to be called next at the latest.
  Time Tick();

  // To message.peer. A peer that is not up: counted, and Nacked for WEIGHTS.
  // Requires: payload of EncodedSize(encoding, vector_size) bytes; exchange ids unique for this
  // life.
  void Send(consensus::Message message);
  // Answers a received message that the FIFO did not keep.
  void Busy(const consensus::Message& evicted);
  void AskToJoin(const PeerKey& peer);
  // To a peer that is not up: nothing happens.
  void Ping(const PeerKey& peer);
  void Tell(const PeerKey& peer, wire::Membership membership);
  // Says BYE on the links that we dialled to this peer and closes them.
  void HangUp(const PeerKey& peer);
  // Says that this node leaves on every link and closes them, without events.
  void Goodbye();

  // From now on no fault is injected; messages that are delayed still wait.
  void StopFaults();

  const session::Budget& budget() const { return budget_; }
  LinkCounters counters() const;
  std::uint64_t answered_busy() const { return counters_.busy; }
  std::vector<PeerInfo> peers() const;  // in key order, those without a key last
  std::size_t reachable() const;

  void OnLinkUp(const transport::LinkInfo& link) override;
  void OnLinkDown(transport::LinkId link, const std::string& reason) override;
  void OnFrame(transport::LinkId link, ByteView frame) override;

 private:
  struct Delayed {
    consensus::Message message;
    bool duplicate = false;
  };

  transport::SendResult SendFrame(transport::LinkId link, ByteView header, ByteView body) override;
  session::Expected Expects(const PeerKey& peer, ExchangeId exchange) override;
  bool Reserve(std::size_t bytes) override;
  void Release(std::size_t bytes) override;
  void OnInterrupted(session::Session& session, session::Incoming part) override;
  session::Held TakeHeld(session::Session& session, consensus::MessageKind kind,
                         ExchangeId exchange) override;
  void OnReady(session::Session& session) override;
  void OnRefused(session::Session& session, wire::Reason reason, const std::string& text) override;
  void OnRejected(session::Session& session, wire::Reason reason) override;
  void OnJoinAsked(session::Session& session) override;
  void OnMessage(session::Session& session, consensus::Message message) override;
  void OnNacked(session::Session& session, consensus::MessageKind kind, ExchangeId exchange,
                wire::Reason reason) override;
  void OnTold(session::Session& session, wire::Membership membership) override;

  void Begin(const consensus::Message& message);
  void SendNow(consensus::Message message);
  void Lost(const consensus::Message& message);
  void GiveUp(const PeerKey& peer, ExchangeId exchange, wire::Reason reason);
  session::Session* Preferred(const PeerKey& peer) const;
  PeerKey Dialler(const session::Session& session) const;
  void SendDelayed();
  void Retire(session::Session& session);
  void MoveOver(session::Session& session);
  bool WaitForPeer(const consensus::Message& message);
  void SendKept(session::Session* session, KeptFor kept);
  void ExpireKept();
  void RunDue();

  LinkSettings settings_;
  std::unique_ptr<faults::ByteFaults> byte_faults_;  // null without such faults
  transport::Transport& transport_;                  // byte_faults_ or the network
  const wire::BodyCodec& codec_;
  LinkEvents& events_;
  faults::MessageFaults message_faults_;
  Exchanges exchanges_;
  session::Budget budget_;
  LinkCounters counters_;
  Time now_{};
  std::uint64_t reserved_ = 0;
  KeptParts parts_;
  KeptMessages kept_;
  LastWhole whole_;
  bool running_due_ = false;
  bool goodbye_ = false;
  std::map<transport::LinkId, std::unique_ptr<session::Session>> sessions_;
  std::map<PeerKey, std::vector<transport::LinkId>> peers_;  // ready links of each peer that is up
  std::multimap<Time, Delayed> delayed_;
  std::deque<std::function<void()>> events_due_;
};

}  // namespace covey::learner
