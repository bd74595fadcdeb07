#include "covey/learner/links.h"

#include <algorithm>
#include <utility>

#include "covey/base/check.h"
#include "covey/tensor/codec.h"

namespace covey::learner {

using consensus::Message;
using consensus::MessageKind;
using session::Session;
using wire::Reason;

Status Validate(const LinkSettings& settings) {
  if (Status status = session::Validate(settings.session); !status) return status;
  if (Status status = session::Validate(settings.budget); !status) return status;
  if (Status status = faults::Validate(settings.faults); !status) return status;
  const struct {
    const char* name;
    std::uint64_t value;
  } limits[] = {{"max_links", settings.max_links},
                {"max_exchanges", settings.max_exchanges},
                {"max_delayed", settings.max_delayed}};
  for (const auto& limit : limits) {
    if (limit.value > 0) continue;
    return Fail(ErrorCode::kConfig, std::string("network.") + limit.name,
                "got 0, wanted at least 1");
  }
  if (settings.exchanges_for <= Duration::zero() || settings.resume_for <= Duration::zero()) {
    return Fail(ErrorCode::kConfig, "network.exchanges_for, resume_for", "must be positive");
  }
  return {};
}

Links::Links(const LinkSettings& settings, transport::Transport& transport,
             const wire::BodyCodec& codec, LinkEvents& events)
    : settings_(settings),
      byte_faults_(settings.faults.any_bytes()
                       ? std::make_unique<faults::ByteFaults>(settings.faults, settings.seed,
                                                              settings.node, transport)
                       : nullptr),
      transport_(byte_faults_ ? *byte_faults_ : transport),
      codec_(codec),
      events_(events),
      message_faults_(settings.faults, settings.seed, settings.node),
      exchanges_(settings.max_exchanges, settings.exchanges_for),
      budget_(settings.budget),
      parts_(settings.resume_for),
      kept_(settings.resume_for, settings.reassembly.value),
      whole_(settings.max_links) {
  COVEY_CHECK(Validate(settings).has_value());
}

// Sessions give their buffers back to this object.
Links::~Links() { sessions_.clear(); }

void Links::SetTime(Time now) {
  COVEY_CHECK(now >= now_, now.count(), now_.count());
  now_ = now;
  if (byte_faults_) byte_faults_->SetTime(now);
}

Time Links::Tick() {
  exchanges_.Expire(now_);
  ExpireKept();
  SendDelayed();
  for (const auto& [id, session] : sessions_) session->Tick(now_);
  RunDue();
  Time next = std::min(parts_.due(), kept_.due());
  if (!delayed_.empty()) next = std::min(next, delayed_.begin()->first);
  for (const auto& [id, session] : sessions_) next = std::min(next, session->NextDeadline());
  return next;
}

// --- Messages out ---

void Links::Send(Message message) {
  COVEY_CHECK(message.payload != nullptr);
  const std::size_t vector_size = settings_.session.vector_size;
  COVEY_CHECK(consensus::IsSegmentOf(message.segment, vector_size), message.segment.index,
              message.segment.count);
  const std::size_t size = consensus::RangeOf(message.segment, vector_size).size;
  COVEY_CHECK(message.payload->size() == tensor::EncodedSize(message.encoding, size),
              message.payload->size());
  if (goodbye_) return;
  const faults::Fate fate = message_faults_.Decide(message.kind);
  if (fate.drop) return;
  if (fate.delay > Duration::zero()) {
    if (delayed_.size() == settings_.max_delayed) {
      ++counters_.delayed_lost;
      return;
    }
    delayed_.emplace(now_ + fate.delay, Delayed{std::move(message), fate.duplicate});
    return;
  }
  Begin(message);
  if (fate.duplicate) SendNow(message);
  SendNow(std::move(message));
  RunDue();
}

void Links::SendDelayed() {
  while (!delayed_.empty() && delayed_.begin()->first <= now_) {
    Delayed due = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    Begin(due.message);
    if (due.duplicate) SendNow(due.message);
    SendNow(std::move(due.message));
  }
}

void Links::Begin(const Message& message) {
  const bool wants_reply =
      message.kind == MessageKind::kWeights && !message.no_reply && !message.copy;
  if (wants_reply) exchanges_.Add(now_, message.peer, message.exchange);
}

void Links::SendNow(Message message) {
  Session* session = Preferred(message.peer);
  if (session == nullptr) {
    if (!WaitForPeer(message)) Lost(message);
    return;
  }
  session->Enqueue(now_, std::move(message));
}

void Links::Lost(const Message& message) {
  if (message.kind == MessageKind::kDeltas) {
    ++counters_.deltas_lost;
    return;
  }
  ++counters_.weights_lost;
  GiveUp(message.peer, message.exchange, Reason::kLinkLost);
}

void Links::GiveUp(const PeerKey& peer, ExchangeId exchange, Reason reason) {
  if (!exchanges_.GiveUp(peer, exchange)) return;
  events_due_.push_back([this, peer, exchange, reason] { events_.Nacked(peer, exchange, reason); });
}

void Links::Busy(const Message& evicted) {
  ++counters_.busy;
  Session* session = Preferred(evicted.peer);
  if (session == nullptr) return;
  session->Nack(now_, evicted.kind, evicted.exchange, Reason::kBusy);
  RunDue();
}

void Links::AskToJoin(const PeerKey& peer) {
  Session* session = Preferred(peer);
  if (session == nullptr) return;
  session->AskToJoin(now_);
  RunDue();
}

void Links::Goodbye() {
  goodbye_ = true;
  for (const auto& [id, session] : sessions_) {
    session->Goodbye("we are leaving", true);
    transport_.Close(id);
  }
  sessions_.clear();
  peers_.clear();
  delayed_.clear();
  events_due_.clear();
}

void Links::StopFaults() {
  message_faults_.Stop();
  if (byte_faults_) byte_faults_->Stop();
}

// --- From the transport ---

void Links::OnLinkUp(const transport::LinkInfo& link) {
  if (goodbye_ || sessions_.size() >= settings_.max_links) {
    if (!goodbye_) ++counters_.links_refused;
    transport_.Close(link.id);
    return;
  }
  session::Host& host = *this;
  auto session = std::make_unique<Session>(settings_.session, codec_, link, host, budget_,
                                           counters_.session, now_);
  Session& added = *session;
  const bool inserted = sessions_.emplace(link.id, std::move(session)).second;
  COVEY_CHECK(inserted, link.id.value);
  added.Start();
  RunDue();
}

void Links::OnLinkDown(transport::LinkId link, const std::string& reason) {
  const auto found = sessions_.find(link);
  if (found == sessions_.end()) return;  // closed by us
  found->second->Close(reason);
  Retire(*found->second);
  sessions_.erase(found);
  RunDue();
}

void Links::OnFrame(transport::LinkId link, ByteView frame) {
  const auto found = sessions_.find(link);
  if (found == sessions_.end()) return;
  found->second->OnFrame(now_, frame);
  RunDue();
}

// --- From the sessions ---

transport::SendResult Links::SendFrame(transport::LinkId link, ByteView header, ByteView body) {
  return transport_.Send(link, header, body);
}

session::Expected Links::Expects(const PeerKey& peer, ExchangeId exchange) {
  return exchanges_.Find(now_, peer, exchange);
}

void Links::OnReady(Session& session) {
  ++counters_.links_up;
  const PeerKey key = session.peer().key;
  std::vector<transport::LinkId>& links = peers_[key];
  bool was_up = false;
  bool other_life = false;
  for (const transport::LinkId id : links) {
    Session& other = *sessions_.at(id);
    was_up |= other.state() == session::State::kReady;
    if (other.peer().session != session.peer().session) {
      other.Goodbye("peer restarted");
      other_life = true;
    } else if (other.link().dialled == session.link().dialled) {
      other.Goodbye("dialled anew");
    }
  }
  links.push_back(session.link().id);
  SendKept(&session, kept_.Take(key));
  if (was_up && other_life) {
    events_due_.push_back(
        [this, key] { events_.PeerDown(key, "peer restarted", session::Parting::kLost); });
  }
  if (!was_up || other_life) {
    events_due_.push_back([this, key, hello = session.peer()] { events_.PeerUp(key, hello); });
  }
}

void Links::OnRefused(Session& session, Reason reason, const std::string& text) {
  events_due_.push_back(
      [this, address = session.link().address, reason,
       clean = wire::CleanText(text, wire::kMaxText)] { events_.Refused(address, reason, clean); });
}

void Links::OnRejected(Session& session, Reason reason) {
  const bool known = session.link().key || session.state() == session::State::kReady;
  const PeerKey& key = session.link().key ? *session.link().key : session.peer().key;
  events_.Rejected(known ? key.Short() : session.link().address, reason);
}

void Links::OnJoinAsked(Session& session) {
  events_due_.push_back([this, key = session.peer().key] { events_.JoinAsked(key); });
}

void Links::OnMessage(Session& session, Message message) {
  whole_.Note(message.peer, session.peer().session, message.kind, message.exchange);
  if (message.kind == MessageKind::kDeltas) exchanges_.MarkAnswered(message.peer, message.exchange);
  // Not from within the session: whoever takes the message may call Busy, which may end it.
  events_due_.push_back(
      [this, message = std::move(message)]() mutable { events_.Deliver(std::move(message)); });
}

void Links::OnNacked(Session& session, MessageKind kind, ExchangeId exchange, Reason reason) {
  if (kind == MessageKind::kWeights) GiveUp(session.peer().key, exchange, reason);
}

// --- Ends of links, and events that waited ---

// A link that was ready is so no more: its peer may be down, and what waited on it goes over the
// other link.
void Links::Retire(Session& session) {
  const PeerKey key = session.peer().key;
  const auto peer = peers_.find(key);
  if (peer == peers_.end() || std::erase(peer->second, session.link().id) == 0) return;
  ++counters_.links_down;
  if (peer->second.empty()) {
    peers_.erase(peer);
    events_due_.push_back([this, key, reason = session.reason(), parting = session.parting()] {
      events_.PeerDown(key, reason, parting);
    });
  }
  MoveOver(session);
}

// Ends every public method. The events may call Send, which leaves more to do; the loop does that
// too.
void Links::RunDue() {
  if (running_due_) return;
  running_due_ = true;
  for (bool more = true; more;) {
    more = false;
    for (auto at = sessions_.begin(); at != sessions_.end();) {
      Session& session = *at->second;
      if (session.state() == session::State::kRefused) Retire(session);
      if (session.state() != session::State::kClosed) {
        ++at;
        continue;
      }
      Retire(session);
      transport_.Close(at->first);
      at = sessions_.erase(at);
      more = true;
    }
    while (!events_due_.empty()) {
      const std::function<void()> event = std::move(events_due_.front());
      events_due_.pop_front();
      event();
      more = true;
    }
  }
  running_due_ = false;
}

}  // namespace covey::learner
