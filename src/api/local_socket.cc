#include "api/local_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "covey/api/server.h"

namespace covey::api {
namespace {

constexpr std::string_view kScheme = "ipc://";

std::string Reason(int error) { return std::strerror(error); }

Status CheckDirectory(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) {
    if (errno != ENOENT || ::mkdir(directory.c_str(), 0700) != 0 ||
        ::stat(directory.c_str(), &info) != 0) {
      return Fail(ErrorCode::kCantCreate, directory,
                  "can't make the directory of the API socket: " + Reason(errno));
    }
  }
  if (!S_ISDIR(info.st_mode)) {
    return Fail(ErrorCode::kCantCreate, directory, "is not a directory");
  }
  if ((info.st_mode & 0022) != 0) {
    return Fail(ErrorCode::kCantCreate, directory,
                "others may write here, so they could replace the API socket",
                "chmod go-w " + directory + ", or put api.listen into a directory of its own");
  }
  return {};
}

}  // namespace

Result<std::string> SocketPath(const std::string& address) {
  std::string path = address;
  if (path.compare(0, kScheme.size(), kScheme) == 0) path.erase(0, kScheme.size());
  if (path.empty() || path[0] != '/') {
    return Fail(ErrorCode::kConfig, "API socket", "'" + address + "' is not an absolute path",
                "for example /run/covey/api.sock");
  }
  if (path.size() > kMaxSocketPath) {
    return Fail(ErrorCode::kConfig, "API socket",
                "the path has " + std::to_string(path.size()) + " bytes, at most " +
                    std::to_string(kMaxSocketPath) + " are possible: " + path,
                "set api.listen to a shorter path");
  }
  return path;
}

Result<PathClaim> PathClaim::Take(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
  if (const Status checked = CheckDirectory(directory); !checked) {
    return tl::unexpected(checked.error());
  }
  const std::string lock_path = path + ".lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) {
    return Fail(ErrorCode::kCantCreate, lock_path, "can't open the lock file: " + Reason(errno));
  }
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(lock);
    if (error == EWOULDBLOCK) {
      return Fail(ErrorCode::kCantCreate, path, "another daemon serves this API socket",
                  "stop it, or give this node another api.listen");
    }
    return Fail(ErrorCode::kCantCreate, lock_path, "can't lock: " + Reason(error));
  }
  PathClaim claim("", lock);
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) {
      return Fail(ErrorCode::kCantCreate, path, "exists and is not a socket",
                  "remove it, or choose another api.listen");
    }
    ::unlink(path.c_str());
  }
  claim.path_ = path;
  return claim;
}

PathClaim::PathClaim(PathClaim&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

PathClaim& PathClaim::operator=(PathClaim&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

PathClaim::~PathClaim() {
  // The lock file stays: removing it would let two processes lock two files of one name.
  if (!path_.empty()) ::unlink(path_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

Result<void> Probe(const std::string& path) {
  const std::string what = "cannot reach the daemon at ipc://" + path;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return Fail(ErrorCode::kUnavailable, "", what + " (" + Reason(errno) + ")");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int connected =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = connected == 0 ? 0 : errno;
  ::close(probe);
  // EAGAIN: somebody listens, and is busy.
  if (error == 0 || error == EAGAIN) return {};
  if (error == EACCES || error == EPERM) {
    return Fail(
        ErrorCode::kNoPermission, "", what + " (permission denied)",
        "only the user who runs coveyd may use it: try sudo -u covey, or run it as that user");
  }
  std::string reason = Reason(error);
  if (error == ENOENT) reason = "no such file";
  if (error == ECONNREFUSED) reason = "nobody listens; a daemon that was killed left the socket";
  return Fail(ErrorCode::kUnavailable, "", what + " (" + reason + ")",
              "is it running? systemctl status covey; another socket: --socket or --config");
}

}  // namespace covey::api
