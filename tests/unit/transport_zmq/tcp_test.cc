#include "transport_zmq/tcp.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "transport_zmq/own_addresses.h"
#include "transport_zmq/watch.h"

namespace covey::transport_zmq {
namespace {

// Two ends of a TCP connection on loopback.
class TcpPair : public testing::Test {
 protected:
  void SetUp() override {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    writer_ = ::socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(writer_, reinterpret_cast<sockaddr*>(&address), size), 0);
    reader_ = ::accept(listener, nullptr, nullptr);
    ASSERT_GE(reader_, 0);
    ::close(listener);
    // Who waits for a connection to be cut that never is gets an error.
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ASSERT_EQ(::setsockopt(writer_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  }
  void TearDown() override {
    ::close(writer_);
    ::close(reader_);
  }

  int writer_ = -1;
  int reader_ = -1;
};

TEST_F(TcpPair, AWatchCutsWhatHasLostItsAddress) {
  const auto connection = TcpConnection::Of(reader_);
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->OwnHost(), "127.0.0.1");
  Watch watch(1000, false);
  watch.Add(*connection);
  std::set<std::string> own = OwnAddresses::Of({});
  EXPECT_TRUE(own.contains("127.0.0.1"));
  EXPECT_EQ(watch.CutOthers(own), 0u);
  own.erase("127.0.0.1");
  EXPECT_EQ(watch.CutOthers(own), 1u);
  char byte = 0;
  EXPECT_EQ(::recv(writer_, &byte, 1, 0), 0);
}

TEST_F(TcpPair, AWatchLetsInBySomeInterfacesOnly) {
  EXPECT_TRUE(OwnAddresses::Of({"lo", "nosuch0"}).contains("127.0.0.1"));
  EXPECT_TRUE(OwnAddresses::Of({"nosuch0"}).empty());
  const auto connection = TcpConnection::Of(reader_);
  ASSERT_TRUE(connection);
  Watch watch(1000, false);
  EXPECT_TRUE(watch.Add(*connection));
  watch.LetIn({"127.0.0.1"});
  EXPECT_TRUE(watch.Add(*connection));
  watch.LetIn({"10.0.0.7"});
  EXPECT_FALSE(watch.Add(*connection));
  char byte = 0;
  EXPECT_EQ(::recv(writer_, &byte, 1, 0), 0) << "cut";
}

TEST_F(TcpPair, WhatIsReadIsConsumed) {
  const auto connection = TcpConnection::Of(reader_);
  ASSERT_TRUE(connection);
  std::vector<char> bytes(1000);
  ASSERT_EQ(::send(writer_, bytes.data(), bytes.size(), 0), 1000);
  ASSERT_EQ(::recv(reader_, bytes.data(), 600, MSG_WAITALL), 600);
  const auto consumed = connection->Consumed();
  ASSERT_TRUE(consumed);
  EXPECT_LE(consumed->low, 600u);
  EXPECT_GE(consumed->high, 600u);
  ASSERT_EQ(::recv(reader_, bytes.data(), 400, MSG_WAITALL), 400);
  EXPECT_EQ(connection->Consumed()->low, 1000u);
  EXPECT_EQ(connection->Consumed()->high, 1000u);
}

// A frame that arrives while we look must not pass for bytes that libzmq has taken in: an honest
// peer would be cut for it.
TEST_F(TcpPair, WhatArrivesDuringTheLookIsNotConsumed) {
  const auto connection = TcpConnection::Of(reader_);
  ASSERT_TRUE(connection);
  std::atomic<bool> full{false};
  std::thread flood([&] {
    const std::vector<char> bytes(4096);
    while (::send(writer_, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
    full = true;
  });
  std::uint64_t most = 0;
  while (!full) most = std::max(most, connection->Consumed()->low);
  flood.join();
  EXPECT_EQ(most, 0u);
}

TEST_F(TcpPair, AClosedConnectionIsGone) {
  const auto connection = TcpConnection::Of(reader_);
  ASSERT_TRUE(connection);
  ::close(reader_);
  EXPECT_FALSE(connection->Consumed());
  EXPECT_FALSE(TcpConnection::Of(reader_));
}

}  // namespace
}  // namespace covey::transport_zmq
