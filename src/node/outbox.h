// Everything on its way from the learner thread to the network thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <variant>
#include <vector>

#include "covey/base/ids.h"
#include "covey/consensus/message.h"

namespace covey::node {

struct AskToJoin {
  PeerKey peer;
};
struct PingNow {
  PeerKey peer;
};
using Parcel = std::variant<consensus::Message, AskToJoin, PingNow>;

// Limit: kMaxParcels; beyond it WEIGHTS and requests to join are dropped and counted (their
// exchange expires), DELTAS are not: there is at most one for each message of the FIFO that was
// taken.
// Thread: any.
class Outbox {
 public:
  static constexpr std::size_t kMaxParcels = 256;

  // Returns: whether the outbox was empty, so its reader has to be woken.
  bool Put(Parcel parcel);
  std::vector<Parcel> TakeAll();
  bool empty() const;
  std::uint64_t dropped() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Parcel> parcels_;
  std::uint64_t dropped_ = 0;
};

}  // namespace covey::node
