// A folder for a test's files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "covey/base/check.h"

namespace covey::test {

// Is removed with the object, whatever it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "covey-test-").string();
    name.append(6, 'X');  // what mkdtemp replaces
    COVEY_CHECK(::mkdtemp(name.data()) != nullptr, name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace covey::test
