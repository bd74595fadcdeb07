// Whom a node sends what, how far it lets the receiver go, and how many exchanges it has open.
#include <algorithm>
#include <cmath>
#include <utility>

#include "covey/consensus/node.h"

namespace covey::consensus {
namespace {

// Pending exchanges are also limited in number: the oldest are given up first.
constexpr std::size_t kMaxPending = 4096;
// A reply that takes more rounds than this makes the network slow: one exchange less may be in
// flight.
constexpr int kSlowReply = 3;

}  // namespace

void Node::SendToRandomPeers(Time now, Actions& actions) {
  for (std::uint32_t send = 0; send < settings_.sends; ++send) {
    if (peers_.empty()) {
      ++counters_.without_peer;
      continue;
    }
    if (settings_.limit_in_flight && YoungInFlight(now) >= InFlightLimit()) {
      ++counters_.held_back;
      continue;
    }
    const PeerKey& peer = peers_[static_cast<std::size_t>(stream_.Below(peers_.size()))];
    const ExchangeId exchange{next_exchange_++};
    const Segment segment = NextSegment(send);
    pending_.emplace(exchange, Pending{peer, segment, counters_.rounds, now});
    ++counters_.weights_started;
    actions.push_back(SendWeights{peer, exchange, segment, GammaMax(), false});
  }
  while (pending_.size() > kMaxPending) {
    pending_.erase(pending_.begin());
    ++counters_.expired;
  }
}

// Of the round's sends the one of this number: draws without putting back, all of them at most.
Segment Node::NextSegment(std::uint32_t send) {
  if (segments_.empty()) return {};
  const std::size_t place = send % segments_.size();
  const auto more = static_cast<std::size_t>(stream_.Below(segments_.size() - place));
  std::swap(segments_[place], segments_[place + more]);
  return {segments_[place], settings_.segments};
}

float Node::GammaMax() const {
  const float most = LargestStep(settings_);
  if (!settings_.gamma_by_age || round_length_ <= Duration::zero()) return most;
  const double age =
      static_cast<double>(reply_time_.count()) / static_cast<double>(round_length_.count());
  return std::min(most, gamma_) * static_cast<float>(1 / std::sqrt(1 + age));
}

double Node::Rho(const Message& message) const {
  constexpr double kMost = 2;
  if (settings_.weigh == Weigh::kEqual || settings_.samples == 0 || message.samples == 0) return 1;
  const double rho = static_cast<double>(message.samples) / static_cast<double>(settings_.samples);
  return std::clamp(rho, 1 / kMost, kMost);
}

std::size_t Node::InFlightLimit() const {
  const bool slow_network = reply_time_ > kSlowReply * round_length_;
  return slow_network ? std::max(settings_.sends, 1u) : settings_.sends + 1;
}

bool Node::IsYoung(const Pending& pending, Time now) const {
  return pending.round + 2 > counters_.rounds || now - pending.sent < reply_time_;
}

std::size_t Node::YoungInFlight(Time now) const {
  std::size_t young = 0;
  for (auto entry = pending_.rbegin(); entry != pending_.rend(); ++entry) {
    if (!IsYoung(entry->second, now)) break;
    ++young;
  }
  return young;
}

// Only for who has no other peer: the steps towards others damp the swapping.
std::size_t Node::CrossingInFlight(Time now, const Message& message) const {
  if (peers_.size() != 1 || !settings_.reply || message.no_reply) return 0;
  std::size_t crossing = 0;
  for (auto entry = pending_.rbegin(); entry != pending_.rend(); ++entry) {
    const Pending& own = entry->second;
    if (!IsYoung(own, now)) break;
    if (own.peer == message.peer && own.segment == message.segment) ++crossing;
  }
  return crossing;
}

void Node::Expire(Time now) {
  while (!pending_.empty() && now - pending_.begin()->second.sent > settings_.pending_for) {
    pending_.erase(pending_.begin());
    ++counters_.expired;
  }
}

}  // namespace covey::consensus
