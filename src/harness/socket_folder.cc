#include "harness/socket_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderPrefix = "covey-";
constexpr std::size_t kFolderNameSize = kFolderPrefix.size() + 6;

// Returns: a descriptor that holds the lock of `folder`, or -1 when somebody else holds it or there
// is none.
int TakeLock(const std::string& folder, int flags) {
  const std::string path = folder + '/' + SocketFolder::kLock;
  const int lock = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return -1;
  }
  return lock;
}

bool IsOwnFolder(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

void RemoveThoseOfDeadOwners(const std::string& base) {
  std::error_code ignored;
  for (fs::directory_iterator at(base, ignored), end; at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (name.size() != kFolderNameSize || !name.starts_with(kFolderPrefix)) continue;
    const std::string path = at->path().string();
    if (!IsOwnFolder(path)) continue;
    const int lock = TakeLock(path, 0);
    if (lock < 0) continue;
    fs::remove_all(path, ignored);
    ::close(lock);
  }
}

}  // namespace

Result<SocketFolder> SocketFolder::Make(const std::string& base) {
  RemoveThoseOfDeadOwners(base);
  std::string path = base + '/' + std::string(kFolderPrefix) + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return Fail(ErrorCode::kCantCreate, path, std::generic_category().message(errno));
  }
  SocketFolder folder(path, TakeLock(path, O_CREAT | O_EXCL));
  // Somebody else's look may have come between the making of the file and its lock.
  struct stat info {};
  if (folder.lock_ < 0 || ::fstat(folder.lock_, &info) != 0 || info.st_nlink == 0) {
    return Fail(ErrorCode::kCantCreate, path, "another program has taken this folder away",
                "start again");
  }
  return folder;
}

SocketFolder::SocketFolder(SocketFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

SocketFolder::~SocketFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace covey::harness
