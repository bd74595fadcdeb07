// A client without libzmq.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"

namespace covey::transport_zmq {

// A TCP connection that says what it likes.
class Raw {
 public:
  explicit Raw(const std::string& endpoint)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(
        static_cast<std::uint16_t>(std::atoi(endpoint.substr(endpoint.rfind(':') + 1).c_str())));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    if (fd_ >= 0) ::close(fd_);
  }

  // As much as the other side takes without waiting; false when it has cut us.
  bool Send(const std::string& bytes) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent >= 0 || errno == EAGAIN;
  }
  // All of it, waiting; false when it has cut us.
  bool SendAll(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  bool WaitFor(std::size_t bytes) {
    std::string got(bytes, '\0');
    return ::recv(fd_, got.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }
  // As a client without security, up to READY: data before the answers are an error.
  void ShakeHands() {
    std::string greeting("\xff\0\0\0\0\0\0\0\x01\x7f\x03\x00NULL", 16);
    greeting.resize(64, '\0');
    ASSERT_TRUE(Send(greeting));
    const std::string ready(
        "\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
        "DEALER",
        30);
    ASSERT_TRUE(Send(ready));
    ASSERT_TRUE(WaitFor(greeting.size() + ready.size()));
  }
  void Shutdown() { ::shutdown(fd_, SHUT_RDWR); }
  void Reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(std::exchange(fd_, -1));
  }
  bool Cut() {
    char byte = 0;
    while (true) {
      const ssize_t got = ::recv(fd_, &byte, 1, MSG_DONTWAIT);
      if (got <= 0) return got == 0 || errno != EAGAIN;
    }
  }

 private:
  int fd_;
};

}  // namespace covey::transport_zmq
