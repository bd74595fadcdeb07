#include "covey/learner/exchanges.h"

#include <algorithm>

namespace covey::learner {

void Exchanges::Add(Time now, const PeerKey& peer, ExchangeId exchange) {
  const bool added = entries_.emplace(exchange, Entry{peer, now, false}).second;
  if (!added) return;
  open_.push_back(exchange);
  Expire(now);
  if (entries_.size() > limit_) Forget(answered_.empty() ? open_ : answered_);
}

session::Expected Exchanges::Find(Time now, const PeerKey& peer, ExchangeId exchange) const {
  const auto found = entries_.find(exchange);
  if (found == entries_.end() || found->second.peer != peer || now - found->second.sent > age_) {
    return session::Expected::kNo;
  }
  return found->second.answered ? session::Expected::kAnswered : session::Expected::kYes;
}

void Exchanges::MarkAnswered(const PeerKey& peer, ExchangeId exchange) {
  const auto found = entries_.find(exchange);
  if (found == entries_.end() || found->second.peer != peer || found->second.answered) return;
  found->second.answered = true;
  Remove(open_, exchange);
  answered_.push_back(exchange);
}

bool Exchanges::GiveUp(const PeerKey& peer, ExchangeId exchange) {
  const auto found = entries_.find(exchange);
  if (found == entries_.end() || found->second.peer != peer || found->second.answered) return false;
  Remove(open_, exchange);
  entries_.erase(found);
  return true;
}

void Exchanges::Expire(Time now) {
  for (Order* order : {&open_, &answered_}) {
    while (!order->empty() && now - entries_.at(order->front()).sent > age_) Forget(*order);
  }
}

void Exchanges::Forget(Order& order) {
  entries_.erase(order.front());
  order.pop_front();
}

// Mostly one of the newest.
void Exchanges::Remove(Order& order, ExchangeId exchange) {
  const auto found = std::find(order.rbegin(), order.rend(), exchange);
  order.erase(std::next(found).base());
}

}  // namespace covey::learner
