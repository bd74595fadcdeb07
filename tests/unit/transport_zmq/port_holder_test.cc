#include "covey/transport_zmq/port_holder.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "gtest/gtest.h"

namespace covey::transport_zmq {
namespace {

TEST(PortHolder, NamesTheProcessThatListens) {
  std::ifstream there("/proc/net/tcp");
  if (!there) GTEST_SKIP() << "no /proc/net/tcp on this system";
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&at), size), 0);
  ASSERT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size), 0);
  const std::uint16_t port = ntohs(at.sin_port);
  EXPECT_EQ(PortHolder(port), "another process listens there") << "bound is not listening";
  ASSERT_EQ(::listen(socket, 1), 0);
  std::string name;
  std::ifstream comm("/proc/self/comm");
  std::getline(comm, name);
  EXPECT_EQ(PortHolder(port), name + " (pid " + std::to_string(::getpid()) + ") listens there");
  ::close(socket);
  EXPECT_EQ(PortHolder(port), "another process listens there");
}

}  // namespace
}  // namespace covey::transport_zmq
