// Models of any size cross a link, with any credit and any interleaving, and nothing wrong is ever
// delivered.
#include <gtest/gtest.h>

#include "covey/base/random.h"
#include "support/session_fixture.h"

namespace covey::session {
namespace {

using consensus::MessageKind;
using test::Carry;
using test::MessageOf;
using test::Pair;
using test::PayloadOf;
using test::SameBytes;
using test::SessionSettings;

struct Shape {
  std::size_t floats;
  std::uint32_t chunk;
  std::uint32_t credit;
};

Pair MakePair(const Shape& shape) {
  Settings near = SessionSettings(1, shape.floats);
  Settings far = SessionSettings(2, shape.floats);
  near.max_chunk = far.max_chunk = shape.chunk;
  near.credit = far.credit = shape.credit;
  return Pair(near, far);
}

// Moves frames in an order that the stream draws. Returns: the most frames that were under way.
std::size_t CarryAtRandom(Pair& pair, Stream& stream) {
  std::size_t most = 0;
  while (!pair.a.host.sent.empty() || !pair.b.host.sent.empty()) {
    most = std::max({most, pair.a.host.sent.size(), pair.b.host.sent.size()});
    if (stream.Chance(0.5)) {
      Carry(pair.a, pair.b);
    } else {
      Carry(pair.b, pair.a);
    }
  }
  return most;
}

class Transfers : public testing::TestWithParam<Shape> {};

TEST_P(Transfers, CrossInBothDirectionsAtOnce) {
  const Shape shape = GetParam();
  Stream stream(4, static_cast<std::uint32_t>(shape.floats), Purpose::kTest);
  Pair pair = MakePair(shape);
  CarryAtRandom(pair, stream);
  const SharedBuffer payload = PayloadOf(shape.floats);
  pair.b.host.expected[ExchangeId{1}] = Expected::kYes;
  pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kDeltas, 1, payload));
  pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 2, payload));
  pair.b.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, 1, payload));
  const std::size_t most = CarryAtRandom(pair, stream);
  // Chunks within credit, two BEGIN, and reports.
  EXPECT_LE(most, 2 * shape.credit + 8u);
  ASSERT_EQ(pair.b.host.delivered.size(), 2u);
  ASSERT_EQ(pair.a.host.delivered.size(), 1u);
  for (const auto& message : pair.b.host.delivered) {
    EXPECT_TRUE(SameBytes(message.payload, payload));
  }
  EXPECT_TRUE(SameBytes(pair.a.host.delivered[0].payload, payload));
  EXPECT_EQ(pair.a.AllRejected() + pair.b.AllRejected(), 0u);
  EXPECT_EQ(pair.b.host.reserved, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Transfers,
                         testing::Values(Shape{1, 262144, 8},
                                         Shape{57242, 262144, 8},  // the paper's MLP: one chunk
                                         Shape{65536, 262144, 1},  // exactly one chunk
                                         Shape{65537, 262144, 1},  // and four bytes more
                                         Shape{256, 1024, 1}, Shape{257, 1024, 3},
                                         Shape{100000, 1024, 2},
                                         Shape{25u << 20, 262144, 2}));  // 100 MiB

TEST(Transfers, DamageOnTheWayIsNeverDelivered) {
  for (std::uint32_t run = 0; run < 300; ++run) {
    Stream stream(5, run, Purpose::kTest);
    Pair pair = MakePair({700, 1024, static_cast<std::uint32_t>(1 + stream.Below(4))});
    CarryAtRandom(pair, stream);
    std::vector<SharedBuffer> payloads;
    for (std::uint64_t i = 0; i < 8; ++i) {
      payloads.push_back(PayloadOf(700, static_cast<std::uint32_t>(i)));
      if (pair.a.session->state() == State::kReady) {
        pair.a.session->Enqueue(Time{}, MessageOf(MessageKind::kWeights, i, payloads.back()));
      }
      while (!pair.a.host.sent.empty() || !pair.b.host.sent.empty()) {
        for (test::Side* side : {&pair.a, &pair.b}) {
          if (side->host.sent.empty() || !stream.Chance(0.2)) continue;
          std::vector<std::byte>& frame = side->host.sent.front();
          // Length changes are the transport's to prevent: a frame arrives whole or not at all.
          const std::uint64_t bit = stream.Below(frame.size() * 8);
          frame[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        }
        if (stream.Chance(0.5)) {
          Carry(pair.a, pair.b);
        } else {
          Carry(pair.b, pair.a);
        }
      }
    }
    for (const auto& message : pair.b.host.delivered) {
      bool found = false;
      for (const SharedBuffer& payload : payloads) found |= SameBytes(message.payload, payload);
      ASSERT_TRUE(found) << "run " << run;
    }
    ASSERT_TRUE(pair.a.host.delivered.empty());
    ASSERT_LE(pair.b.host.reserved, 2800u);
  }
}

}  // namespace
}  // namespace covey::session
