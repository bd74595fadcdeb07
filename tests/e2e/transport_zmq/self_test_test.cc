// The daemon refuses to start where libzmq would let strangers in.
#include "transport_zmq/self_test.h"

#include <atomic>
#include <future>
#include <thread>

#include "gtest/gtest.h"

namespace covey::transport_zmq {
namespace {

class SelfTest : public testing::Test {
 protected:
  void SetUp() override {
    context_ = zmq_ctx_new();
    settings_.keys = KeyPair::Generate();
    settings_.handshake_timeout = std::chrono::milliseconds(500);
  }
  void TearDown() override { zmq_ctx_term(context_); }

  void* context_ = nullptr;
  Settings settings_;
  KeySet keys_;
};

TEST_F(SelfTest, PassesWithTheRealHandler) {
  Zap zap(keys_, settings_.keys.public_key, RateLimit(1, 1));
  ASSERT_TRUE(zap.Start(context_));
  const Status proved = ProveAccess(context_, settings_, &keys_);
  EXPECT_TRUE(proved) << proved.error().Format();
  EXPECT_EQ(zap.refused_unknown(), 1u);
  zap.Stop();
}

TEST_F(SelfTest, FailsWithoutAHandler) {
  const Status proved = ProveAccess(context_, settings_, &keys_);
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().what.find("no refusal"), std::string::npos) << proved.error().Format();
}

// Answers every request alike, from the moment that `bound` is told.
void Answer(void* context, const char* status, const std::atomic<bool>& stop,
            std::promise<void>& bound) {
  void* socket = zmq_socket(context, ZMQ_REP);
  const int wait = 20;
  zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait, sizeof wait);
  const int result = zmq_bind(socket, "inproc://zeromq.zap.01");
  bound.set_value();
  ASSERT_EQ(result, 0);
  while (!stop) {
    char id[64] = {};
    int id_size = 0;
    int frame = 0;
    int more = 0;
    do {
      char bytes[256];
      const int size = zmq_recv(socket, bytes, sizeof bytes, 0);
      if (size < 0) break;
      if (frame++ == 1) {
        id_size = size;
        std::copy(bytes, bytes + size, id);
      }
      std::size_t length = sizeof more;
      zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &length);
    } while (more != 0);
    if (frame == 0) continue;
    zmq_send(socket, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(socket, id, static_cast<std::size_t>(id_size), ZMQ_SNDMORE);
    zmq_send(socket, status, 3, ZMQ_SNDMORE);
    zmq_send(socket, "", 0, ZMQ_SNDMORE);
    zmq_send(socket, "x", 1, ZMQ_SNDMORE);
    zmq_send(socket, "", 0, 0);
  }
  zmq_close(socket);
}

TEST_F(SelfTest, FailsWhereEverybodyIsLetIn) {
  std::atomic<bool> stop{false};
  std::promise<void> bound;
  std::thread handler([&] { Answer(context_, "200", stop, bound); });
  bound.get_future().wait();
  const Status proved = ProveAccess(context_, settings_, &keys_);
  stop = true;
  handler.join();
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().what.find("random key was accepted"), std::string::npos);
}

TEST_F(SelfTest, FailsWhereNobodyIsLetIn) {
  std::atomic<bool> stop{false};
  std::promise<void> bound;
  std::thread handler([&] { Answer(context_, "400", stop, bound); });
  bound.get_future().wait();
  const Status proved = ProveAccess(context_, settings_, &keys_);
  stop = true;
  handler.join();
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().what.find("allowed key was not"), std::string::npos);
}

}  // namespace
}  // namespace covey::transport_zmq
