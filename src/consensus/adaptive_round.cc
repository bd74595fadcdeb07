#include "covey/consensus/adaptive_round.h"

#include <algorithm>

namespace covey::consensus {
namespace {

// The i-th of `count` coordinates, evenly spaced over `size`.
std::size_t Place(std::size_t i, std::size_t count, std::size_t size) { return i * size / count; }

}  // namespace

void AdaptiveRound::BeginPull(tensor::ConstVectorView x) {
  if (fixed()) return;
  const std::size_t count = std::min(kSampled, x.size());
  before_.resize(count);
  sum_.resize(count);
  for (std::size_t i = 0; i < count; ++i) before_[i] = x[Place(i, count, x.size())];
}

void AdaptiveRound::EndPull(tensor::ConstVectorView x, double share) {
  if (fixed() || !(share > 0)) return;
  const std::size_t count = before_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double moved =
        static_cast<double>(x[Place(i, count, x.size())]) - static_cast<double>(before_[i]);
    const double u = moved / share;
    sum_[i] += u;
    squares_ += u * u;
  }
  if (++models_ == kWindow) Judge();
}

void AdaptiveRound::Judge() {
  double of_mean = 0;
  for (const double sum : sum_) of_mean += sum * sum;
  const double p = squares_ > 0 ? of_mean / (models_ * squares_) : 0;
  if (p > kApart) {
    batches_ = std::max(batches_ / 2, least_);
  } else if (p < kAlike) {
    batches_ = std::min(2 * batches_, most_);
  }
  std::fill(sum_.begin(), sum_.end(), 0.0);
  squares_ = 0;
  models_ = 0;
}

}  // namespace covey::consensus
