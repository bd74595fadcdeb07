#include "covey/data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace covey::data {
namespace {

Sampler::Settings Of(std::size_t batch, std::uint64_t seed = 7, std::uint32_t node = 2) {
  Sampler::Settings settings;
  settings.batch = batch;
  settings.seed = seed;
  settings.node = node;
  return settings;
}

Indices Copy(std::span<const std::uint32_t> batch) { return {batch.begin(), batch.end()}; }

Indices Epoch(Sampler& sampler) {
  Indices seen;
  for (std::size_t b = 0; b < sampler.batches_per_epoch(); ++b) {
    const Indices batch = Copy(sampler.Next());
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  return seen;
}

TEST(Sampler, EachEpochVisitsEverySampleOnceInAnotherOrder) {
  Sampler sampler(Range(100, 150), Of(8));
  const Indices first = Epoch(sampler);
  const Indices second = Epoch(sampler);
  EXPECT_NE(first, second);
  for (Indices epoch : {first, second}) {
    std::sort(epoch.begin(), epoch.end());
    EXPECT_EQ(epoch, Range(100, 150));
  }
}

TEST(Sampler, TheLastBatchOfAnEpochIsShort) {
  Sampler sampler(Range(0, 10), Of(4));
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 6; ++i) sizes.push_back(sampler.Next().size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 4, 2, 4, 4, 2}));
  EXPECT_EQ(sampler.batches_per_epoch(), 3u);
}

TEST(Sampler, ABatchOfTheShardOrMoreIsTheShardInItsOrder) {
  for (const std::size_t batch : {std::size_t{100}, std::size_t{200}}) {
    Sampler sampler(Range(50, 150), Of(batch));
    EXPECT_EQ(Copy(sampler.Next()), Range(50, 150));
    EXPECT_EQ(Copy(sampler.Next()), Range(50, 150));
    EXPECT_EQ(sampler.cursor(), (Cursor{2, 0}));
    EXPECT_EQ(sampler.epochs(), 2);
  }
  Sampler smaller(Range(50, 150), Of(99));
  EXPECT_NE(Copy(smaller.Next()), Range(50, 149));
}

// A checkpoint of a run with smaller batches: the rest of its epoch is what was not seen yet.
TEST(Sampler, AWholeShardFirstEndsTheEpochThatWasBegun) {
  Sampler begun(Range(0, 20), Of(5));
  Indices seen = Copy(begun.Next());
  Sampler whole(Range(0, 20), Of(20));
  ASSERT_TRUE(whole.Seek(begun.cursor()));
  const Indices rest = Copy(whole.Next());
  seen.insert(seen.end(), rest.begin(), rest.end());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, Range(0, 20));
  EXPECT_EQ(Copy(whole.Next()), Range(0, 20));
}

TEST(Sampler, CountsEpochs) {
  Sampler sampler(Range(0, 10), Of(5));
  EXPECT_EQ(sampler.epochs(), 0);
  sampler.Next();
  EXPECT_EQ(sampler.epochs(), 0.5);
  EXPECT_EQ(sampler.cursor(), (Cursor{0, 5}));
  sampler.Next();
  EXPECT_EQ(sampler.epochs(), 1);
  EXPECT_EQ(sampler.cursor(), (Cursor{1, 0}));
}

TEST(Sampler, ABatchStaysValidAtTheEndOfAnEpoch) {
  Sampler sampler(Range(0, 4), Of(4));
  const std::span<const std::uint32_t> batch = sampler.Next();
  const Indices before = Copy(batch);
  static_cast<void>(sampler.cursor());
  EXPECT_EQ(Copy(batch), before);
}

TEST(Sampler, TheCursorRestoresEveryPlaceExactly) {
  Sampler run(Range(0, 23), Of(5));
  for (int step = 0; step < 15; ++step) {
    const Cursor cursor = run.cursor();
    Sampler restored(Range(0, 23), Of(5));
    ASSERT_TRUE(restored.Seek(cursor));
    Sampler ahead = run;
    for (int i = 0; i < 7; ++i) ASSERT_EQ(Copy(restored.Next()), Copy(ahead.Next())) << step;
    run.Next();
  }
}

TEST(Sampler, SeekAlsoGoesBack) {
  Sampler sampler(Range(0, 23), Of(5));
  const Indices first = Copy(sampler.Next());
  for (int i = 0; i < 20; ++i) sampler.Next();
  ASSERT_TRUE(sampler.Seek(Cursor{}));
  EXPECT_EQ(Copy(sampler.Next()), first);
}

TEST(Sampler, RefusesACursorOfAnotherShardAndStaysWhereItIs) {
  Sampler sampler(Range(0, 10), Of(5));
  sampler.Next();
  const Status refused = sampler.Seek(Cursor{0, 11});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kData);
  EXPECT_FALSE(sampler.Seek(Cursor{Sampler::kMaxEpochs + 1, 0}));
  EXPECT_EQ(sampler.cursor(), (Cursor{0, 5}));
  EXPECT_TRUE(sampler.Seek(Cursor{3, 10}));
  EXPECT_EQ(sampler.cursor(), (Cursor{4, 0}));
  EXPECT_TRUE(sampler.Seek(Cursor{Sampler::kMaxEpochs, 0}));
}

TEST(Sampler, OrdersDifferBySeedNodeAndEpoch) {
  Sampler base(Range(0, 50), Of(49, 1, 1));
  const Indices order = Copy(base.Next());
  Sampler other_seed(Range(0, 50), Of(49, 2, 1));
  Sampler other_node(Range(0, 50), Of(49, 1, 2));
  EXPECT_NE(Copy(other_seed.Next()), order);
  EXPECT_NE(Copy(other_node.Next()), order);
  Sampler again(Range(0, 50), Of(49, 1, 1));
  EXPECT_EQ(Copy(again.Next()), order);
}

TEST(Sampler, AllocatesNothingAfterTheConstructor) {
  Sampler sampler(Range(0, 100), Of(7));
  const std::uint32_t* const begin = sampler.Next().data();
  for (int i = 0; i < 200; ++i) {
    const std::uint32_t* const at = sampler.Next().data();
    ASSERT_TRUE(at >= begin && at < begin + 100);
  }
}

}  // namespace
}  // namespace covey::data
