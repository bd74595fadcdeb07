#include "data/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "covey/base/sha256.h"
#include "covey/data/dataset.h"
#include "data/gunzip.h"

namespace covey::data {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> CacheError(const std::string& where, const std::string& doing, int cause) {
  const ErrorCode code = cause == EACCES || cause == EPERM || cause == EROFS
                             ? ErrorCode::kNoPermission
                         : cause == ENOTDIR || cause == EEXIST ? ErrorCode::kCantCreate
                                                               : ErrorCode::kIo;
  return Fail(code, where, doing + ": " + std::strerror(cause),
              "the unpacked data need room in a cache folder that this user may write to");
}

std::string CacheName(const InputFile& source, const std::string& path) {
  std::error_code ignored;
  const fs::path whole = fs::canonical(path, ignored);
  const std::string key = (whole.empty() ? path : whole.string()) + '\0' +
                          std::to_string(source.size) + '\0' + std::to_string(source.changed_ns);
  return Sha256::Of(key).Hex().substr(0, 32) + ".idx";
}

ReadBytes ReaderOf(const InputFile& source, const std::string& path) {
  return [&source, &path,
          offset = std::uint64_t{0}](MutableByteView buffer) mutable -> Result<std::size_t> {
    Result<std::size_t> got = ReadAt(source, offset, buffer, path);
    if (got) offset += *got;
    return got;
  };
}

// Returns the copy when it is there and good. Whatever is wrong with it, the answer is to make it
// again.
std::optional<InputFile> OpenIfGood(const std::string& path, const IdxHeader& wanted) {
  Result<InputFile> file = OpenInput(path);
  if (!file || file->size != wanted.file_bytes) return std::nullopt;
  std::array<std::byte, kMaxIdxHeaderBytes> start;
  const Result<std::size_t> got = ReadAt(*file, 0, start, path);
  if (!got) return std::nullopt;
  const Result<IdxHeader> header = ParseIdxHeader(ByteView(start.data(), *got), path);
  if (!header || *header != wanted) return std::nullopt;
  return std::move(*file);
}

Status MakeFolder(const std::string& folder) {
  std::error_code error;
  if (fs::create_directories(folder, error)) {
    fs::permissions(folder, fs::perms::owner_all, error);
  }
  if (error) return CacheError(folder, "the cache folder can't be made", error.value());
  return {};
}

// Waits for whoever is unpacking. A file system without locks only costs doubled work: names of
// temporary files are distinct and a rename replaces atomically.
Descriptor WaitForLock(const std::string& path) {
  Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0) return lock;
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return Descriptor();
  }
  return lock;
}

// Temporary files of processes that were killed. Only under the lock: then nobody is writing one.
void RemoveLeftovers(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().filename().string().find(".idx.tmp.") != std::string::npos) {
      fs::remove(it->path(), ignored);
    }
  }
}

Status WriteAll(int file, ByteView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno == EINTR) continue;
      return CacheError(path, "can't be written", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

Status UnpackInto(const InputFile& source, const std::string& path, const std::string& temporary) {
  const Descriptor file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return CacheError(temporary, "can't be created", errno);
  const TakeBytes take = [&](ByteView bytes) { return WriteAll(file.get(), bytes, temporary); };
  const Result<IdxHeader> done = GunzipIdx(ReaderOf(source, path), take, kMaxUnpackedBytes, path);
  if (!done) return tl::unexpected<Error>(done.error());
  // Without it a power cut could leave a file of the right size that is full of zeros.
  if (fdatasync(file.get()) != 0) return CacheError(temporary, "can't be synced", errno);
  return {};
}

}  // namespace

Result<InputFile> OpenUnpacked(const InputFile& source, const std::string& path,
                               const std::string& cache_folder) {
  const Result<IdxHeader> header = PeekGzippedIdx(ReaderOf(source, path), kMaxUnpackedBytes, path);
  if (!header) return tl::unexpected<Error>(header.error());
  const std::string copy = (fs::path(cache_folder) / CacheName(source, path)).string();
  if (std::optional<InputFile> good = OpenIfGood(copy, *header)) return std::move(*good);

  if (const Status made = MakeFolder(cache_folder); !made) {
    return tl::unexpected<Error>(made.error());
  }
  const Descriptor lock = WaitForLock((fs::path(cache_folder) / "lock").string());
  if (lock.get() >= 0) {
    // Someone else may have made it meanwhile. Taking that one, not a second one, is what shares
    // its pages.
    if (std::optional<InputFile> good = OpenIfGood(copy, *header)) return std::move(*good);
    RemoveLeftovers(cache_folder);
  }
  const std::string temporary = copy + ".tmp." + std::to_string(getpid());
  Status unpacked = UnpackInto(source, path, temporary);
  if (unpacked && rename(temporary.c_str(), copy.c_str()) != 0) {
    unpacked = CacheError(copy, "can't be renamed to its place", errno);
  }
  if (!unpacked) {
    unlink(temporary.c_str());
    return tl::unexpected<Error>(unpacked.error());
  }
  if (std::optional<InputFile> good = OpenIfGood(copy, *header)) return std::move(*good);
  return Fail(ErrorCode::kIo, copy, "does not hold what was just written",
              "check the disk, or choose another cache folder");
}

}  // namespace covey::data
