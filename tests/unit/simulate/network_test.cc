#include "covey/simulate/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace covey::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Node : transport::Sink {
  explicit Node(Scheduler& clock) : scheduler(clock) {}
  void OnLinkUp(const transport::LinkInfo& info) override { links.push_back(info.id); }
  void OnLinkDown(transport::LinkId, const std::string&) override {
    downs.push_back(scheduler.now());
  }
  void OnFrame(transport::LinkId, ByteView frame) override {
    frames.push_back(static_cast<int>(frame[0]));
    times.push_back(scheduler.now());
  }
  Scheduler& scheduler;
  std::vector<transport::LinkId> links;
  std::vector<Time> downs;
  std::vector<int> frames;
  std::vector<Time> times;
};

class NetworkTest : public testing::Test {
 protected:
  void Make() {
    network_.emplace(scheduler_, 3, Paths::Make(faults_, 3, 2).value());
    network_->OnLost([this](const Pair&) { ++lost_; });
    one_ = &network_->AddPort({}, own_.value_or(faults_.links), a_);
    PeerKey key;
    key.bytes[0] = 1;
    two_ = &network_->AddPort(key, faults_.links, b_);
    Move();
    network_->Connect(0, 1);
    scheduler_.RunNext();
    ASSERT_EQ(a_.links.size() + b_.links.size(), 2u);
  }
  void Move() {
    const Time next = network_->MovePaths();
    if (next != kNever) scheduler_.At(next, [this] { Move(); });
  }
  void Send(int number, std::size_t size = 1) {
    const std::vector<std::byte> bytes(size, static_cast<std::byte>(number));
    one_->Send(a_.links.back(), bytes, {});
  }
  void RunAll() {
    while (scheduler_.RunNext()) {
    }
  }

  config::FaultSettings faults_;
  std::optional<config::LinkFaults> own_;  // of the node that sends
  Scheduler scheduler_;
  std::optional<VirtualNetwork> network_;
  Node a_{scheduler_};
  Node b_{scheduler_};
  VirtualNetwork::Port* one_ = nullptr;
  VirtualNetwork::Port* two_ = nullptr;
  int lost_ = 0;
};

TEST_F(NetworkTest, FramesTakeTheirSizeAndTheDelay) {
  faults_.links.delay = milliseconds(5);
  faults_.links.bandwidth = ByteCount{1000};
  Make();
  Send(1, 100);
  Send(2, 200);
  RunAll();
  EXPECT_EQ(b_.times, (std::vector<Time>{milliseconds(105), milliseconds(305)}));
}

TEST_F(NetworkTest, OfTwoEndsTheWorseHoldsInBothDirections) {
  faults_.links.delay = milliseconds(5);
  faults_.links.bandwidth = ByteCount{1000};
  own_.emplace();
  own_->delay = milliseconds(50);
  own_->bandwidth = ByteCount{4000};
  Make();
  Send(1, 100);
  const std::vector<std::byte> bytes(100);
  two_->Send(b_.links.back(), bytes, {});
  RunAll();
  EXPECT_EQ(b_.times, (std::vector<Time>{milliseconds(150)}));
  EXPECT_EQ(a_.times, b_.times);
}

TEST_F(NetworkTest, ClogsOfOneEndHoldBothDirections) {
  own_.emplace();
  own_->clog_every = milliseconds(1);
  own_->clog_for = seconds(100);
  Make();
  const std::vector<std::byte> bytes(100);
  for (int i = 1; i <= 20; ++i) {
    scheduler_.At(i * milliseconds(1), [this, &bytes] { two_->Send(b_.links.back(), bytes, {}); });
  }
  RunAll();
  ASSERT_EQ(a_.times.size(), 20u);
  EXPECT_GT(a_.times.back(), seconds(1));
}

TEST_F(NetworkTest, DelaysHaveTheirMinimumAndMeanForEveryTail) {
  faults_.links.delay = milliseconds(50);
  faults_.links.delay_min = milliseconds(20);
  faults_.links.bandwidth = ByteCount{std::uint64_t{1} << 40};
  faults_.links.delay_tail = 1;
  Make();
  double sum = 0;
  double longest = 0;
  constexpr int kFrames = 20000;
  for (int i = 0; i < kFrames; ++i) {
    const Time sent = scheduler_.now();
    Send(1);
    RunAll();
    const double delay = Seconds(scheduler_.now() - sent);
    EXPECT_GE(delay, 0.020);
    sum += delay;
    longest = std::max(longest, delay);
  }
  EXPECT_NEAR(sum / kFrames, 0.050, 0.002);
  EXPECT_GT(longest, 0.3) << "one of so many frames meets the tail";
}

TEST_F(NetworkTest, OrderIsKeptWhateverTheDelays) {
  faults_.links.delay_tail = 2;
  Make();
  for (int i = 0; i < 200; ++i) Send(i);
  RunAll();
  ASSERT_EQ(b_.frames.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(b_.frames[static_cast<std::size_t>(i)], i);
}

TEST_F(NetworkTest, AClogPilesFramesUpAndThenTheyFlow) {
  faults_.links.delay = milliseconds(1);
  faults_.links.clog_every = seconds(1);
  faults_.links.clog_for = seconds(1);
  Make();
  constexpr int kFrames = 2000;
  for (int i = 0; i < kFrames; ++i) scheduler_.At(milliseconds(10 * i), [this] { Send(0); });
  RunAll();
  ASSERT_EQ(b_.times.size(), static_cast<std::size_t>(kFrames));
  int late = 0;
  for (int i = 0; i < kFrames; ++i) {
    const Duration took = b_.times[static_cast<std::size_t>(i)] - milliseconds(10 * i);
    if (took > milliseconds(2)) ++late;
  }
  EXPECT_NEAR(static_cast<double>(late) / kFrames, 0.5, 0.2);
}

TEST_F(NetworkTest, APartitionHoldsFramesUntilItHeals) {
  faults_.partitions.push_back({.at = seconds(1), .lasts = seconds(2), .groups = "0 | 1"});
  Make();
  scheduler_.At(milliseconds(500), [this] { Send(1); });
  scheduler_.At(milliseconds(1500), [this] { Send(2); });
  scheduler_.At(milliseconds(2500), [this] { Send(3); });
  scheduler_.At(milliseconds(3500), [this] { Send(4); });
  RunAll();
  EXPECT_EQ(b_.frames, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_LT(b_.times[0], seconds(1));
  EXPECT_EQ(b_.times[1], seconds(3));
  EXPECT_EQ(b_.times[2], seconds(3));
}

TEST_F(NetworkTest, OneWayHoldsOneDirection) {
  faults_.partitions.push_back(
      {.at = seconds(1), .lasts = seconds(2), .groups = "1 | 0", .one_way = true});
  Make();
  scheduler_.At(milliseconds(1500), [this] {
    Send(1);
    two_->Send(b_.links.back(), std::vector<std::byte>(1), {});
  });
  RunAll();
  EXPECT_LT(b_.times[0], seconds(2));
  EXPECT_EQ(a_.times[0], seconds(3));
}

TEST_F(NetworkTest, WhatIsHeldIsLostWithTheLink) {
  faults_.partitions.push_back({.at = seconds(1), .lasts = seconds(2), .groups = "0 | 1"});
  Make();
  scheduler_.At(milliseconds(1500), [this] {
    Send(1);
    two_->Close(b_.links.back());
  });
  RunAll();
  EXPECT_TRUE(b_.frames.empty());
  EXPECT_EQ(a_.downs, (std::vector<Time>{seconds(3)})) << "its end hears of it when it can";
  EXPECT_EQ(lost_, 1);
}

TEST_F(NetworkTest, ANodeThatStandsStillTakesFramesLater) {
  Make();
  network_->Stop(1);
  Send(1);
  scheduler_.At(seconds(5), [this] { network_->Resume(1); });
  scheduler_.At(seconds(6), [this] { Send(2); });
  RunAll();
  EXPECT_EQ(b_.frames, (std::vector<int>{1, 2}));
  EXPECT_EQ(b_.times[0], seconds(5));
}

TEST_F(NetworkTest, AProcessThatDiesTakesItsEndsAlong) {
  Make();
  Send(1);
  network_->CloseAll(0);
  RunAll();
  EXPECT_EQ(b_.frames.size(), 1u) << "what had left arrives";
  EXPECT_EQ(b_.downs.size(), 1u);
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(one_->Send(a_.links.back(), std::vector<std::byte>(1), {}),
            transport::SendResult::kGone);
}

TEST_F(NetworkTest, DropTellsBothEnds) {
  Make();
  network_->Drop({0, 1});
  network_->Drop({1, 0});  // no such link
  RunAll();
  EXPECT_EQ(a_.downs.size(), 1u);
  EXPECT_EQ(b_.downs.size(), 1u);
  EXPECT_EQ(lost_, 1);
}

}  // namespace
}  // namespace covey::simulate
