#include "covey/consensus/fifo.h"

#include <gtest/gtest.h>

#include <memory>

namespace covey::consensus {
namespace {

Message Make(MessageKind kind, std::uint64_t id, std::size_t bytes = 64) {
  Message message;
  message.kind = kind;
  message.exchange = ExchangeId{id};
  message.payload = std::make_shared<const AlignedBuffer>(bytes);
  return message;
}

TEST(Fifo, KeepsTheOrderOfArrivalOfBothKinds) {
  Fifo fifo({.weights = 4, .deltas = 4, .bytes = ByteCount{4096}});
  fifo.Push(Make(MessageKind::kWeights, 1));
  fifo.Push(Make(MessageKind::kDeltas, 2));
  fifo.Push(Make(MessageKind::kWeights, 3));
  EXPECT_EQ(fifo.bytes(), 192u);
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(fifo.Pop()->exchange.value, id);
  EXPECT_FALSE(fifo.Pop());
  EXPECT_EQ(fifo.bytes(), 0u);
}

TEST(Fifo, EvictsTheOldestWeightsWhenFull) {
  Fifo fifo({.weights = 2, .deltas = 1, .bytes = ByteCount{4096}});
  EXPECT_TRUE(fifo.Push(Make(MessageKind::kDeltas, 1)).empty());
  EXPECT_TRUE(fifo.Push(Make(MessageKind::kWeights, 2)).empty());
  EXPECT_TRUE(fifo.Push(Make(MessageKind::kWeights, 3)).empty());
  const auto evicted = fifo.Push(Make(MessageKind::kWeights, 4));
  ASSERT_EQ(evicted.size(), 1u);
  EXPECT_EQ(evicted[0].exchange.value, 2u);
  EXPECT_EQ(fifo.counters().evicted_weights, 1u);
  EXPECT_EQ(fifo.Pop()->exchange.value, 1u);
  EXPECT_EQ(fifo.Pop()->exchange.value, 3u);
  EXPECT_EQ(fifo.Pop()->exchange.value, 4u);
}

TEST(Fifo, DeltasAreNeverDroppedInFavourOfWeights) {
  Fifo fifo({.weights = 8, .deltas = 2, .bytes = ByteCount{256}});
  fifo.Push(Make(MessageKind::kDeltas, 1, 128));
  fifo.Push(Make(MessageKind::kDeltas, 2, 128));
  const auto refused = fifo.Push(Make(MessageKind::kWeights, 3, 64));
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].exchange.value, 3u);
  EXPECT_EQ(fifo.counters().refused_weights, 1u);
  EXPECT_EQ(fifo.size(), 2u);
}

TEST(Fifo, DeltasPushWeightsOutForBytes) {
  Fifo fifo({.weights = 8, .deltas = 2, .bytes = ByteCount{256}});
  fifo.Push(Make(MessageKind::kWeights, 1, 128));
  fifo.Push(Make(MessageKind::kWeights, 2, 128));
  const auto evicted = fifo.Push(Make(MessageKind::kDeltas, 3, 192));
  ASSERT_EQ(evicted.size(), 2u);
  EXPECT_EQ(fifo.size(), 1u);
  EXPECT_LE(fifo.bytes(), 256u);
}

TEST(Fifo, DeltasBeyondTheirSlotsAreRefusedAndCounted) {
  Fifo fifo({.weights = 8, .deltas = 2, .bytes = ByteCount{4096}});
  for (std::uint64_t id = 1; id <= 3; ++id)
    EXPECT_TRUE(fifo.Push(Make(MessageKind::kDeltas, id)).empty());
  EXPECT_EQ(fifo.size(), 2u);
  EXPECT_EQ(fifo.counters().refused_deltas, 1u);
}

TEST(Fifo, RefusesWhatIsLargerThanTheQueueAndKeepsTheRest) {
  Fifo fifo({.weights = 8, .deltas = 2, .bytes = ByteCount{256}});
  fifo.Push(Make(MessageKind::kWeights, 1, 128));
  EXPECT_EQ(fifo.Push(Make(MessageKind::kWeights, 2, 257)).size(), 1u);
  fifo.Push(Make(MessageKind::kDeltas, 3, 257));
  EXPECT_EQ(fifo.counters().refused_weights, 1u);
  EXPECT_EQ(fifo.counters().refused_deltas, 1u);
  ASSERT_EQ(fifo.size(), 1u);
  EXPECT_EQ(fifo.Pop()->exchange.value, 1u);
}

}  // namespace
}  // namespace covey::consensus
