#include "node/outbox.h"

#include <utility>

namespace covey::node {

bool Outbox::Put(Parcel parcel) {
  const std::lock_guard lock(mutex_);
  const auto* message = std::get_if<consensus::Message>(&parcel);
  const bool deltas = message != nullptr && message->kind == consensus::MessageKind::kDeltas;
  const bool rare =
      std::holds_alternative<TakeRecord>(parcel) || std::holds_alternative<DoorOpened>(parcel);
  if (parcels_.size() >= kMaxParcels && !deltas && !rare) {
    ++dropped_;
    return false;
  }
  parcels_.push_back(std::move(parcel));
  return parcels_.size() == 1;
}

std::vector<Parcel> Outbox::TakeAll() {
  const std::lock_guard lock(mutex_);
  return std::exchange(parcels_, {});
}

bool Outbox::empty() const {
  const std::lock_guard lock(mutex_);
  return parcels_.empty();
}

std::uint64_t Outbox::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace covey::node
