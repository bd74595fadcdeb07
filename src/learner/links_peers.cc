// Whom the links lead to, and what is said about who is there.
#include <algorithm>
#include <utility>

#include "covey/learner/links.h"

namespace covey::learner {

using session::Session;

PeerKey Links::Dialler(const Session& session) const {
  return session.link().dialled ? settings_.session.self : session.peer().key;
}

// Both sides order the links by the key that dialled them, so both use the same one.
Session* Links::Preferred(const PeerKey& peer) const {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return nullptr;
  Session* best = nullptr;
  for (const transport::LinkId id : found->second) {
    Session* session = sessions_.at(id).get();
    if (session->state() != session::State::kReady) continue;
    if (best == nullptr || Dialler(*session) < Dialler(*best)) best = session;
  }
  return best;
}

LinkCounters Links::counters() const {
  LinkCounters counters = counters_;
  counters.faults = message_faults_.counters();
  if (byte_faults_) counters.bytes = byte_faults_->counters();
  return counters;
}

std::vector<PeerInfo> Links::peers() const {
  std::vector<PeerInfo> infos;
  for (const auto& [id, session] : sessions_) {
    const bool ready = session->state() == session::State::kReady;
    // A second link to the same peer is no line of its own.
    if (ready && Preferred(session->peer().key) != session.get()) continue;
    PeerInfo info;
    info.key = session->link().key;
    info.address = session->link().address;
    info.state = session->state();
    info.dialled = session->link().dialled;
    info.since = session->since();
    info.rtt = session->rtt();
    info.pings = session->pings();
    info.pongs = session->pongs();
    info.last_message = session->last_message();
    info.reason = session->reason();
    if (ready) {
      info.key = session->peer().key;
      info.session = session->peer().session;
      info.software = session->peer().software;
      info.summary = session->peer().model_summary;
    }
    infos.push_back(std::move(info));
  }
  std::stable_sort(infos.begin(), infos.end(), [](const PeerInfo& a, const PeerInfo& b) {
    if (a.key.has_value() != b.key.has_value()) return a.key.has_value();
    return a.key && *a.key < *b.key;
  });
  return infos;
}

std::size_t Links::reachable() const { return peers_.size(); }

void Links::Tell(const PeerKey& peer, wire::Membership membership) {
  Session* session = Preferred(peer);
  if (session == nullptr) return;
  session->Tell(now_, std::move(membership));
  RunDue();
}

void Links::Ping(const PeerKey& peer) {
  Session* session = Preferred(peer);
  if (session == nullptr) return;
  session->Ping(now_);
  RunDue();
}

void Links::HangUp(const PeerKey& peer) {
  for (const auto& [id, session] : sessions_) {
    const transport::LinkInfo& link = session->link();
    const bool theirs = link.key == peer || session->peer().key == peer;
    if (link.dialled && theirs) session->Goodbye("we hung up");
  }
  RunDue();
}

void Links::OnTold(Session& session, wire::Membership membership) {
  const std::string& link = session.link().address;
  membership.own_address = wire::AddressSeenFrom(link, membership.own_address);
  for (wire::ToldPeer& peer : membership.peers) {
    peer.address = wire::AddressSeenFrom(link, peer.address);
  }
  std::erase_if(membership.peers, [](const wire::ToldPeer& peer) { return peer.address.empty(); });
  events_due_.push_back([this, key = session.peer().key, membership = std::move(membership)] {
    events_.Told(key, membership);
  });
}

}  // namespace covey::learner
