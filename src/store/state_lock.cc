#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <utility>

#include "covey/store/file_system.h"
#include "store/system_error.h"

namespace covey::store {
namespace {

// The pid that the holder wrote, or "another process".
std::string HolderOf(int file) {
  std::array<char, 16> text{};
  const ssize_t got = pread(file, text.data(), text.size() - 1, 0);
  std::string pid;
  for (ssize_t i = 0; i < got; ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    if (c < '0' || c > '9') break;
    pid += c;
  }
  return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

Result<StateLock> StateLock::Take(const std::string& folder) {
  if (const Status made = MakeFolder(folder); !made) return tl::unexpected<Error>(made.error());
  const std::string path = folder + "/lock";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return SystemError(path, "can't be opened", errno);
  StateLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Fail(ErrorCode::kTemporary, folder, "is in use by " + HolderOf(file),
                  "stop that one, or give this node another state_dir");
    }
    return SystemError(path, "can't be locked", errno);
  }
  // Only for the message above: a full disk is no reason not to start.
  const std::string pid = std::to_string(getpid()) + "\n";
  const bool named = ftruncate(file, 0) == 0 && pwrite(file, pid.data(), pid.size(), 0) > 0;
  static_cast<void>(named);
  return lock;
}

StateLock::StateLock(StateLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

StateLock& StateLock::operator=(StateLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

StateLock::~StateLock() {
  if (file_ >= 0) close(file_);  // frees the lock; the file stays, because removing it would race
}

}  // namespace covey::store
