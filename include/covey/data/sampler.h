// The order in which a node sees its samples: seeded shuffles, epoch after epoch, in batches.
//
// Equation: epoch e visits the shard in the order Fisher-Yates(shard; Stream(seed, node, kSampler)
//   from position e * 2^34).
//
// Batches are cut from that order; the last batch of an epoch is short when the batch size does not
// divide the shard (as Keras does). A batch of the shard's size or more is the whole shard, in its
// own order: nothing is shuffled then.
// Determinism: the order of an epoch needs no replay of those before, so Seek is as cheap as a new
//   epoch.
// Cost: O(shard) at the start of an epoch, O(1) for every other batch and for whole shards; nothing
//   is allocated after the constructor.
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "covey/base/random.h"
#include "covey/base/result.h"
#include "covey/data/partition.h"

namespace covey::data {

// A place in the sequence of samples: `position` samples of `epoch` have been given out.
// In what Sampler returns, position is below the shard's size.
struct Cursor {
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  bool operator==(const Cursor&) const = default;
};

class Sampler {
 public:
  static constexpr std::uint64_t kMaxEpochs = std::uint64_t{1} << 29;

  // Whose order, and how much at once.
  struct Settings {
    std::size_t batch = 32;
    std::uint64_t seed = 0;
    std::uint32_t node = 0;
  };

  // Requires: batch > 0. An empty shard has no Next.
  Sampler(Indices shard, Settings settings);

  // Returns: the next 1 .. batch indices, valid until the next call of a non-const method.
  std::span<const std::uint32_t> Next();

  // How many indices Next will return.
  std::size_t next_size() const;

  // How often the shard has been seen, in parts: 1.5 after one and a half epochs.
  double epochs() const;
  Cursor cursor() const;

  // Goes to a cursor that was saved; the batches that follow are those that followed then.
  // Errors: kData when it does not fit this shard (position above its size, epoch above
  // kMaxEpochs); the
  //   sampler is unchanged then.
  Status Seek(Cursor cursor);

  std::size_t size() const { return shard_.size(); }
  std::size_t batch() const { return settings_.batch; }
  // Batches in an epoch, the short one included.
  std::size_t batches_per_epoch() const;

 private:
  void Shuffle();

  Indices shard_;
  Indices order_;  // the current epoch's
  Settings settings_;
  Stream stream_;
  Cursor
      cursor_;  // position may equal size(): the next epoch is shuffled only when it is asked for
  bool shuffled_ = false;
};

}  // namespace covey::data
