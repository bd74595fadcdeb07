#include "covey/consensus/fifo.h"

#include <algorithm>
#include <utility>

#include "covey/base/check.h"

namespace covey::consensus {

Fifo::Fifo(FifoLimits limits) : limits_(limits) {
  COVEY_CHECK(limits.weights > 0 && limits.deltas > 0, limits.weights, limits.deltas);
}

std::vector<Message> Fifo::Push(Message message) {
  std::vector<Message> evicted;
  const std::uint64_t size = message.payload ? message.payload->size() : 0;
  const bool is_weights = message.kind == MessageKind::kWeights;
  if (!is_weights && deltas_ == limits_.deltas) {
    ++counters_.refused_deltas;
    return evicted;
  }
  bool fits = size <= limits_.bytes.value;
  if (fits && is_weights && weights_ == limits_.weights) EvictOldestWeights(evicted);
  while (fits && bytes_ + size > limits_.bytes.value) fits = EvictOldestWeights(evicted);
  if (!fits) {
    if (is_weights) {
      ++counters_.refused_weights;
      evicted.push_back(std::move(message));
    } else {
      ++counters_.refused_deltas;
    }
    return evicted;
  }
  bytes_ += size;
  ++(is_weights ? weights_ : deltas_);
  queue_.push_back(std::move(message));
  return evicted;
}

std::optional<Message> Fifo::Pop() {
  if (queue_.empty()) return std::nullopt;
  Message message = std::move(queue_.front());
  queue_.pop_front();
  bytes_ -= message.payload ? message.payload->size() : 0;
  --(message.kind == MessageKind::kWeights ? weights_ : deltas_);
  return message;
}

bool Fifo::EvictOldestWeights(std::vector<Message>& evicted) {
  const auto oldest = std::find_if(queue_.begin(), queue_.end(), [](const Message& message) {
    return message.kind == MessageKind::kWeights;
  });
  if (oldest == queue_.end()) return false;
  bytes_ -= oldest->payload ? oldest->payload->size() : 0;
  --weights_;
  ++counters_.evicted_weights;
  evicted.push_back(std::move(*oldest));
  queue_.erase(oldest);
  return true;
}

}  // namespace covey::consensus
