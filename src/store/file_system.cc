#include "covey/store/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "store/system_error.h"

namespace covey::store {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Distinct within a machine's process, and over processes: the name of a file that must not exist
// yet.
std::string TemporaryName(const std::string& path) {
  static std::atomic<unsigned> number{0};
  return path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(number.fetch_add(1));
}

Status WriteAll(int file, ByteView bytes, const std::string& path, FileSystem& files) {
  while (!bytes.empty()) {
    const std::ptrdiff_t done = files.Write(file, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno == EINTR) continue;
      return SystemError(path, "can't be written", errno);
    }
    if (done == 0) {
      return Fail(ErrorCode::kIo, path, "can't be written: the system took 0 bytes");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

// Writes and syncs; closes the descriptor in any case.
Status WriteAndSync(int file, ByteView bytes, const std::string& path, FileSystem& files) {
  Status status = WriteAll(file, bytes, path, files);
  // Once and never again: after a failed fsync the kernel may have dropped the pages and a second
  // call would report success.
  if (status && files.Sync(file) != 0) status = SystemError(path, "can't be synced", errno);
  // The next reader shall ask the disk, not the pages that were just written. A hint: it may be
  // ignored.
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  if (close(file) != 0 && status && errno != EINTR) {
    status = SystemError(path, "can't be closed", errno);
  }
  return status;
}

// Reads the file again and compares it with what was written.
Status Compare(const std::string& path, ByteView wanted, FileSystem& files) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path, "can't be read back", errno);
  Status status;
  std::vector<std::byte> chunk(std::size_t{64} << 10);
  std::size_t done = 0;
  while (status) {
    const std::ptrdiff_t got = files.Read(file, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      status = SystemError(path, "can't be read back", errno);
      break;
    }
    const auto count = static_cast<std::size_t>(got);
    if (count == 0 && done == wanted.size()) break;
    if (count == 0 || count > wanted.size() - done ||
        std::memcmp(chunk.data(), wanted.data() + done, count) != 0) {
      status =
          Fail(ErrorCode::kIo, path,
               "reads back differently from what was written, near byte " + std::to_string(done),
               "the disk or the memory of this machine may be failing");
    }
    done += count;
  }
  close(file);
  return status;
}

Status SyncFolder(const std::string& folder, FileSystem& files) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(folder, "can't be opened", errno);
  const int result = files.SyncFolder(descriptor);
  const int cause = errno;
  close(descriptor);
  if (result != 0) return SystemError(folder, "can't be synced", cause);
  return {};
}

}  // namespace

tl::unexpected<Error> SystemError(const std::string& where, const std::string& doing, int cause) {
  const std::string what = doing + ": " + std::generic_category().message(cause);
  switch (cause) {
    case ENOENT:
      return Fail(ErrorCode::kNoInput, where, what, "check the path");
    case EACCES:
    case EPERM:
    case EROFS:
      return Fail(ErrorCode::kNoPermission, where, what,
                  "check owner and mode of the folder, and that it isn't mounted read-only");
    case ENOTDIR:
    case EEXIST:
    case EISDIR:
      return Fail(ErrorCode::kCantCreate, where, what, "something else is in the way");
    case ENOSPC:
    case EDQUOT:
      return Fail(ErrorCode::kIo, where, what, "free some space on that disk");
    default:
      return Fail(ErrorCode::kIo, where, what);
  }
}

int FileSystem::Create(const char* path, unsigned mode) {
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

std::ptrdiff_t FileSystem::Write(int file, const std::byte* bytes, std::size_t size) {
  return write(file, bytes, size);
}

std::ptrdiff_t FileSystem::Read(int file, std::byte* bytes, std::size_t size) {
  return read(file, bytes, size);
}

int FileSystem::Sync(int file) { return fdatasync(file); }

int FileSystem::Rename(const char* from, const char* to) { return std::rename(from, to); }

int FileSystem::SyncFolder(int folder) { return fsync(folder); }

std::uint64_t FileSystem::Free(const char* folder) {
  struct statvfs status {};
  if (statvfs(folder, &status) != 0) return UINT64_MAX;
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

FileSystem& RealFileSystem() {
  static FileSystem real;
  return real;
}

Status WriteAtomically(const std::string& path, ByteView bytes, const WriteOptions& options,
                       FileSystem& files) {
  const std::string folder = FolderOf(path);
  const std::uint64_t wanted = 2 * std::uint64_t{bytes.size()};
  if (const std::uint64_t left = files.Free(folder.c_str()); left < wanted) {
    return Fail(ErrorCode::kIo, folder,
                "the disk is full: got " + std::to_string(left) + " bytes free, wanted " +
                    std::to_string(wanted),
                "free some space on that disk");
  }
  const std::string temporary = TemporaryName(path);
  const int file = files.Create(temporary.c_str(), options.mode);
  if (file < 0) return SystemError(temporary, "can't be created", errno);
  Status status = WriteAndSync(file, bytes, temporary, files);
  if (status && options.read_back) status = Compare(temporary, bytes, files);
  if (status && files.Rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError(path, "can't be renamed to its place", errno);
  }
  if (!status) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncFolder(folder, files);
}

Status MakeFolder(const std::string& path) {
  std::error_code error;
  if (fs::create_directories(path, error)) {
    fs::permissions(path, fs::perms::owner_all, error);
  }
  if (error) return SystemError(path, "the folder can't be made", error.value());
  if (!fs::is_directory(path, error)) {
    return Fail(ErrorCode::kCantCreate, path, "is not a folder");
  }
  return {};
}

Result<AlignedBuffer> ReadFile(const std::string& path, ByteCount limit) {
  // O_NONBLOCK: opening a FIFO without a writer would wait for ever.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return SystemError(path, "can't be opened", errno);
  struct Closer {
    int file;
    ~Closer() { close(file); }
  } const closer{file};
  struct stat status {};
  if (fstat(file, &status) != 0) return SystemError(path, "can't be examined", errno);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kData, path, "is not a regular file");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > limit.value) {
    return Fail(ErrorCode::kData, path,
                "has " + std::to_string(size) + " bytes, wanted at most " + FormatByteCount(limit));
  }
  AlignedBuffer buffer(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, buffer.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path, "can't be read", errno);
    if (got == 0) {
      return Fail(ErrorCode::kIo, path,
                  "became shorter while it was read: got " + std::to_string(done) +
                      " bytes, wanted " + std::to_string(size));
    }
    done += static_cast<std::size_t>(got);
  }
  return buffer;
}

}  // namespace covey::store
