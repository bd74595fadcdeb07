#include "covey/faults/byte_faults.h"

#include <gtest/gtest.h>

#include <bit>

namespace covey::faults {
namespace {

using transport::LinkId;
using transport::SendResult;

class Recorder final : public transport::Transport {
 public:
  SendResult Send(LinkId, ByteView header, ByteView body) override {
    frame.assign(header.begin(), header.end());
    frame.insert(frame.end(), body.begin(), body.end());
    ++sent;
    return result;
  }
  void Close(LinkId link) override { closed.push_back(link); }

  SendResult result = SendResult::kSent;
  std::vector<std::byte> frame;
  std::vector<LinkId> closed;
  int sent = 0;
};

const std::vector<std::byte> kHeader(64, std::byte{1});
const std::vector<std::byte> kBody(936, std::byte{2});

int DifferentBits(const std::vector<std::byte>& frame) {
  int bits = 0;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const std::byte was = i < kHeader.size() ? kHeader[i] : kBody[i - kHeader.size()];
    bits += std::popcount(std::to_integer<unsigned>(frame[i] ^ was));
  }
  return bits;
}

TEST(ByteFaults, PassesFramesAndResultsThrough) {
  Recorder inner;
  ByteFaults faults(Settings{}, 7, 0, inner);
  for (const SendResult result : {SendResult::kSent, SendResult::kFull, SendResult::kGone}) {
    inner.result = result;
    EXPECT_EQ(faults.Send(LinkId{1}, kHeader, kBody), result);
    EXPECT_EQ(DifferentBits(inner.frame), 0);
  }
  faults.Close(LinkId{5});
  ASSERT_EQ(inner.closed.size(), 1u);
  EXPECT_EQ(inner.closed[0], LinkId{5});
}

TEST(ByteFaults, CorruptFlipsOneBit) {
  Recorder inner;
  Settings settings;
  settings.corrupt = 1;
  ByteFaults faults(settings, 7, 0, inner);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(faults.Send(LinkId{1}, kHeader, kBody), SendResult::kSent);
    EXPECT_EQ(DifferentBits(inner.frame), 1);
  }
  EXPECT_EQ(faults.counters().corrupted, 50u);
}

TEST(ByteFaults, CutClosesInsteadOfSending) {
  Recorder inner;
  Settings settings;
  settings.cut = 1;
  ByteFaults faults(settings, 7, 0, inner);
  EXPECT_EQ(faults.Send(LinkId{3}, kHeader, kBody), SendResult::kGone);
  EXPECT_EQ(inner.sent, 0);
  ASSERT_EQ(inner.closed.size(), 1u);
  EXPECT_EQ(inner.closed[0], LinkId{3});
  EXPECT_EQ(faults.counters().cut, 1u);
}

// 1000 bytes a frame, 2000 a second: two frames at once, then one every half second.
TEST(ByteFaults, ThrottleKeepsTheRate) {
  Recorder inner;
  Settings settings;
  settings.throttle = ByteCount{2000};
  ByteFaults faults(settings, 7, 0, inner);
  int sent = 0;
  for (int millisecond = 0; millisecond <= 10000; ++millisecond) {
    faults.SetTime(std::chrono::milliseconds(millisecond));
    while (faults.Send(LinkId{1}, kHeader, kBody) == SendResult::kSent) ++sent;
  }
  EXPECT_GE(sent, 21);
  EXPECT_LE(sent, 23);
  EXPECT_EQ(inner.sent, sent);
  EXPECT_GT(faults.counters().throttled, 0u);
}

TEST(ByteFaults, AFrameLargerThanTheRateStillLeaves) {
  Recorder inner;
  Settings settings;
  settings.throttle = ByteCount{100};
  ByteFaults faults(settings, 7, 0, inner);
  EXPECT_EQ(faults.Send(LinkId{1}, kHeader, kBody), SendResult::kSent);
  faults.SetTime(std::chrono::milliseconds(8999));  // 900 bytes of debt
  EXPECT_EQ(faults.Send(LinkId{1}, kHeader, kBody), SendResult::kFull);
  faults.SetTime(std::chrono::milliseconds(9011));
  EXPECT_EQ(faults.Send(LinkId{1}, kHeader, kBody), SendResult::kSent);
}

}  // namespace
}  // namespace covey::faults
