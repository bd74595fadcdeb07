#include "transport_zmq/tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

namespace covey::transport_zmq {
namespace {

// A duplicate for the length of one look, so that what is looked at can't be closed and replaced
// meanwhile.
class Duplicate {
 public:
  explicit Duplicate(int fd) : fd_(::fcntl(fd, F_DUPFD_CLOEXEC, 0)) {}
  Duplicate(const Duplicate&) = delete;
  Duplicate& operator=(const Duplicate&) = delete;
  ~Duplicate() {
    if (fd_ >= 0) ::close(fd_);
  }

  int fd() const { return fd_; }
  // 0 when it is no socket.
  std::uint64_t Cookie() const {
    std::uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    return ::getsockopt(fd_, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
  }
  // Bytes that have arrived, read or not.
  std::optional<std::uint64_t> Received() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
    return info.tcpi_bytes_received;
  }

 private:
  int fd_;
};

std::string AddressText(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, &storage, sizeof address);
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    return std::string("tcp://") + text + ":" + std::to_string(ntohs(address.sin_port));
  }
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 address{};
    std::memcpy(&address, &storage, sizeof address);
    ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {  // how a dual-stack socket names IPv4
      const std::string_view v4 = std::string_view(text).substr(std::string_view("::ffff:").size());
      return "tcp://" + std::string(v4) + ":" + std::to_string(ntohs(address.sin6_port));
    }
    return std::string("tcp://[") + text + "]:" + std::to_string(ntohs(address.sin6_port));
  }
  return {};
}

std::string PeerAddress(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return AddressText(storage);
}

}  // namespace

std::optional<TcpConnection> TcpConnection::Of(int fd) {
  const Duplicate duplicate(fd);
  TcpConnection connection;
  connection.fd_ = fd;
  connection.cookie_ = duplicate.Cookie();
  if (connection.cookie_ == 0) return std::nullopt;
  connection.peer_ = PeerAddress(duplicate.fd());
  if (connection.peer_.empty()) return std::nullopt;
  return connection;
}

std::optional<TcpConnection::Bytes> TcpConnection::Consumed() const {
  const Duplicate duplicate(fd_);
  if (duplicate.Cookie() != cookie_) return std::nullopt;
  const auto before = duplicate.Received();
  int unread = 0;
  if (!before || ::ioctl(duplicate.fd(), FIONREAD, &unread) != 0) return std::nullopt;
  const auto after = duplicate.Received();
  if (!after) return std::nullopt;
  const std::uint64_t waiting = static_cast<std::uint64_t>(unread);
  return Bytes{*before > waiting ? *before - waiting : 0, *after > waiting ? *after - waiting : 0};
}

std::string TcpConnection::OwnHost() const {
  const Duplicate duplicate(fd_);
  if (duplicate.Cookie() != cookie_) return {};
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(duplicate.fd(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  const std::string text = AddressText(own);
  constexpr std::size_t kScheme = std::string_view("tcp://").size();
  if (text.empty()) return {};
  const std::string host = text.substr(kScheme, text.rfind(':') - kScheme);
  return host.front() == '[' ? host.substr(1, host.size() - 2) : host;
}

void TcpConnection::Cut() const {
  const Duplicate duplicate(fd_);
  if (duplicate.Cookie() != cookie_) return;
  // With a reset when libzmq closes it, so that neither kernel keeps what was on its way.
  const linger now{1, 0};
  ::setsockopt(duplicate.fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::shutdown(duplicate.fd(), SHUT_RDWR);
}

}  // namespace covey::transport_zmq
