// Files that are read: opened with checks, mapped read-only.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/result.h"

namespace covey::data {

// A file descriptor that is closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

struct InputFile {
  Descriptor descriptor;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // time of last change of the content
};

// The error of a system call that has just failed: kNoInput, kNoPermission or kIo by errno.
tl::unexpected<Error> SystemError(const std::string& where, const std::string& doing);

// Opens a regular file that is not empty. A FIFO never blocks the call.
// Errors: kNoInput, kNoPermission, kIo; kData when it is a folder, FIFO, socket or device, or
//   empty.
Result<InputFile> OpenInput(const std::string& path);

// Reads at `offset` until the buffer is full or the file ends.
// Returns: how many bytes.
Result<std::size_t> ReadAt(const InputFile& file, std::uint64_t offset, MutableByteView buffer,
                           const std::string& path);

// A whole file in memory, its pages shared with everyone who maps it.
class Mapping {
 public:
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  ByteView view() const { return view_; }

  static Result<std::shared_ptr<const Mapping>> Open(const InputFile& file,
                                                     const std::string& path);

 private:
  explicit Mapping(ByteView view) : view_(view) {}
  ByteView view_;
};

}  // namespace covey::data
