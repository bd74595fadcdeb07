// A file system that fails where a test wants it to.
#pragma once

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "covey/store/file_system.h"

namespace covey::test {

class FaultyFiles : public store::FileSystem {
 public:
  enum class At { kNothing, kCreate, kWrite, kRead, kSync, kRename, kSyncFolder };

  At fail_at = At::kNothing;
  int cause = EIO;
  std::size_t write_at_most = SIZE_MAX;  // bytes for each call of Write
  std::size_t room = SIZE_MAX;           // bytes until the disk is full
  std::uint64_t free = UINT64_MAX;
  bool flip_when_reading = false;
  bool interrupt_once = false;
  std::vector<std::string> calls;

  int Create(const char* path, unsigned mode) override {
    return Fails(At::kCreate, "create") ? -1 : FileSystem::Create(path, mode);
  }
  std::ptrdiff_t Write(int file, const std::byte* bytes, std::size_t size) override {
    if (Fails(At::kWrite, "write")) return -1;
    if (interrupt_once) {
      interrupt_once = false;
      errno = EINTR;
      return -1;
    }
    if (room == 0) {
      errno = ENOSPC;
      return -1;
    }
    size = std::min({size, write_at_most, room});
    if (room != SIZE_MAX) room -= size;
    return FileSystem::Write(file, bytes, size);
  }
  std::ptrdiff_t Read(int file, std::byte* bytes, std::size_t size) override {
    if (Fails(At::kRead, "read")) return -1;
    const std::ptrdiff_t got = FileSystem::Read(file, bytes, size);
    if (flip_when_reading && got > 0) bytes[got - 1] ^= std::byte{1};
    return got;
  }
  int Sync(int file) override { return Fails(At::kSync, "sync") ? -1 : FileSystem::Sync(file); }
  int Rename(const char* from, const char* to) override {
    return Fails(At::kRename, "rename") ? -1 : FileSystem::Rename(from, to);
  }
  int SyncFolder(int folder) override {
    return Fails(At::kSyncFolder, "sync folder") ? -1 : FileSystem::SyncFolder(folder);
  }
  std::uint64_t Free(const char* folder) override {
    return std::min(free, FileSystem::Free(folder));
  }

 private:
  bool Fails(At at, const char* name) {
    if (calls.empty() || calls.back() != name) calls.emplace_back(name);
    if (fail_at != at) return false;
    errno = cause;
    return true;
  }
};

inline std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace covey::test
