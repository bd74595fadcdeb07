// Own exchanges that a DELTAS may still answer: the gate against unsolicited and repeated replies.
//
// Limits: a number and an age. What is answered is forgotten before what is not: on a slow link an
// answer may come after thousands from other peers.
#pragma once

#include <cstddef>
#include <deque>
#include <map>

#include "covey/base/ids.h"
#include "covey/base/time.h"
#include "covey/session/session.h"

namespace covey::learner {

class Exchanges {
 public:
  Exchanges(std::size_t limit, Duration age) : limit_(limit), age_(age) {}

  // A WEIGHTS that wants a reply goes to `peer`. Adding it again (a doubled message) changes
  // nothing.
  void Add(Time now, const PeerKey& peer, ExchangeId exchange);
  // Returns: whether `peer` may answer `exchange` now.
  session::Expected Find(Time now, const PeerKey& peer, ExchangeId exchange) const;
  void MarkAnswered(const PeerKey& peer, ExchangeId exchange);
  // Returns: whether it was waiting for an answer. From then on none is accepted.
  bool GiveUp(const PeerKey& peer, ExchangeId exchange);
  void Expire(Time now);

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PeerKey peer;
    Time sent{};
    bool answered = false;
  };
  using Order = std::deque<ExchangeId>;

  void Forget(Order& order);  // its oldest
  static void Remove(Order& order, ExchangeId exchange);

  std::size_t limit_;
  Duration age_;
  std::map<ExchangeId, Entry> entries_;
  Order open_;      // not answered, in the order of sending
  Order answered_;  // in the order of the answers
};

}  // namespace covey::learner
