#include "data/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "covey/base/sha256.h"
#include "covey/data/dataset.h"
#include "data/convert.h"
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

std::string CacheName(const CacheSource& source, tensor::Element element) {
  std::error_code ignored;
  const fs::path whole = fs::canonical(source.path, ignored);
  std::string key = (whole.empty() ? source.path : whole.string()) + '\0' +
                    std::to_string(source.file.size) + '\0' +
                    std::to_string(source.file.changed_ns);
  if (!IsAsStored(source.header.type, element)) {
    key += '\0' + std::to_string(static_cast<int>(element));
  }
  return Sha256::Of(key).Hex().substr(0, 32) + ".idx";
}

// Returns the copy when it is there and good. Whatever is wrong with it, the answer is to make it
// again.
std::optional<InputFile> OpenIfGood(const std::string& path, ByteView header, std::uint64_t size) {
  Result<InputFile> file = OpenInput(path);
  if (!file || file->size != size) return std::nullopt;
  std::vector<std::byte> start(header.size());
  const Result<std::size_t> got = ReadAt(*file, 0, start, path);
  if (!got || *got != header.size()) return std::nullopt;
  if (!std::equal(header.begin(), header.end(), start.begin())) return std::nullopt;
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

// Reads a file that is not gzipped. Its size was checked against its header.
Status ReadPlain(const CacheSource& source, const TakeBytes& take) {
  const ReadBytes read = ReaderOf(source.file, source.path);
  std::vector<std::byte> buffer(std::size_t{128} << 10);
  while (true) {
    const Result<std::size_t> got = read(buffer);
    if (!got) return tl::unexpected<Error>(got.error());
    if (*got == 0) return {};
    if (Status taken = take(ByteView(buffer.data(), *got)); !taken) return taken;
  }
}

Status CopyInto(const CacheSource& source, tensor::Element element, int file,
                const std::string& temporary) {
  TakeBytes take = [&](ByteView bytes) { return WriteAll(file, bytes, temporary); };
  if (!IsAsStored(source.header.type, element)) {
    const std::string where = source.path + (source.gzipped ? " (unpacked)" : "");
    take = Converting(source.header, element, std::move(take), where);
  }
  if (!source.gzipped) return ReadPlain(source, take);
  const Result<IdxHeader> done =
      GunzipIdx(ReaderOf(source.file, source.path), take, kMaxUnpackedBytes, source.path);
  return done ? Status() : tl::unexpected<Error>(done.error());
}

Status FillFile(const std::string& temporary,
                const std::function<Status(int, const std::string&)>& fill) {
  const Descriptor file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return CacheError(temporary, "can't be created", errno);
  if (Status filled = fill(file.get(), temporary); !filled) return filled;
  // Without it a power cut could leave a file of the right size that is full of zeros.
  if (fdatasync(file.get()) != 0) return CacheError(temporary, "can't be synced", errno);
  return {};
}

}  // namespace

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

ReadBytes ReaderOf(const InputFile& file, const std::string& path) {
  return [&file, &path,
          offset = std::uint64_t{0}](MutableByteView buffer) mutable -> Result<std::size_t> {
    Result<std::size_t> got = ReadAt(file, offset, buffer, path);
    if (got) offset += *got;
    return got;
  };
}

Result<InputFile> OpenCopy(const CacheSource& source, tensor::Element element,
                           const std::string& cache_folder) {
  const std::vector<std::byte> header = HeaderOfCopy(source.header, element);
  const std::uint64_t size = SizeOfCopy(source.header, element);
  if (size > kMaxUnpackedBytes.value) {
    return Fail(ErrorCode::kData, AtByte(source.path, 4),
                "dimensions " + FormatShape(source.header.dimensions) + " of type " +
                    std::string(Name(source.header.type)) + " need a copy of " +
                    std::to_string(size) + " bytes, above the limit of " +
                    FormatByteCount(kMaxUnpackedBytes),
                "split the file, or store unsigned bytes, which need no copy");
  }
  const std::string name = CacheName(source, element);
  const std::string copy = (fs::path(cache_folder) / name).string();
  std::optional<InputFile> good;
  const Status made = MakeInCache(
      {.folder = cache_folder, .name = name},
      [&] {
        good = OpenIfGood(copy, header, size);
        return good.has_value();
      },
      [&](int file, const std::string& temporary) {
        return CopyInto(source, element, file, temporary);
      });
  if (!made) return tl::unexpected<Error>(made.error());
  return std::move(*good);
}

Status MakeInCache(const CachePlace& place, const std::function<bool()>& open_good,
                   const std::function<Status(int, const std::string&)>& fill) {
  if (open_good()) return {};
  if (Status folder = MakeFolder(place.folder); !folder) return folder;
  const Descriptor lock = WaitForLock((fs::path(place.folder) / "lock").string());
  if (lock.get() >= 0) {
    // Someone else may have made it meanwhile. Taking that one, not a second one, is what shares
    // its pages.
    if (open_good()) return {};
    RemoveLeftovers(place.folder);
  }
  const std::string path = (fs::path(place.folder) / place.name).string();
  const std::string temporary = path + ".tmp." + std::to_string(getpid());
  Status made = FillFile(temporary, fill);
  if (made && rename(temporary.c_str(), path.c_str()) != 0) {
    made = CacheError(path, "can't be renamed to its place", errno);
  }
  if (!made) {
    unlink(temporary.c_str());
    return made;
  }
  if (open_good()) return {};
  return Fail(ErrorCode::kIo, path, "does not hold what was just written",
              "check the disk, or choose another cache folder");
}

}  // namespace covey::data
