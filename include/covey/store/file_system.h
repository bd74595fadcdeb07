// The system calls that can fail while a file is written, as a seam, and the one way in which Covey
// replaces a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/result.h"

namespace covey::store {

// Each method is one system call: the same meaning, -1 and errno on failure. Tests override what
// shall fail.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual int Create(const char* path, unsigned mode);  // O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
  virtual std::ptrdiff_t Write(int file, const std::byte* bytes, std::size_t size);
  virtual std::ptrdiff_t Read(int file, std::byte* bytes, std::size_t size);
  virtual int Sync(int file);  // fdatasync
  virtual int Rename(const char* from, const char* to);
  virtual int SyncFolder(int folder);  // fsync
  // Bytes that this process may still write there, or UINT64_MAX when the system can't tell.
  virtual std::uint64_t Free(const char* folder);
};

FileSystem& RealFileSystem();

struct WriteOptions {
  unsigned mode = 0600;
  bool read_back = false;  // compare the file with `bytes` before it gets its name
};

// Replaces `path` by `bytes` such that at any moment, also across a power cut, the old or the new
// content is there.
//
// Temporary file in the same folder, all bytes, fdatasync, read back, rename, fsync of the folder.
// Requires: 2 * bytes.size() free on the disk (checked).
// Errors: kIo, kCantCreate, kNoPermission; the temporary file is gone then, and `path` unchanged
// unless the last fsync failed.
Status WriteAtomically(const std::string& path, ByteView bytes, const WriteOptions& options = {},
                       FileSystem& files = RealFileSystem());

// Makes a folder and what is missing above it, mode 0700. An existing one is fine.
// Errors: kCantCreate, kNoPermission.
Status MakeFolder(const std::string& path);

// Reads a regular file of at most `limit` bytes.
// Errors: kNoInput, kNoPermission, kIo; kData when it is not a regular file or longer than `limit`.
Result<AlignedBuffer> ReadFile(const std::string& path, ByteCount limit);

// An exclusive claim on a state folder, for as long as the object lives (also freed when the
// process dies).
class StateLock {
 public:
  // Makes the folder when missing and locks <folder>/lock.
  // Errors: kTemporary when another process holds it (its pid is named); kCantCreate,
  // kNoPermission.
  static Result<StateLock> Take(const std::string& folder);

  StateLock(StateLock&& other) noexcept;
  StateLock& operator=(StateLock&& other) noexcept;
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;
  ~StateLock();

 private:
  explicit StateLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace covey::store
