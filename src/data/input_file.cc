#include "data/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace covey::data {
namespace {

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

tl::unexpected<Error> SystemError(const std::string& where, const std::string& doing) {
  const int cause = errno;
  const std::string what = doing + ": " + std::strerror(cause);
  switch (cause) {
    case ENOENT:
    case ENOTDIR:
      return Fail(ErrorCode::kNoInput, where, what, "check the path");
    case EACCES:
    case EPERM:
      return Fail(ErrorCode::kNoPermission, where, what,
                  "check owner and mode of the file and of the folders above it");
    default:
      return Fail(ErrorCode::kIo, where, what);
  }
}

Result<InputFile> OpenInput(const std::string& path) {
  // O_NONBLOCK: opening a FIFO without a writer would wait for ever.
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (descriptor.get() < 0) return SystemError(path, "can't be opened");
  struct stat status {};
  if (fstat(descriptor.get(), &status) != 0) return SystemError(path, "can't be examined");
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kData, path,
                std::string("is ") + KindOf(status.st_mode) + ", wanted a regular file",
                "give the path of a file of data");
  }
  if (status.st_size == 0) {
    return Fail(ErrorCode::kData, path, "is empty: got 0 bytes, wanted data",
                "copy or download the file again");
  }
  InputFile file;
  file.descriptor = std::move(descriptor);
  file.size = static_cast<std::uint64_t>(status.st_size);
  file.changed_ns = status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
  return file;
}

Result<std::size_t> ReadAt(const InputFile& file, std::uint64_t offset, MutableByteView buffer,
                           const std::string& path) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got = pread(file.descriptor.get(), buffer.data() + done, buffer.size() - done,
                              static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return SystemError(path, "can't be read");
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Mapping::~Mapping() { munmap(const_cast<std::byte*>(view_.data()), view_.size()); }

Result<std::shared_ptr<const Mapping>> Mapping::Open(const InputFile& file,
                                                     const std::string& path) {
  void* address = mmap(nullptr, file.size, PROT_READ, MAP_SHARED, file.descriptor.get(), 0);
  if (address == MAP_FAILED) return SystemError(path, "can't be mapped");
  return std::shared_ptr<const Mapping>(
      new Mapping(ByteView(static_cast<const std::byte*>(address), file.size)));
}

}  // namespace covey::data
