// A TCP relay between a dialler and a listener that stops carrying when told to.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "gtest/gtest.h"

namespace covey::transport_zmq {

// Carries one connection. While it holds, it reads nothing from the dialler, so that what the
// dialler sends stays in its own buffers.
class Relay {
 public:
  explicit Relay(const std::string& endpoint) : listener_(::socket(AF_INET, kStream, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    endpoint_ = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    const int port = std::atoi(endpoint.substr(endpoint.rfind(':') + 1).c_str());
    thread_ = std::thread([this, port] { Carry(static_cast<std::uint16_t>(port)); });
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }

  const std::string& endpoint() const { return endpoint_; }
  void Hold(bool hold) { hold_ = hold; }

 private:
  static constexpr int kStream = SOCK_STREAM | SOCK_CLOEXEC;
  static constexpr int kTick = 10;  // milliseconds until it looks at its orders again

  static sockaddr_in Loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void Carry(std::uint16_t port) {
    pollfd arrival{listener_, POLLIN, 0};
    while (::poll(&arrival, 1, kTick) == 0) {
      if (stop_) return;
    }
    const int dialler = ::accept(listener_, nullptr, nullptr);
    const int listener = ::socket(AF_INET, kStream, 0);
    sockaddr_in address = Loopback(port);
    EXPECT_EQ(::connect(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::array<pollfd, 2> ends = {pollfd{dialler, POLLIN, 0}, pollfd{listener, POLLIN, 0}};
    bool open = true;
    while (open && !stop_) {
      ends[0].events = hold_ ? 0 : POLLIN;
      ::poll(ends.data(), ends.size(), kTick);
      for (std::size_t from = 0; from < 2; ++from) {
        if ((ends[from].revents & (POLLIN | POLLHUP)) == 0 || ends[from].events == 0) continue;
        open = open && Copy(ends[from].fd, ends[1 - from].fd);
      }
    }
    ::close(dialler);
    ::close(listener);
  }

  // What has come, and waits until it is gone; false when an end has closed.
  static bool Copy(int from, int to) {
    std::array<char, 65536> bytes;
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) return false;
    std::string_view left(bytes.data(), static_cast<std::size_t>(got));
    while (!left.empty()) {
      const ssize_t sent = ::send(to, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  int listener_;
  std::string endpoint_;
  std::atomic<bool> hold_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace covey::transport_zmq
