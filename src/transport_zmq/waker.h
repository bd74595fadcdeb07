// An eventfd that ends a wait in zmq_poll from another thread.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace covey::transport_zmq {

// Thread: Wake from any, the rest from the one that waits.
class Waker {
 public:
  Waker() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  ~Waker() {
    if (fd_ >= 0) ::close(fd_);
  }

  int fd() const { return fd_; }  // negative when no descriptor was left
  void Wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(fd_, &one, sizeof one);
  }
  void Drain() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_, &count, sizeof count);
  }

 private:
  int fd_;
};

}  // namespace covey::transport_zmq
