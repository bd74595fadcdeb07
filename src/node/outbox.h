// Everything on its way from the learner thread to the network thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
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
// What the operator signed, from the local API.
struct TakeRecord {
  std::vector<std::byte> record;
};
// A door has let this node in.
struct DoorOpened {
  PeerKey owner;
  std::string address;  // where to dial it; empty: nowhere
};
using Parcel = std::variant<consensus::Message, AskToJoin, PingNow, TakeRecord, DoorOpened>;

// Limit: kMaxParcels; beyond it WEIGHTS, pings and requests to join are dropped and counted (their
// exchange expires). DELTAS are not: there is at most one for each message of the FIFO that was
// taken; nor are the operator's records, which come by hand, and doors that opened.
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
