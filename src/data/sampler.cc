#include "covey/data/sampler.h"

#include <algorithm>
#include <utility>

#include "covey/base/check.h"

namespace covey::data {
namespace {

// Numbers of the stream that belong to one epoch: a shuffle of 2^32 samples takes 2^33 (drawing
// again is rare: less than once in 2^32 draws).
constexpr unsigned kEpochShift = 34;

}  // namespace

Sampler::Sampler(Indices shard, Settings settings)
    : shard_(std::move(shard)),
      order_(shard_.size()),
      settings_(settings),
      stream_(settings.seed, settings.node, Purpose::kSampler) {
  COVEY_CHECK(settings_.batch > 0, settings_.batch);
}

void Sampler::Shuffle() {
  stream_.Seek(cursor_.epoch << kEpochShift);
  std::copy(shard_.begin(), shard_.end(), order_.begin());
  stream_.Shuffle(std::span<std::uint32_t>(order_));
  shuffled_ = true;
}

std::span<const std::uint32_t> Sampler::Next() {
  COVEY_CHECK(!shard_.empty());
  if (cursor_.position == shard_.size()) {
    cursor_ = Cursor{cursor_.epoch + 1, 0};
    shuffled_ = false;
    COVEY_CHECK(cursor_.epoch <= kMaxEpochs, cursor_.epoch);
  }
  // All at once: what an order decides is nothing but the rounding of sums.
  if (cursor_.position == 0 && settings_.batch >= shard_.size()) {
    cursor_.position = shard_.size();
    return shard_;
  }
  if (!shuffled_) Shuffle();
  const std::size_t count = std::min(settings_.batch, shard_.size() - cursor_.position);
  const std::span<const std::uint32_t> batch =
      std::span<const std::uint32_t>(order_).subspan(cursor_.position, count);
  cursor_.position += count;
  return batch;
}

std::size_t Sampler::next_size() const {
  const std::size_t position = cursor_.position == shard_.size() ? 0 : cursor_.position;
  return std::min(settings_.batch, shard_.size() - position);
}

double Sampler::epochs() const {
  if (shard_.empty()) return static_cast<double>(cursor_.epoch);
  return static_cast<double>(cursor_.epoch) +
         static_cast<double>(cursor_.position) / static_cast<double>(shard_.size());
}

Cursor Sampler::cursor() const {
  return cursor_.position == shard_.size() && !shard_.empty() ? Cursor{cursor_.epoch + 1, 0}
                                                              : cursor_;
}

Status Sampler::Seek(Cursor cursor) {
  if (cursor.position > shard_.size() || cursor.epoch > kMaxEpochs) {
    return Fail(ErrorCode::kData, "sampler cursor",
                "got sample " + std::to_string(cursor.position) + " of epoch " +
                    std::to_string(cursor.epoch) + ", wanted at most " +
                    std::to_string(shard_.size()) + " of " + std::to_string(kMaxEpochs),
                "the shard is smaller than when the cursor was saved");
  }
  cursor_ = cursor;
  shuffled_ = false;
  return {};
}

std::size_t Sampler::batches_per_epoch() const {
  return (shard_.size() + settings_.batch - 1) / settings_.batch;
}

}  // namespace covey::data
