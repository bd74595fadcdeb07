// Exchanges of parts of x.
#include "covey/consensus/segment.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "unit/consensus/node_fixture.h"

namespace covey::consensus {
namespace {

TEST(Segment, CutsAVectorIntoPartsWithoutGapOrOverlap) {
  for (const std::size_t n : {1u, 15u, 16u, 17u, 51u, 160u, 57250u}) {
    for (std::uint32_t count = 1; count <= MostSegments(n); ++count) {
      std::size_t next = 0;
      for (std::uint32_t index = 0; index < count; ++index) {
        ASSERT_TRUE(IsSegmentOf({index, count}, n));
        const SegmentRange range = RangeOf({index, count}, n);
        ASSERT_EQ(range.begin, next) << n << " " << index << " of " << count;
        ASSERT_EQ(range.begin % kSegmentBlock, 0u);
        ASSERT_GT(range.size, 0u);
        next += range.size;
      }
      ASSERT_EQ(next, n);
      EXPECT_FALSE(IsSegmentOf({count, count}, n));
    }
    EXPECT_FALSE(IsSegmentOf({0, static_cast<std::uint32_t>(MostSegments(n)) + 1}, n) && n > 16);
    EXPECT_FALSE(IsSegmentOf({0, 0}, n));
    EXPECT_FALSE(IsSegmentOf({0, kMaxSegments + 1}, n));
  }
}

class SegmentTest : public NodeTest {
 protected:
  SegmentTest() {
    x_ = tensor::FlatVector(40);
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<float>(i);
  }
  static Message Part(MessageKind kind, std::uint64_t exchange, Segment segment, float value) {
    Message message = Make(kind, 1, exchange, std::vector<float>(RangeOf(segment, 40).size, value));
    message.segment = segment;
    return message;
  }
};

TEST_F(SegmentTest, ARoundSendsEachPartOnceBeforeAnyTwice) {
  Make({.batches = 1, .sends = 6, .segments = 3, .limit_in_flight = false});
  Post(PeerUp{Key(1)});
  Post(Started{});
  for (int round = 0; round < 5; ++round) {
    const std::vector<SendWeights> sent = Of<SendWeights>(Round(1));
    ASSERT_EQ(sent.size(), 6u);
    std::map<std::uint32_t, int> times;
    for (const SendWeights& one : sent) {
      EXPECT_EQ(one.segment.count, 3u);
      EXPECT_FLOAT_EQ(one.gamma_max, 1.0f / 3) << "two messages meet an element";
      ++times[one.segment.index];
    }
    EXPECT_EQ(times, (std::map<std::uint32_t, int>{{0, 2}, {1, 2}, {2, 2}}));
  }
}

TEST_F(SegmentTest, AModelOfAPartMovesThatPart) {
  Make({.sends = 1});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  reply_ = AlignedBuffer(16 * sizeof(float));
  const auto actions = Receive(Part(MessageKind::kWeights, 9, {1, 3}, 100));
  ASSERT_EQ(Of<SendDeltas>(actions).size(), 1u);
  EXPECT_EQ(Of<SendDeltas>(actions)[0].segment, (Segment{1, 3}));
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const auto own = static_cast<float>(i);
    EXPECT_EQ(x_[i], i < 16 || i >= 32 ? own : (own + 100) / 2) << i;
  }
}

TEST_F(SegmentTest, AReplyCountsOnlyForThePartThatWasSent) {
  Make({.batches = 1, .sends = 1, .segments = 3});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  const std::uint64_t exchange = 100;
  std::vector<float> before = X();
  for (std::uint32_t index = 0; index < 3; ++index) {
    Receive(Part(MessageKind::kDeltas, exchange, {index, 3}, 1));
  }
  EXPECT_EQ(Dropped(DropReason::kNotPending), 2u);
  EXPECT_EQ(node_->counters().deltas_applied, 1u);
  float moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i] - x_[i];
  EXPECT_TRUE(moved == 16 || moved == 8) << moved;
}

TEST_F(SegmentTest, WhatIsNoPartOfXIsDropped) {
  Make({.sends = 1});
  Post(PeerUp{Key(1)});
  Post(Started{});
  Post(Trained{1});
  Message wrong = Part(MessageKind::kWeights, 9, {1, 3}, 1);
  for (const Segment segment : {Segment{3, 3}, Segment{0, 0}, Segment{0, 4}, Segment{2, 3}}) {
    wrong.segment = segment;
    Receive(wrong);
  }
  Message copy = Part(MessageKind::kWeights, 10, {1, 3}, 1);
  copy.copy = true;
  Receive(copy);
  EXPECT_EQ(Dropped(DropReason::kWrongSize), 5u);
}

}  // namespace
}  // namespace covey::consensus
