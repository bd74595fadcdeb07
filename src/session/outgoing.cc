#include "covey/session/outgoing.h"

#include <algorithm>
#include <utility>

#include "covey/base/check.h"

namespace covey::session {

using consensus::Message;
using consensus::MessageKind;

std::uint32_t ChunkCount(std::uint64_t total, std::uint32_t chunk) {
  COVEY_CHECK(chunk > 0);
  const std::uint64_t count = total / chunk + (total % chunk != 0 ? 1 : 0);
  return count <= UINT32_MAX ? static_cast<std::uint32_t>(count) : 0;
}

std::optional<Message> Outgoing::Push(Message message) {
  if (message.kind == MessageKind::kDeltas) {
    if (deltas_ >= max_deltas_) return message;
    ++deltas_;
    queue_.push_back(Entry{std::move(message), false});
    return std::nullopt;
  }
  // A doubled message (faults) has the same exchange: it stands beside the first and leaves with
  // it.
  const auto replaced = [&message](const Entry& other) {
    return other.message.kind == MessageKind::kWeights && other.message.copy == message.copy &&
           other.message.exchange != message.exchange && !other.interrupted;
  };
  const auto unsent = queue_.begin() + (begun_ ? 1 : 0);
  const auto first = std::find_if(unsent, queue_.end(), replaced);
  if (first == queue_.end()) {
    queue_.push_back(Entry{std::move(message), false});
    return std::nullopt;
  }
  Message old = std::exchange(first->message, std::move(message));
  const auto is_old = [&old](const Entry& other) {
    return other.message.kind == MessageKind::kWeights && other.message.exchange == old.exchange;
  };
  queue_.erase(std::remove_if(first + 1, queue_.end(), is_old), queue_.end());
  return old;
}

void Outgoing::PushInterrupted(Message message) {
  if (message.kind == MessageKind::kDeltas) ++deltas_;
  queue_.insert(queue_.begin() + (begun_ ? 1 : 0), Entry{std::move(message), true});
}

bool Outgoing::Cancel(MessageKind kind, ExchangeId exchange) {
  bool found = false;
  for (std::size_t i = queue_.size(); i > 0; --i) {
    const Message& message = queue_[i - 1].message;
    if (message.kind != kind || message.exchange != exchange) continue;
    found = true;
    if (i == 1) begun_ = false;
    if (kind == MessageKind::kDeltas) --deltas_;
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
  return found;
}

void Outgoing::Begin(std::uint32_t chunk) {
  COVEY_CHECK(!queue_.empty() && !begun_);
  begun_ = true;
  chunk_ = chunk;
  next_ = 0;
  count_ = ChunkCount(front().payload->size(), chunk);
}

ByteView Outgoing::chunk() const {
  COVEY_CHECK(begun_ && next_ < count_, next_, count_);
  const ByteView payload = front().payload->view();
  const std::size_t from = std::size_t{next_} * chunk_;
  return payload.subspan(from, std::min<std::size_t>(chunk_, payload.size() - from));
}

void Outgoing::SkipTo(std::uint32_t chunks) {
  COVEY_CHECK(begun_ && chunks <= count_, chunks, count_);
  next_ = chunks;
}

bool Outgoing::Advance() {
  COVEY_CHECK(begun_ && next_ < count_, next_, count_);
  if (++next_ < count_) return false;
  if (count_ == 1) DropFront();
  return true;
}

void Outgoing::Confirm() {
  COVEY_CHECK(all_left());
  DropFront();
}

void Outgoing::DropFront() {
  if (front().kind == MessageKind::kDeltas) --deltas_;
  queue_.pop_front();
  begun_ = false;
}

Outgoing::Unsent Outgoing::TakeAll() {
  Unsent unsent;
  unsent.begun = !queue_.empty() && (queue_.front().interrupted || (begun_ && count_ > 1));
  for (Entry& entry : queue_) unsent.messages.push_back(std::move(entry.message));
  queue_.clear();
  deltas_ = 0;
  begun_ = false;
  return unsent;
}

}  // namespace covey::session
