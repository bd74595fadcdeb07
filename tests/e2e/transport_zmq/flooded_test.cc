// A peer that sends more than it was granted.
#include <chrono>
#include <memory>
#include <thread>

#include "e2e/transport_zmq/fixture.h"
#include "e2e/transport_zmq/raw.h"

namespace covey::transport_zmq {
namespace {

// A node of its own, because what a client without security says reaches the sink.
class Flooded : public testing::Test {
 protected:
  void SetUp() override {
    node_.settings.curve = false;
    node_.Open();
    raw_ = std::make_unique<Raw>(node_.transport->endpoint());
    raw_->ShakeHands();
  }

  Node node_;
  std::unique_ptr<Raw> raw_;
};

TEST_F(Flooded, AResetBehindAPingEndsNoProcess) {
  // More frames than a queue would hold, and a heartbeat behind them, in what is read at once. With
  // a full queue libzmq would take the heartbeat when the frames are read, after the reset.
  constexpr std::size_t kCount = 100;
  const std::string frame = std::string("\0\x40", 2) + std::string(64, 'x');
  ASSERT_TRUE(raw_->Send(frame));
  ASSERT_TRUE(Drive({&node_}, [&] { return node_.sink.frames == 1; }));
  std::string bytes;
  for (std::size_t i = 0; i < kCount; ++i) bytes += frame;
  bytes += std::string("\x04\x07\x04PING\0\0", 9);
  ASSERT_LT(bytes.size(), 8192u);
  ASSERT_TRUE(raw_->Send(bytes));
  const auto for_libzmq = std::chrono::milliseconds(100);  // its thread tells nobody what it sees
  std::this_thread::sleep_for(for_libzmq);
  raw_->Reset();
  std::this_thread::sleep_for(for_libzmq);
  EXPECT_TRUE(Drive({&node_}, [&] { return node_.sink.downs.size() == 1; }));
  EXPECT_EQ(node_.sink.frames, 1 + kCount);
}

TEST_F(Flooded, FramesAheadOfWhatIsReadAreBounded) {
  constexpr std::size_t kBody = 64 * 1024;
  const std::string frame = std::string("\x02\0\0\0\0\0\x01\0\0", 9) + std::string(kBody, 'x');
  const std::size_t granted = (node_.settings.credit + 16) * transport::kMaxFrame / kBody;
  for (std::size_t i = 0; i < granted; ++i) ASSERT_TRUE(raw_->SendAll(frame));
  EXPECT_TRUE(Drive({&node_}, [&] { return node_.sink.frames == granted; }));
  EXPECT_TRUE(node_.sink.downs.empty());
  // Eight times as much, while nobody reads, and then somebody who is slow.
  for (std::size_t i = 0; i < 8 * granted; ++i) ASSERT_TRUE(raw_->SendAll(frame));
  node_.sink.on_frame = [](LinkId, ByteView) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  EXPECT_TRUE(Drive({&node_}, [&] { return node_.sink.downs.size() == 1; }));
  EXPECT_EQ(node_.transport->counters().cut_unfinished, 1u);
  EXPECT_LT(node_.sink.frames, 9 * granted);
}

}  // namespace
}  // namespace covey::transport_zmq
