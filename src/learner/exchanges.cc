#include "covey/learner/exchanges.h"

namespace covey::learner {

void Exchanges::Add(Time now, const PeerKey& peer, ExchangeId exchange) {
  const bool added = entries_.emplace(exchange, Entry{peer, now, false, false}).second;
  if (!added) return;
  order_.push_back(exchange);
  Expire(now);
  if (order_.size() <= limit_) return;
  entries_.erase(order_.front());
  order_.pop_front();
}

session::Expected Exchanges::Find(Time now, const PeerKey& peer, ExchangeId exchange) const {
  const auto found = entries_.find(exchange);
  if (found == entries_.end() || found->second.peer != peer || found->second.given_up ||
      now - found->second.sent > age_) {
    return session::Expected::kNo;
  }
  return found->second.answered ? session::Expected::kAnswered : session::Expected::kYes;
}

void Exchanges::MarkAnswered(const PeerKey& peer, ExchangeId exchange) {
  const auto found = entries_.find(exchange);
  if (found != entries_.end() && found->second.peer == peer) found->second.answered = true;
}

bool Exchanges::GiveUp(const PeerKey& peer, ExchangeId exchange) {
  const auto found = entries_.find(exchange);
  if (found == entries_.end() || found->second.peer != peer || found->second.answered ||
      found->second.given_up) {
    return false;
  }
  found->second.given_up = true;
  return true;
}

void Exchanges::Expire(Time now) {
  while (!order_.empty() && now - entries_.at(order_.front()).sent > age_) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace covey::learner
