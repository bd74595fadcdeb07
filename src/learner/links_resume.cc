// What becomes of messages whose link breaks: the memory of reassembly, and what both sides keep.
#include <utility>

#include "covey/base/check.h"
#include "covey/learner/links.h"

namespace covey::learner {

using consensus::Message;
using consensus::MessageKind;
using session::Session;

bool Links::Reserve(std::size_t bytes) {
  // What arrives now comes before what may never go on.
  while (reserved_ + bytes > settings_.reassembly.value && parts_.size() > 0) {
    Release(parts_.DropOldest());
  }
  // One message always fits, however large the model is.
  if (reserved_ > 0 && reserved_ + bytes > settings_.reassembly.value) return false;
  reserved_ += bytes;
  return true;
}

void Links::Release(std::size_t bytes) {
  COVEY_CHECK(reserved_ >= bytes, reserved_, bytes);
  reserved_ -= bytes;
}

void Links::OnInterrupted(Session& session, session::Incoming part) {
  if (goodbye_) return Release(static_cast<std::size_t>(part.begin().total));
  Release(parts_.Keep(now_, session.peer().key, session.peer().session, std::move(part)));
}

// The older link may be dead without knowing it: then its session still holds the part.
session::Held Links::TakeHeld(Session& session, MessageKind kind, ExchangeId exchange) {
  const PeerKey& peer = session.peer().key;
  const SessionId life = session.peer().session;
  session::Held held;
  held.whole = whole_.Is(peer, life, kind, exchange);
  held.part = parts_.Take(peer, life, kind, exchange);
  const auto links = peers_.find(peer);
  if (held.part || links == peers_.end()) return held;
  for (const transport::LinkId id : links->second) {
    Session& other = *sessions_.at(id);
    if (&other == &session || other.peer().session != life) continue;
    if (!held.part) held.part = other.HandOver(kind, exchange);
  }
  return held;
}

// Messages of a link that has ended: over another one to the same life of the peer, or kept for the
// next. A later life did not ask for these DELTAS and does not know these exchanges; WEIGHTS that
// had not begun are no better than those that come later.
void Links::MoveOver(Session& session) {
  const PeerKey peer = session.peer().key;
  session::Outgoing::Unsent unsent = session.TakeUnsent();
  for (Message& message : unsent.messages) message.peer = peer;
  KeptFor kept{{}, unsent.begun, session.peer().session};
  Session* other = Preferred(peer);
  if (other != nullptr || goodbye_) {
    kept.messages = std::move(unsent.messages);
    return SendKept(other, std::move(kept));
  }
  for (std::size_t i = 0; i < unsent.messages.size(); ++i) {
    Message& message = unsent.messages[i];
    if ((i == 0 && unsent.begun) || message.kind == MessageKind::kDeltas) {
      kept.messages.push_back(std::move(message));
    } else {
      Lost(message);
    }
  }
  for (const Message& lost : kept_.Keep(now_, peer, std::move(kept))) Lost(lost);
}

// An answer to a peer that asked and has just gone down.
bool Links::WaitForPeer(const Message& message) {
  if (message.kind != MessageKind::kDeltas || goodbye_) return false;
  const std::optional<SessionId> life = whole_.Life(message.peer);
  return life && kept_.Add(now_, *life, message, settings_.session.deltas_queue);
}

void Links::SendKept(Session* session, KeptFor kept) {
  for (std::size_t i = 0; i < kept.messages.size(); ++i) {
    Message& message = kept.messages[i];
    if (session == nullptr || session->state() != session::State::kReady ||
        session->peer().session != kept.life) {
      Lost(message);
    } else if (i == 0 && kept.begun) {
      session->Resume(now_, std::move(message));
    } else {
      session->Enqueue(now_, std::move(message));
    }
  }
}

void Links::ExpireKept() {
  Release(parts_.Expire(now_));
  for (const Message& lost : kept_.Expire(now_)) Lost(lost);
}

}  // namespace covey::learner
