// A folder for the API sockets of a run: their paths must be short, and the run's own folder may be
// anywhere.
//
// It goes with its object. A program that is killed can't tidy up, so each new folder is made after
// a look for those of dead owners: an owner holds a lock on `owner.lock` inside, and only a folder
// whose lock can be had is removed.
#pragma once

#include <string>
#include <utility>

#include "covey/base/result.h"

namespace covey::harness {

class SocketFolder {
 public:
  static constexpr const char* kLock = "owner.lock";

  // Makes `base`/covey-XXXXXX, mode 0700, and removes those of this user whose owners are dead.
  // Folders without a lock file stay, because nobody can tell whose they are.
  // Errors: kCantCreate.
  static Result<SocketFolder> Make(const std::string& base = "/tmp");

  SocketFolder(SocketFolder&& other) noexcept;
  SocketFolder& operator=(SocketFolder&&) = delete;
  ~SocketFolder();

  const std::string& path() const { return path_; }

 private:
  SocketFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;
};

}  // namespace covey::harness
