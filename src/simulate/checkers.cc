#include "simulate/checkers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "covey/tensor/codec.h"

namespace covey::simulate {
namespace {

using consensus::MessageKind;

// Rounding of one addition of floats, relative; twice that of one operation.
constexpr double kRounding = 0x1p-22;
// The whole fleet is added up at every so many turns.
constexpr std::uint64_t kFleetEvery = 1024;

// The message as a vector of n elements, zero outside of its segment.
std::vector<double> ValuesOf(const consensus::Message& message, std::size_t n) {
  const consensus::SegmentRange range = consensus::RangeOf(message.segment, n);
  tensor::FlatVector part(range.size);
  tensor::Decode(message.encoding, message.payload->view(), part.view());
  std::vector<double> values(n);
  std::copy(part.view().begin(), part.view().end(),
            values.begin() + static_cast<std::ptrdiff_t>(range.begin));
  return values;
}

std::string Exchange(ExchangeId exchange) { return "exchange " + std::to_string(exchange.value); }

}  // namespace

// --- The sum ---

SumInvariant::SumInvariant(Findings& findings, std::map<PeerKey, std::uint32_t> nodes)
    : Checker(findings), keys_(std::move(nodes)) {}

void SumInvariant::Begins(std::uint32_t node, Time, const learner::Learner& learner,
                          const learner::Saved*) {
  const tensor::ConstVectorView x = learner.x();
  open_sum_.resize(x.size());
  expected_.resize(x.size());
  nodes_[node] = Node{{x.begin(), x.end()}, Vector(x.size()), Vector(x.size()), 0};
  for (std::size_t k = 0; k < x.size(); ++k) expected_[k] += static_cast<double>(x[k]);
}

void SumInvariant::Ends(std::uint32_t node, Time now, const learner::Learner& learner) {
  CheckNode(node, now, learner.x());
  const Vector& x = nodes_.at(node).x;
  for (std::size_t k = 0; k < x.size(); ++k) expected_[k] -= x[k];
  nodes_.erase(node);
}

void SumInvariant::Move(Node& node, const Vector& by, double sign) {
  for (std::size_t k = 0; k < by.size(); ++k) {
    node.moves[k] += sign * by[k];
    node.size[k] += std::abs(by[k]);
  }
  node.count += 1;
  additions_ += 1;
}

void SumInvariant::Sent(std::uint32_t node, Time, const consensus::Message& message) {
  if (message.kind != MessageKind::kDeltas) return;
  Vector d = ValuesOf(message, expected_.size());
  Move(nodes_.at(node), d, 1);
  for (std::size_t k = 0; k < d.size(); ++k) open_sum_[k] += d[k];
  open_.emplace(std::pair(keys_.at(message.peer), message.exchange), std::move(d));
}

void SumInvariant::Applied(std::uint32_t node, Time now, const consensus::Message& message) {
  if (message.kind != MessageKind::kDeltas) return;
  const Vector d = ValuesOf(message, expected_.size());
  const auto [first, last] = open_.equal_range({node, message.exchange});
  const auto made =
      std::find_if(first, last, [&d](const auto& entry) { return entry.second == d; });
  if (made == last) {
    return findings_.Report(
        node, now, "sum: DELTAS were applied that nobody made: " + Exchange(message.exchange));
  }
  Move(nodes_.at(node), d, -1);
  for (std::size_t k = 0; k < d.size(); ++k) open_sum_[k] -= d[k];
  open_.erase(made);
}

void SumInvariant::Trains(std::uint32_t, tensor::ConstVectorView before) {
  before_.assign(before.begin(), before.end());
}

void SumInvariant::Trained(std::uint32_t node, tensor::ConstVectorView after) {
  Vector update(after.size());
  for (std::size_t k = 0; k < after.size(); ++k) {
    update[k] = static_cast<double>(after[k]) - before_[k];
    expected_[k] += update[k];
  }
  Move(nodes_.at(node), update, 1);
}

void SumInvariant::Turn(std::uint32_t node, Time now, const learner::Learner& learner,
                        const learner::Links&, const consensus::Fifo&) {
  CheckNode(node, now, learner.x());
  if (++turns_ % kFleetEvery == 0) CheckFleet(node, now);
}

void SumInvariant::CheckNode(std::uint32_t index, Time now, tensor::ConstVectorView x) {
  Node& node = nodes_.at(index);
  if (node.count == 0 && std::equal(x.begin(), x.end(), node.x.begin())) return;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto value = static_cast<double>(x[k]);
    const double wrong = value - node.x[k] - node.moves[k];
    const double scale = std::abs(value) + std::abs(node.x[k]) + node.size[k];
    // Written so that NaN is wrong.
    if (!(std::abs(wrong) <= kRounding * (node.count + 1) * scale)) {
      findings_.Report(index, now,
                       "sum: parameter " + std::to_string(k) + " moved by " +
                           std::to_string(wrong) + " that is neither training nor an exchange");
    }
    largest_ = std::max(largest_, scale);
    node.x[k] = value;
    node.moves[k] = 0;
    node.size[k] = 0;
  }
  node.count = 0;
}

// Other nodes may have moves since their last turn: they are part of the sum.
void SumInvariant::CheckFleet(std::uint32_t index, Time now) {
  for (std::size_t k = 0; k < expected_.size(); ++k) {
    double sum = -open_sum_[k];
    for (const auto& [unused, node] : nodes_) sum += node.x[k] + node.moves[k];
    if (std::abs(sum - expected_[k]) <= kRounding * (additions_ + 1) * largest_) continue;
    findings_.Report(index, now,
                     "sum: of parameter " + std::to_string(k) + " over the fleet is " +
                         std::to_string(sum) + ", want " + std::to_string(expected_[k]));
  }
}

// --- Once ---

void ExactlyOnce::Sent(std::uint32_t node, Time now, const consensus::Message& message) {
  if (message.kind != MessageKind::kWeights) return;
  if (begun_.insert({node, message.exchange}).second) return;
  findings_.Report(node, now, "once: begins twice: " + Exchange(message.exchange));
}

void ExactlyOnce::Applied(std::uint32_t node, Time now, const consensus::Message& message) {
  if (message.kind == MessageKind::kWeights) {
    if (taken_[node].insert({message.peer, message.exchange}).second) return;
    findings_.Report(node, now, "once: WEIGHTS are applied twice: " + Exchange(message.exchange));
    return;
  }
  if (answered_.insert({node, message.exchange}).second) return;
  findings_.Report(node, now, "once: DELTAS are applied twice: " + Exchange(message.exchange));
}

// --- Bounds ---

void BoundedQueues::Delivered(std::uint32_t node, Time now, const consensus::Message&,
                              const consensus::Fifo& fifo) {
  const std::size_t most = limits_.weights + limits_.deltas;
  if (fifo.size() > most) {
    findings_.Report(node, now,
                     "bounds: the FIFO holds " + std::to_string(fifo.size()) +
                         " messages, its limit is " + std::to_string(most));
  }
  if (fifo.bytes() > limits_.bytes.value) {
    findings_.Report(node, now,
                     "bounds: the FIFO holds " + std::to_string(fifo.bytes()) + " bytes");
  }
}

void BoundedQueues::Turn(std::uint32_t node, Time now, const learner::Learner&,
                         const learner::Links& links, const consensus::Fifo& fifo) {
  const consensus::FifoCounters& counters = fifo.counters();
  const std::uint64_t gone = counters.evicted_weights + counters.refused_weights;
  if (gone == links.answered_busy()) return;
  findings_.Report(node, now,
                   "bounds: " + std::to_string(gone) + " models left the FIFO unread, " +
                       std::to_string(links.answered_busy()) + " senders were told");
}

// --- Values ---

void FiniteValues::Sent(std::uint32_t node, Time now, const consensus::Message& message) {
  const auto* value = static_cast<const float*>(static_cast<const void*>(message.payload->data()));
  const float* end = value + message.payload->size() / sizeof(float);
  if (std::all_of(value, end, [](float one) { return std::isfinite(one); })) return;
  findings_.Report(node, now, "finite: a message holds a value that is not finite");
}

void FiniteValues::Turn(std::uint32_t node, Time now, const learner::Learner& learner,
                        const learner::Links&, const consensus::Fifo&) {
  const tensor::ConstVectorView x = learner.x();
  if (std::all_of(x.begin(), x.end(), [](float one) { return std::isfinite(one); })) return;
  findings_.Report(node, now, "finite: the model holds a value that is not finite");
}

// --- Starvation ---

void NoStarvation::Delivered(std::uint32_t node, Time now, const consensus::Message&,
                             const consensus::Fifo& fifo) {
  if (!fifo.empty()) waiting_.try_emplace(node, now);
  for (const auto& [who, since] : waiting_) {
    if (now - since <= patience_) continue;
    findings_.Report(who, now, "starvation: a message waits since " + ReadableDuration(since));
  }
}

void NoStarvation::Took(std::uint32_t node, Time now, const consensus::Fifo& fifo) {
  waiting_.erase(node);
  if (!fifo.empty()) waiting_.emplace(node, now);
}

// --- Nothing forgotten ---

void NothingForgotten::Begins(std::uint32_t node, Time now, const learner::Learner& learner,
                              const learner::Saved* from) {
  replies_[node] = 0;
  if (from == nullptr) return;
  const tensor::ConstVectorView x = learner.x();
  if (std::memcmp(x.data(), from->x.data(), x.size_bytes()) == 0) return;
  findings_.Report(node, now, "restart: does not begin with the parameters of its checkpoint");
}

void NothingForgotten::Sent(std::uint32_t node, Time, const consensus::Message& message) {
  if (message.kind == MessageKind::kDeltas) ++replies_[node];
}

void NothingForgotten::Turn(std::uint32_t node, Time now, const learner::Learner& learner,
                            const learner::Links&, const consensus::Fifo&) {
  const std::uint64_t made = learner.core().counters().deltas_made;
  if (made == replies_[node]) return;
  findings_.Report(node, now,
                   "replies: " + std::to_string(made) + " were made, " +
                       std::to_string(replies_[node]) + " were sent");
}

// --- The trace ---

void TraceHash::Mix(std::uint64_t what, std::uint32_t node, Time now, std::uint64_t more) {
  last_ = std::max(last_, now);
  for (const std::uint64_t part :
       {what << 32 | node, static_cast<std::uint64_t>(now.count()), more}) {
    hash_ = (hash_ ^ part) * 0x9e3779b97f4a7c15ull;
    hash_ ^= hash_ >> 29;
  }
}

void TraceHash::Begins(std::uint32_t node, Time now, const learner::Learner& learner,
                       const learner::Saved*) {
  Mix(1, node, now, Crc32c(std::as_bytes(learner.x())));
}

void TraceHash::Sent(std::uint32_t node, Time now, const consensus::Message& message) {
  Mix(2 + static_cast<std::uint64_t>(message.kind), node, now,
      message.exchange.value ^ Crc32c(message.payload->view()));
}

void TraceHash::Applied(std::uint32_t node, Time now, const consensus::Message& message) {
  Mix(8 + static_cast<std::uint64_t>(message.kind), node, now, message.exchange.value);
}

void TraceHash::Trained(std::uint32_t node, tensor::ConstVectorView after) {
  Mix(16, node, {}, Crc32c(std::as_bytes(after)));
}

}  // namespace covey::simulate
